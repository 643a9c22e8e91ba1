//! Modulus in row form: the constants by which kernels multiply, add and reduce, and the factors of conversions.

use alloc::sync::Arc;
use alloc::vec::Vec;

use num_bigint::BigUint;
use residue_modular::{Limb, Modulus};

use crate::bounds::{BIAS_COUNT, Bias, UNIT};
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::line::{LINE_LIMBS, Line, ROW_LIMBS, ZERO_LINE, pack, unpack};
use crate::locks::{Mutex, lock};
use crate::shape::{Shape, ShapeError, TOP_LIMB_BITS_MIN};

/// An odd modulus m, with its working modulus M, for rows of its [`Shape`].
#[derive(Clone, Debug)]
pub struct ModulusRows {
    shape: Shape,
    modulus: Modulus,
    pub(crate) constants: Constants,
    /// For the product by which a value enters: nothing is lifted.
    pub(crate) entry_constants: ProductConstants,
    /// For the product by which a value leaves: modulo m itself.
    pub(crate) exit_constants: ProductConstants,
    /// R²/(1 or 2⁶⁴ⁿ) mod m, by [`Form`].
    entry: [[i64; ROW_LIMBS]; 2],
    /// d = 52L − 64n, if dividing by 2ᵈ brings the values of a plan's ends below 2m: how they leave in Montgomery form.
    pub(crate) exit_shift: Option<u32>,
    /// 1 or 2⁶⁴ⁿ mod m, by [`Form`].
    exit: [[i64; ROW_LIMBS]; 2],
}

/// Moduli kept by [`ModulusRows::shared`], 10 kB each at most.
const KEPT_MAX: usize = 16;
/// The latest used first.
static KEPT: Mutex<Vec<Arc<ModulusRows>>> = Mutex::new(Vec::new());

/// Constants read by kernels: words W and lines N, which are symbols in proofs.
#[derive(Clone, Debug)]
pub(crate) struct Constants<W = u64, N = Line> {
    pub product: ProductConstants<W>,
    /// Shift s and factor µ of [`crate::bounds::Bounds::reduced`].
    pub top_shift: u32,
    pub mu: W,
    /// M as lines; one limb up; negated.
    pub m_lines: [N; 2],
    pub shifted_lines: [N; 2],
    pub negated_lines: [N; 2],
    /// Lines of the multiple of M that a bias stands for, from `bias·lines` on.
    pub multiples: Vec<N>,
}

/// Constants of a product modulo any odd m.
#[derive(Clone, Debug)]
pub(crate) struct ProductConstants<W = u64> {
    /// Limbs of m.
    pub m: [W; ROW_LIMBS],
    /// −m⁻¹ mod 2⁵².
    pub n0: W,
    /// Limbs of the multiple of m that is added to both operands.
    pub lift: [W; ROW_LIMBS],
}

/// A form in which values enter and leave rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// In [0, m).
    Canonical = 0,
    /// Times 2⁶⁴ⁿ.
    Mont = 1,
}

impl ModulusRows {
    /// The modulus in row form.
    pub fn new(modulus: &Modulus) -> Result<Self, ShapeError> {
        let shape = Shape::of(modulus)?;
        let m = BigUint::from_bytes_be(&modulus.to_be_bytes());
        let lacking_bits = shape.modulus_bits() - modulus.bits();
        let working = match lacking_bits {
            0 => m.clone(),
            bits => &m * ((BigUint::from(1u8) << bits) - 1u8),
        };
        let radix = BigUint::from(1u8) << (shape.limbs() * ROW_LIMB_BITS);
        let mont_radix = BigUint::from(1u8) << (64 * modulus.width_limbs());
        let mont_radix_inverse = mont_radix.modinv(&m).expect("m is odd, so powers of two are invertible");
        let row = |value: BigUint| limbs_of(&(value % &m));
        let constants = Constants::new(&working, shape);
        let exit_constants = ProductConstants { lift: constants.product.lift, ..ProductConstants::new(&m) };
        let entry_constants = ProductConstants { lift: [0; ROW_LIMBS], ..constants.product.clone() };
        Ok(Self {
            shape,
            modulus: modulus.clone(),
            entry: [row(&radix * &radix), row(&radix * &radix * mont_radix_inverse)],
            exit: [row(BigUint::from(1u8)), row(mont_radix)],
            exit_shift: exit_shift(shape, modulus),
            constants,
            entry_constants,
            exit_constants,
        })
    }

    /// As [`ModulusRows::new`], made once for the moduli used last.
    pub fn shared(modulus: &Modulus) -> Result<Arc<Self>, ShapeError> {
        let take = |kept: &mut Vec<Arc<Self>>| {
            let at = kept.iter().position(|rows| rows.modulus == *modulus)?;
            Some(kept.remove(at))
        };
        let put = |kept: &mut Vec<Arc<Self>>, rows: Arc<Self>| {
            kept.truncate(KEPT_MAX - 1);
            kept.insert(0, Arc::clone(&rows));
            rows
        };
        {
            let mut kept = lock(&KEPT);
            if let Some(rows) = take(&mut kept) {
                return Ok(put(&mut kept, rows));
            }
        }
        // No lock is held here. Of two threads that make the same rows, the later one takes those of the first.
        let made = Arc::new(Self::new(modulus)?);
        let mut kept = lock(&KEPT);
        let rows = take(&mut kept).unwrap_or(made);
        Ok(put(&mut kept, rows))
    }

    /// The layout of its rows.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The modulus m.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Limbs of 64 bits of a value outside, n: R = 2⁶⁴ⁿ there.
    #[inline]
    pub fn width_limbs(&self) -> usize {
        self.modulus.width_limbs()
    }

    /// The factor whose product with a value in `form` is the value's row.
    pub(crate) fn entry_factor(&self, form: Form) -> &[i64; ROW_LIMBS] {
        &self.entry[form as usize]
    }

    /// The factor whose product with a row is its value in `form`.
    pub(crate) fn exit_factor(&self, form: Form) -> &[i64; ROW_LIMBS] {
        &self.exit[form as usize]
    }

    /// v ↦ v mod m for the row of a product with [`ModulusRows::exit_factor`] and [`ModulusRows::exit_constants`].
    ///
    /// Its operands are x + k·M < 2ʰ·M and f < m, which is not lifted: v < m + 2ʰ·M·m/R < 2m.
    pub(crate) fn canonicalise(&self, row: &[i64; ROW_LIMBS], out: &mut [Limb]) {
        let limbs = self.shape.limbs();
        let (mut v, mut difference) = (*row, *row);
        carry_up(&mut v[..limbs]);
        for (difference, m) in difference.iter_mut().zip(&self.exit_constants.m) {
            *difference -= *m as i64; // Limbs of m are below 2⁵².
        }
        // The sign of a value is that of its top limb, once the others are carried.
        let is_below = carry_up(&mut difference[..limbs]) < 0;
        pack(if is_below { &v[..limbs] } else { &difference[..limbs] }, out);
    }
}

impl ProductConstants {
    /// Without a lift.
    fn new(m: &BigUint) -> Self {
        let m = limbs_of(m).map(|limb| limb as u64); // Limbs are not negative.
        Self { n0: residue_modular::limbs::n0_of(m[0]) & LIMB_MASK, m, lift: [0; ROW_LIMBS] }
    }
}

impl Constants {
    fn new(working: &BigUint, shape: Shape) -> Self {
        let m = limbs_of(working);
        let mut shifted = [0; ROW_LIMBS];
        // The limb above the top one is always zero: q·M < R.
        shifted[1..shape.limbs()].copy_from_slice(&m[..shape.limbs() - 1]);
        let top_bit = (shape.limbs() - 1) * ROW_LIMB_BITS;
        let top_shift = shape.modulus_bits() - top_bit - TOP_LIMB_BITS_MIN;
        let mu = (BigUint::from(1u8) << (ROW_LIMB_BITS + top_shift + top_bit)) / working;
        let mut multiples = Vec::with_capacity(BIAS_COUNT * shape.lines());
        for bias in 0..BIAS_COUNT {
            let multiple = Bias(bias as u8).multiple(); // 37 of them.
            multiples.extend_from_slice(&lines_of(&multiple_of(working, multiple, shape))[..shape.lines()]);
        }
        let lift = multiple_of(working, shape.lift(), shape).map(|limb| limb as u64); // Not negative.
        Self {
            product: ProductConstants { lift, ..ProductConstants::new(working) },
            top_shift: top_shift as u32, // At most 52.
            mu: u64::try_from(mu).expect("M has at least ten bits in its top limb"),
            m_lines: lines_of(&m),
            shifted_lines: lines_of(&shifted),
            negated_lines: lines_of(&m.map(|limb| -limb)),
            multiples,
        }
    }

    /// The limbs of k·M, carried.
    pub fn multiple(&self, bias: Bias) -> [i64; ROW_LIMBS] {
        let lines = self.multiples.len() / BIAS_COUNT;
        let mut limbs = [0; ROW_LIMBS];
        let multiple = &self.multiples[usize::from(bias.0) * lines..][..lines];
        for (limbs, line) in limbs.as_chunks_mut::<LINE_LIMBS>().0.iter_mut().zip(multiple) {
            *limbs = line.0;
        }
        limbs
    }
}

/// d = 52L − 64n where (x + u·m)/2ᵈ < 2m for every lifted value x of a plan's end and u < 2ᵈ, 1 ≤ d ≤ 52: x ≤ c·M, so that c·M ≤ 2ᵈ·m is
/// enough.
fn exit_shift(shape: Shape, modulus: &Modulus) -> Option<u32> {
    let shift = (shape.limbs() * ROW_LIMB_BITS).checked_sub(64 * modulus.width_limbs())?;
    let most = shape.lift() + shape.end_bounds().high / UNIT;
    // M is m or (2ᵏ − 1)·m with k = bits of M − bits of m.
    let needed = (most as u64).next_power_of_two().trailing_zeros() as usize + shape.modulus_bits() - modulus.bits();
    // At most 52.
    (needed <= shift && (1..=ROW_LIMB_BITS).contains(&shift)).then_some(shift as u32)
}

/// k·M with carried limbs; the top limb keeps the bits above, modulo 2⁶⁴: no plan of the shape uses multiples so far
/// beyond R.
fn multiple_of(working: &BigUint, multiple: i64, shape: Shape) -> [i64; ROW_LIMBS] {
    let multiple = working * (multiple as u64); // Not negative.
    let top = shape.limbs() - 1;
    let mut limbs = limbs_of(&multiple);
    let high = &multiple >> (top * ROW_LIMB_BITS);
    limbs[top..].fill(0);
    limbs[top] = high.to_u64_digits().first().copied().unwrap_or(0) as i64; // Below 2⁶² up to R.
    limbs
}

/// Carries every limb but the top one into the next; returns the top one.
fn carry_up(limbs: &mut [i64]) -> i64 {
    let mut carry = 0;
    let (top, lower) = limbs.split_last_mut().expect("rows have limbs");
    for limb in lower {
        let sum = *limb + carry;
        carry = sum >> ROW_LIMB_BITS;
        *limb = sum & LIMB_MASK as i64;
    }
    *top += carry;
    *top
}

fn limbs_of(value: &BigUint) -> [i64; ROW_LIMBS] {
    unpack(&value.to_u64_digits())
}

fn lines_of(limbs: &[i64; ROW_LIMBS]) -> [Line; 2] {
    let mut lines = [ZERO_LINE; 2];
    for (line, limbs) in lines.iter_mut().zip(limbs.as_chunks::<LINE_LIMBS>().0) {
        line.0 = *limbs;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(m: &BigUint, width_limbs: usize) -> Option<ModulusRows> {
        ModulusRows::new(&Modulus::with_width(&m.to_bytes_be(), width_limbs).ok()?).ok()
    }

    #[test]
    fn the_moduli_used_last_are_kept() {
        let modulus = |at: u8| Modulus::from_be_bytes(&[at, 1]).unwrap();
        let shared = |at: u8| ModulusRows::shared(&modulus(at)).unwrap();
        let kept: Vec<_> = (1..=16).map(shared).collect();
        for (at, rows) in (1..).zip(&kept) {
            assert_eq!(*rows.modulus(), modulus(at));
            assert!(Arc::ptr_eq(rows, &shared(at)), "sixteen are kept");
        }
        // The first is used again, so that the second is the one to go.
        let [first, ..] = &kept[..] else { unreachable!() };
        assert!(Arc::ptr_eq(first, &shared(1)));
        shared(17);
        for at in [1].into_iter().chain(3..=16) {
            assert!(Arc::ptr_eq(&kept[usize::from(at) - 1], &shared(at)), "{at}");
        }
        assert!(!Arc::ptr_eq(&kept[1], &shared(2)), "the one not used for longest is made again");
        // The same value in wider elements is another modulus.
        let wide = Modulus::with_width(&[1, 1], 2).unwrap();
        assert_eq!(ModulusRows::shared(&wide).unwrap().width_limbs(), 2);
        let even = Modulus::from_be_bytes(&[1, 0]).unwrap();
        assert_eq!(ModulusRows::shared(&even).unwrap_err(), ShapeError::PowerOfTwo { bits: 9 });
        assert!(Arc::ptr_eq(&kept[15], &shared(16)), "an error costs none of the others");
    }

    /// Values leave by a division by 2ᵈ exactly where it brings them below 2m, up to a factor below four.
    #[test]
    fn values_leave_by_a_shift_where_it_brings_them_below_twice_the_modulus() {
        let one = BigUint::from(1u8);
        let mut shifts = 0;
        for bits in 2..=776 {
            let highest = (&one << bits) - 1u8;
            let lowest = (&one << (bits - 1)) + 1u8;
            for (m, width_limbs) in
                [&lowest, &highest].into_iter().flat_map(|m| (1..=13).map(move |width_limbs| (m, width_limbs)))
            {
                let Some(rows) = rows_of(m, width_limbs) else { continue };
                let shape = rows.shape();
                let working =
                    rows.constants.product.m.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52u8) + limb);
                // In units of 2⁻¹⁶.
                let greatest = working * ((shape.lift() << 16) + shape.end_bounds().high).unsigned_abs();
                let spare = 52 * shape.limbs() as i64 - 64 * width_limbs as i64;
                match rows.exit_shift {
                    Some(shift) => {
                        assert_eq!(i64::from(shift), spare);
                        assert!((1..=52).contains(&shift));
                        // x + u·m with u < 2ᵈ.
                        let sum = greatest + ((m * ((1u64 << shift) - 1)) << 16u8);
                        assert!(sum < m << (shift + 1 + 16), "{bits} bits in {width_limbs} limbs");
                        shifts += 1;
                    }
                    None if (1..=52).contains(&spare) => {
                        assert!(greatest * 4u8 > m << (spare + 16), "{bits} bits in {width_limbs} limbs");
                    }
                    None => {}
                }
            }
        }
        assert!(shifts > 60, "{shifts}");
    }

    #[test]
    fn values_below_twice_the_modulus_are_brought_below_it() {
        for bits in [13u32, 254, 308, 381, 412, 768, 776] {
            let m = (BigUint::from(1u8) << bits) - 3u8;
            let width_limbs = bits.div_ceil(64) as usize;
            let rows = rows_of(&m, width_limbs).unwrap();
            let limbs = rows.shape().limbs();
            for value in [BigUint::ZERO, &m - 1u8, m.clone(), &m + 1u8, &m + (&m >> 1), &m + &m - 1u8] {
                let mut row = limbs_of(&value);
                let mut out = vec![0; width_limbs];
                rows.canonicalise(&row, &mut out);
                let out_value = |out: &[Limb]| out.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64u8) + limb);
                assert_eq!(out_value(&out), &value % &m, "{bits} bits");
                // The same with limbs that are not carried.
                for i in 0..limbs - 1 {
                    let moved = if i % 2 == 0 { -5 } else { 3 };
                    row[i] += moved << ROW_LIMB_BITS;
                    row[i + 1] -= moved;
                }
                rows.canonicalise(&row, &mut out);
                assert_eq!(out_value(&out), &value % &m, "{bits} bits, redundant");
            }
        }
    }
}
