//! blst's groups, maps and extension fields on parsed values, as a library calls them.

use std::ptr;

use blst::{
    blst_fp, blst_fp2, blst_fp12, blst_p1, blst_p1_affine, blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof, blst_p2, blst_p2_affine, blst_p2s_mult_pippenger,
    blst_p2s_mult_pippenger_scratch_sizeof,
};

use super::field::NativeField;

/// Bytes of a scalar, and its bits.
const SCALAR_BYTES: usize = 32;
const SCALAR_BITS: usize = 256;
/// Bytes of an encoded element, and the zeros in front of it: EIP-2537, "Fine points and encoding of base elements".
const FP_BYTES: usize = 64;
const PADDING_BYTES: usize = 16;

/// An element from its EIP-2537 encoding; the padding is not looked at.
pub fn fp(bytes: &[u8]) -> blst_fp {
    blst_fp::from_be(&bytes[PADDING_BYTES..FP_BYTES])
}

/// An element of Fp2 from its encoding, c0 first.
pub fn fp2(bytes: &[u8]) -> blst_fp2 {
    blst_fp2 { fp: [fp(&bytes[..FP_BYTES]), fp(&bytes[FP_BYTES..])] }
}

/// The EIP-2537 encoding of elements.
pub fn encode(elements: &[blst_fp]) -> Vec<u8> {
    elements.iter().flat_map(|&element| [vec![0; PADDING_BYTES], element.to_be()].concat()).collect()
}

/// A group of blst's.
pub trait NativeGroup: Sized + Clone {
    /// Bytes of an encoded point.
    const POINT_BYTES: usize;
    /// A point from its encoding. Whether it is on its curve is not looked at.
    fn parse(bytes: &[u8]) -> Self;
    /// The encoding of the sum of two points.
    fn sum(&self, other: &Self) -> Vec<u8>;
    /// The encoding of the multiple of a point. The scalar is 32 little-endian bytes.
    fn multiple(&self, scalar: &[u8; SCALAR_BYTES]) -> Vec<u8>;
    /// The encoding of the sum of multiples; as many scalars as points, and at least one.
    fn sum_of_multiples(points: &[Self], scalars: &[[u8; SCALAR_BYTES]]) -> Vec<u8>;
}

/// Implements a group by blst's routines for it.
macro_rules! group {
    ($affine:ident, $point:ident, $bytes:literal, $parse:expr, $coordinates:expr, $from:ident, $to:ident, $add:ident,
     $mult:ident, $sum:ident, $scratch:ident) => {
        impl NativeGroup for $affine {
            const POINT_BYTES: usize = $bytes;

            fn parse(bytes: &[u8]) -> Self {
                $parse(bytes)
            }

            fn sum(&self, other: &Self) -> Vec<u8> {
                let [mut point, mut sum] = [$point::default(); 2];
                // SAFETY: the routine reads one point and writes one.
                unsafe { blst::$from(&mut point, self) };
                // SAFETY: the routine reads two points and writes one.
                unsafe { blst::$add(&mut sum, &point, other) };
                let mut affine = $affine::default();
                // SAFETY: the routine reads one point and writes one.
                unsafe { blst::$to(&mut affine, &sum) };
                encode(&$coordinates(&affine))
            }

            fn multiple(&self, scalar: &[u8; SCALAR_BYTES]) -> Vec<u8> {
                let [mut point, mut product] = [$point::default(); 2];
                // SAFETY: the routine reads one point and writes one.
                unsafe { blst::$from(&mut point, self) };
                // SAFETY: the routine reads one point and the 256 bits of the scalar, and writes one point.
                unsafe { blst::$mult(&mut product, &point, scalar.as_ptr(), SCALAR_BITS) };
                let mut affine = $affine::default();
                // SAFETY: the routine reads one point and writes one.
                unsafe { blst::$to(&mut affine, &product) };
                encode(&$coordinates(&affine))
            }

            fn sum_of_multiples(points: &[Self], scalars: &[[u8; SCALAR_BYTES]]) -> Vec<u8> {
                assert!(!points.is_empty() && points.len() == scalars.len(), "a scalar for each point");
                // SAFETY: the routine only computes a size.
                let scratch_bytes = unsafe { $scratch(points.len()) };
                let mut scratch = vec![0u64; scratch_bytes.div_ceil(8)];
                let mut sum = $point::default();
                // A null pointer after the first tells the routine that points and scalars are contiguous.
                let (p, s) = ([points.as_ptr(), ptr::null()], [scalars.as_ptr().cast::<u8>(), ptr::null()]);
                // SAFETY: there are `points.len()` points and as many scalars of 256 bits, as was asserted, and the scratch
                // has the size that blst asks for.
                unsafe {
                    $sum(&mut sum, p.as_ptr(), points.len(), s.as_ptr(), SCALAR_BITS, scratch.as_mut_ptr());
                };
                let mut affine = $affine::default();
                // SAFETY: the routine reads one point and writes one.
                unsafe { blst::$to(&mut affine, &sum) };
                encode(&$coordinates(&affine))
            }
        }
    };
}

fn parse_g1(bytes: &[u8]) -> blst_p1_affine {
    blst_p1_affine { x: fp(&bytes[..64]), y: fp(&bytes[64..]) }
}

fn parse_g2(bytes: &[u8]) -> blst_p2_affine {
    blst_p2_affine { x: fp2(&bytes[..128]), y: fp2(&bytes[128..]) }
}

fn coordinates_g1(point: &blst_p1_affine) -> [blst_fp; 2] {
    [point.x, point.y]
}

fn coordinates_g2(point: &blst_p2_affine) -> [blst_fp; 4] {
    [point.x.fp[0], point.x.fp[1], point.y.fp[0], point.y.fp[1]]
}

group!(
    blst_p1_affine,
    blst_p1,
    128,
    parse_g1,
    coordinates_g1,
    blst_p1_from_affine,
    blst_p1_to_affine,
    blst_p1_add_or_double_affine,
    blst_p1_mult,
    blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof
);
group!(
    blst_p2_affine,
    blst_p2,
    256,
    parse_g2,
    coordinates_g2,
    blst_p2_from_affine,
    blst_p2_to_affine,
    blst_p2_add_or_double_affine,
    blst_p2_mult,
    blst_p2s_mult_pippenger,
    blst_p2s_mult_pippenger_scratch_sizeof
);

/// The encoding of the point that an element maps to, cofactor cleared. EIP-2537, "ABI for mapping Fp element to G1 point".
pub fn map_to_g1(element: &blst_fp) -> Vec<u8> {
    let (mut point, mut affine) = (blst_p1::default(), blst_p1_affine::default());
    // SAFETY: the routine reads one element and writes one point; no second element is allowed.
    unsafe { blst::blst_map_to_g1(&mut point, element, ptr::null()) };
    // SAFETY: the routine reads one point and writes one.
    unsafe { blst::blst_p1_to_affine(&mut affine, &point) };
    encode(&coordinates_g1(&affine))
}

/// The same for G2.
pub fn map_to_g2(element: &blst_fp2) -> Vec<u8> {
    let (mut point, mut affine) = (blst_p2::default(), blst_p2_affine::default());
    // SAFETY: the routine reads one element and writes one point; no second element is allowed.
    unsafe { blst::blst_map_to_g2(&mut point, element, ptr::null()) };
    // SAFETY: the routine reads one point and writes one.
    unsafe { blst::blst_p2_to_affine(&mut affine, &point) };
    encode(&coordinates_g2(&affine))
}

/// The encoding of the point that a message hashes to under a tag: RFC 9380, the suites with SHA-256 and SSWU_RO.
pub fn hash_to_g1(message: &[u8], tag: &[u8]) -> Vec<u8> {
    let (mut point, mut affine) = (blst_p1::default(), blst_p1_affine::default());
    let (m, t) = (message.as_ptr(), tag.as_ptr());
    // SAFETY: the routine reads message and tag in their lengths and writes one point; nothing is in front of the message.
    unsafe { blst::blst_hash_to_g1(&mut point, m, message.len(), t, tag.len(), ptr::null(), 0) };
    // SAFETY: the routine reads one point and writes one.
    unsafe { blst::blst_p1_to_affine(&mut affine, &point) };
    encode(&coordinates_g1(&affine))
}

/// The same for G2.
pub fn hash_to_g2(message: &[u8], tag: &[u8]) -> Vec<u8> {
    let (mut point, mut affine) = (blst_p2::default(), blst_p2_affine::default());
    let (m, t) = (message.as_ptr(), tag.as_ptr());
    // SAFETY: the routine reads message and tag in their lengths and writes one point; nothing is in front of the message.
    unsafe { blst::blst_hash_to_g2(&mut point, m, message.len(), t, tag.len(), ptr::null(), 0) };
    // SAFETY: the routine reads one point and writes one.
    unsafe { blst::blst_p2_to_affine(&mut affine, &point) };
    encode(&coordinates_g2(&affine))
}

/// a ↦ a⁻¹, 0 for 0.
pub fn inverse(a: blst_fp) -> blst_fp {
    let mut inverse = blst_fp::default();
    // SAFETY: the routine reads one element and writes one.
    unsafe { blst::blst_fp_eucl_inverse(&mut inverse, &a) };
    inverse
}

/// A square root of a square.
pub fn square_root(a: blst_fp) -> blst_fp {
    let mut root = blst_fp::default();
    // SAFETY: the routine reads one element and writes one; whether it is a root says what is returned.
    unsafe { blst::blst_fp_sqrt(&mut root, &a) };
    root
}

/// a·b in Fp2.
pub fn fp2_mul(a: &blst_fp2, b: &blst_fp2) -> blst_fp2 {
    let mut product = blst_fp2::default();
    // SAFETY: the routine reads two elements and writes one.
    unsafe { blst::blst_fp2_mul(&mut product, a, b) };
    product
}

/// a·b in Fp12.
pub fn fp12_mul(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
    let mut product = blst_fp12::default();
    // SAFETY: the routine reads two elements and writes one.
    unsafe { blst::blst_fp12_mul(&mut product, a, b) };
    product
}

/// The Miller loop of one pair.
pub fn miller_loop(p: &blst_p1_affine, q: &blst_p2_affine) -> blst_fp12 {
    let mut value = blst_fp12::default();
    // SAFETY: the routine reads two points and writes one element.
    unsafe { blst::blst_miller_loop(&mut value, q, p) };
    value
}

/// The final exponentiation, to 3·(p¹² − 1)/r.
pub fn final_exponentiation(f: &blst_fp12) -> blst_fp12 {
    let mut value = blst_fp12::default();
    // SAFETY: the routine reads one element and writes one.
    unsafe { blst::blst_final_exp(&mut value, f) };
    value
}

/// The element of Fp12 with these twelve elements, Fp2 within Fp6 within Fp12.
pub fn fp12(elements: &[blst_fp; 12]) -> blst_fp12 {
    let mut value = blst_fp12::default();
    for (place, &element) in elements.iter().enumerate() {
        value.fp6[place / 6].fp2[place / 2 % 3].fp[place % 2] = element;
    }
    value
}

/// Its elements again.
pub fn elements(value: &blst_fp12) -> Vec<blst_fp> {
    value.fp6.iter().flat_map(|fp6| fp6.fp2.iter().flat_map(|fp2| fp2.fp)).collect()
}

#[cfg(test)]
mod tests {
    use residue_contracts::find;
    use residue_engine::Fork;
    use residue_engine::native::precompile;
    use residue_isa::precompile::{BLS12_G1ADD, BLS12_G1MSM, BLS12_G2ADD, BLS12_G2MSM};

    use super::*;

    /// [a]P + [b]P and P + P by blst are what the precompiles say, for the points of the pairing contract's example.
    fn check<G: NativeGroup>(add: u16, address: u16, point: &[u8]) {
        let scalars = [[7u8; 32], [9u8; 32]];
        let input: Vec<u8> = scalars
            .iter()
            .flat_map(|scalar| [point, &scalar.iter().rev().copied().collect::<Vec<_>>()].concat())
            .collect();
        let expected = precompile(Fork::default(), address, &input, u64::MAX).unwrap().output;
        let parsed = G::parse(point);
        assert_eq!(G::sum_of_multiples(&[parsed.clone(), parsed.clone()], &scalars), expected);
        let twice = precompile(Fork::default(), add, &[point, point].concat(), u64::MAX).unwrap().output;
        assert_eq!(parsed.sum(&parsed), twice);
        let one = &input[..G::POINT_BYTES + 32];
        assert_eq!(parsed.multiple(&scalars[0]), precompile(Fork::default(), address, one, u64::MAX).unwrap().output);
    }

    #[test]
    fn sums_and_multiples_are_those_of_the_precompiles() {
        let input = (find("bls12_381/pairing").unwrap().example)();
        check::<blst_p1_affine>(BLS12_G1ADD, BLS12_G1MSM, &input[..128]);
        check::<blst_p2_affine>(BLS12_G2ADD, BLS12_G2MSM, &input[128..384]);
    }
}
