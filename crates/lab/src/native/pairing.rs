//! blst's pairing check on points that are parsed already: the time of a native caller, without any encoding.

use std::ptr;

use blst::{blst_fp, blst_fp2, blst_fp12, blst_p1_affine, blst_p2_affine};

use super::field::NativeField;

/// Pairs of points on their curves, without the identity.
#[derive(Debug, Clone)]
pub struct Pairs {
    p: Vec<blst_p1_affine>,
    q: Vec<blst_p2_affine>,
}

/// Bytes of an encoded element of Fp and of an encoded pair: EIP-2537, "ABI for pairing check".
const FP_BYTES: usize = 64;
const PAIR_BYTES: usize = 6 * FP_BYTES;
/// Zero bytes in front of an encoded element.
const PADDING_BYTES: usize = 16;

impl Pairs {
    /// Parses the input of the pairing check of EIP-2537. `None` if it is empty or malformed, or if a point is the
    /// identity or not on its curve; values not below the modulus are taken modulo it, as blst does.
    pub fn parse(input: &[u8]) -> Option<Self> {
        let (pairs, rest) = input.as_chunks::<PAIR_BYTES>();
        if pairs.is_empty() || !rest.is_empty() {
            return None;
        }
        let (mut p, mut q) = (Vec::new(), Vec::new());
        for pair in pairs {
            let elements: Vec<blst_fp> = pair.chunks_exact(FP_BYTES).map(element).collect::<Option<_>>()?;
            let &[p_x, p_y, q_x0, q_x1, q_y0, q_y1] = elements.as_slice() else { return None };
            p.push(blst_p1_affine { x: p_x, y: p_y });
            q.push(blst_p2_affine { x: blst_fp2 { fp: [q_x0, q_x1] }, y: blst_fp2 { fp: [q_y0, q_y1] } });
        }
        let pairs = Self { p, q };
        pairs.are_on_curves().then_some(pairs)
    }

    /// True if all points have the order of the subgroups.
    pub fn are_in_subgroups(&self) -> bool {
        // SAFETY: the routine reads one point.
        let p = self.p.iter().all(|p| unsafe { blst::blst_p1_affine_in_g1(p) });
        // SAFETY: the routine reads one point.
        p && self.q.iter().all(|q| unsafe { blst::blst_p2_affine_in_g2(q) })
    }

    /// True if the product of all pairings is one: one Miller loop over all pairs, one final exponentiation.
    pub fn product_is_one(&self) -> bool {
        let [mut f, mut product] = [blst_fp12::default(); 2];
        // A null pointer after the first tells the routine that the points are contiguous.
        let (p, q) = ([self.p.as_ptr(), ptr::null()], [self.q.as_ptr(), ptr::null()]);
        // SAFETY: both vectors hold `p.len()` points, as `parse` fills them together; there is at least one pair.
        unsafe { blst::blst_miller_loop_n(&mut f, q.as_ptr(), p.as_ptr(), self.p.len()) };
        // SAFETY: the routine reads one element and writes one.
        unsafe { blst::blst_final_exp(&mut product, &f) };
        // SAFETY: the routine reads one element.
        unsafe { blst::blst_fp12_is_one(&product) }
    }

    /// On the curves and not the identity.
    fn are_on_curves(&self) -> bool {
        let p = self.p.iter().all(|p| {
            // SAFETY: the routine reads one point.
            let identity = unsafe { blst::blst_p1_affine_is_inf(p) };
            // SAFETY: the routine reads one point.
            !identity && unsafe { blst::blst_p1_affine_on_curve(p) }
        });
        p && self.q.iter().all(|q| {
            // SAFETY: the routine reads one point.
            let identity = unsafe { blst::blst_p2_affine_is_inf(q) };
            // SAFETY: the routine reads one point.
            !identity && unsafe { blst::blst_p2_affine_on_curve(q) }
        })
    }
}

/// An encoded element; `None` unless its padding is zero.
fn element(bytes: &[u8]) -> Option<blst_fp> {
    let (padding, value) = bytes.split_at(PADDING_BYTES);
    padding.iter().all(|&byte| byte == 0).then(|| blst_fp::from_be(value))
}
