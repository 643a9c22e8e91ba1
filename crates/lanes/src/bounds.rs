//! Bounds of a value, known without its value: magnitude of its limbs, range in units of the modulus.
//!
//! Every rule is a theorem about one step, stated beside it; the planner applies them once, [`crate::check()`] applies
//! them again to the finished plan and then to real values. Throughout, a row has limbs aᵢ of 52 bits, v = Σ
//! aᵢ·2^(52i), W = 2^(52(L−1)), and M is the working modulus of [`Shape`].

use core::ops::{Add, Sub};

use crate::line::ROW_LIMB_BITS;
use crate::shape::Shape;

/// One M, in which ranges are counted: ranges are fixed-point numbers with 16 bits after the point, rounded outwards.
pub const UNIT: i64 = 1 << UNIT_BITS;
const UNIT_BITS: u32 = 16;

/// Largest limb that a step may produce. Adding a multiple of M and carries, less than 2⁵³, leaves it inside an `i64`.
pub(crate) const LIMB_MAX: u64 = 1 << 62;
/// A multiple of M with carried limbs adds less than this to a limb.
const CARRIED_LIMB: u64 = 1 << ROW_LIMB_BITS;

/// Ends of a plan hold limbs of at most this magnitude.
const END_LIMB_MAX: u64 = 1 << 58;
/// Ends of a plan hold values of at most this many M, less where headroom is scarce.
const END_RANGE_MAX: i64 = 16;

/// Bounds of a value: |aᵢ| ≤ `limb` for every limb but the top one, `low`·M ≤ 2¹⁶·v ≤ `high`·M.
///
/// The top limb follows: it is v/W up to the lower limbs' share, so |a| ≤ |v|/W + `limb`/2⁵¹ + 1, and since |v| < R = 2⁵²·W it
/// is below 2⁵³ for every value that a plan holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Largest magnitude of the limbs below the top one.
    pub limb: u64,
    /// Least value, in M/2¹⁶.
    pub low: i64,
    /// Greatest value, in M/2¹⁶.
    pub high: i64,
}

impl Bounds {
    /// x + k·M, with the limbs of k·M carried.
    pub fn biased(self, multiple: i64) -> Self {
        if multiple == 0 {
            return self;
        }
        Self { limb: self.limb + CARRIED_LIMB, low: self.low + multiple * UNIT, high: self.high + multiple * UNIT }
    }

    /// x with every limb's bits above 52 added to the next limb, once and all at a time: limbs lie in [−2¹¹, 2⁵² + 2¹¹). The value stays.
    pub fn carried(self) -> Self {
        Self { limb: CARRIED_LIMB + (1 << 11), ..self }
    }

    /// The outcome of a reduction, x + k·M − (q − 1)·M with q estimated from the top limb t, k such that x + k·M ≥ M.
    ///
    /// Write v = x + k·M. Carrying leaves the lower limbs in [−2¹¹, 2⁵² + 2¹¹), so v/W − t lies in (−2⁻⁴⁰, 1 + 2⁻⁴⁰),
    /// and t ≥ 0 because v/W ≥ M/W ≥ 2¹⁰. Let s be the bits of M in the top limb beyond twelve: 2¹⁰ ≤ M/(2ˢW) < 2¹².
    /// With t′ = ⌊t/2ˢ⌋ the difference v/(2ˢW) − t′ lies in (−2⁻⁴⁰, 2). q = ⌊t′·µ/2⁵²⌋ with µ = ⌊2⁵²·2ˢW/M⌋ loses at
    /// most 1 by the outer floor and t′/2⁵² ≤ 2⁻²² by the inner one, as v ≤ 2¹⁸·M. So v/M − q lies in
    /// (−2⁻⁵⁰, 1 + 2⁻⁹ + 2⁻²²), and one M more makes it positive. Limbs: the carried limbs, minus low and high halves of
    /// q·mᵢ, plus mᵢ.
    pub fn reduced() -> Self {
        Self { limb: 1 << 54, low: 0, high: 2 * UNIT + (UNIT >> 9) + 1 }
    }

    /// The outcome of a Montgomery product of x + k·M and y + k·M, k = [`Shape::lift`], both in [0, R): with x and y
    /// for these, (xy + uM)/R with u < R is below M·(1 + (x/M)(y/M)·M/R), and M/R < 2⁻ʰ. A limb collects at most
    /// 2(2L − 1) halves of products below 2⁵² and one carry of at most 4L; the bits above 52 are then added to the next
    /// limb, in one simultaneous pass.
    pub fn product(self, y: Self, shape: Shape) -> Self {
        let limbs = shape.limbs() as u64; // At most 15.
        let [x, y] = [self, y].map(|operand| i128::from(operand.high + shape.lift() * UNIT));
        // Operands are below 2⁵⁷ units: the product fits 128 bits, and its quotient by R/M the 64 of a range.
        let share = (x * y) >> (UNIT_BITS + shape.headroom_bits());
        Self { limb: CARRIED_LIMB + 4 * limbs, low: 0, high: UNIT + share as i64 + 1 }
    }

    /// May this be a sum or difference inside a plan?
    pub(crate) fn is_sum(self, shape: Shape) -> bool {
        let most = shape.range_max() * UNIT;
        self.limb <= LIMB_MAX && -most <= self.low && self.high <= most
    }

    /// May this be an operand of a product? Lifted, the value must lie in [0, R).
    pub(crate) fn is_operand(self, shape: Shape) -> bool {
        let lift = shape.lift() * UNIT;
        self.limb <= LIMB_MAX && self.low >= -lift && self.high + lift <= shape.operand_max() * UNIT
    }

    /// May a reduction of this, its bias already added, be trusted? The value must lie in [M, R) and within [`Shape::reducible_max`].
    pub(crate) fn is_reducible(self, shape: Shape) -> bool {
        self.limb <= LIMB_MAX + CARRIED_LIMB && self.low >= UNIT && self.high <= shape.reducible_max() * UNIT
    }

    /// Does this keep a promise of `outer`?
    pub fn is_within(self, outer: Self) -> bool {
        self.limb <= outer.limb && outer.low <= self.low && self.high <= outer.high
    }

    /// The least k ≥ 0 with x + k·M ≥ `least`·M.
    pub(crate) fn multiples_up_to(self, least: i64) -> i64 {
        let lacking = (least * UNIT - self.low).max(0);
        lacking / UNIT + i64::from(lacking % UNIT != 0)
    }
}

impl Shape {
    /// Invariant of every slot between plans: −d·M ≤ v ≤ c·M with c = min(16, 2^⌊h/2⌋) and d = min(16, k/2), where k is
    /// [`Shape::lift`]; limbs of magnitude at most 2⁵⁸. The product of two such values satisfies it again.
    pub fn end_bounds(self) -> Bounds {
        let most = END_RANGE_MAX.min(1 << (self.headroom_bits() / 2).min(16));
        let least = END_RANGE_MAX.min(self.lift() / 2);
        Bounds { limb: END_LIMB_MAX, low: -least * UNIT, high: most * UNIT }
    }
}

/// x + y: limbs and values add.
impl Add for Bounds {
    type Output = Self;

    fn add(self, y: Self) -> Self {
        Self { limb: self.limb + y.limb, low: self.low + y.low, high: self.high + y.high }
    }
}

/// x − y.
impl Sub for Bounds {
    type Output = Self;

    fn sub(self, y: Self) -> Self {
        Self { limb: self.limb + y.limb, low: self.low - y.high, high: self.high - y.low }
    }
}

/// The multiples of M that are at hand as rows: all up to 8, then 1.5·2ᵉ and 2ᵉ up to 2¹⁷.
pub(crate) const BIAS_COUNT: usize = 37;

/// A multiple of M that is at hand, by its number in the table; number 0 is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bias(pub u8);

impl Bias {
    /// The least bias that is at least k·M. Requires k ≤ 2¹⁷.
    pub fn at_least(multiple: i64) -> Self {
        debug_assert!(multiple <= 1 << 17, "the table ends at 2^17");
        if multiple <= 8 {
            return Self(multiple.max(0) as u8);
        }
        let exponent = i64::BITS - (multiple - 1).leading_zeros(); // 2^(exponent − 1) < multiple ≤ 2^exponent
        let is_low_half = multiple <= 3 << (exponent - 2);
        // At most 36.
        Self((10 + 2 * (exponent - 4) - u32::from(is_low_half)) as u8)
    }

    /// k, if this is k·M.
    pub fn multiple(self) -> i64 {
        match i64::from(self.0) {
            small @ 0..=8 => small,
            half if half % 2 == 1 => 3 << ((half - 9) / 2 + 2),
            full => 1 << ((full - 10) / 2 + 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    #[test]
    fn the_least_bias_that_suffices_is_chosen() {
        let table: Vec<i64> = (0..BIAS_COUNT as u8).map(|i| Bias(i).multiple()).collect();
        assert!(table.is_sorted() && table[BIAS_COUNT - 1] == 1 << 17);
        for k in 0..=1 << 17 {
            let least = table.iter().position(|multiple| *multiple >= k).unwrap();
            assert_eq!(usize::from(Bias::at_least(k).0), least, "{k}");
        }
    }

    #[test]
    fn a_bias_keeps_every_permitted_sum_below_the_radix() {
        for bits in [254, 256, 381, 384, 768, 776] {
            let shape = Shape::of_bits(bits).unwrap();
            let most = shape.range_max();
            for low in (0..=most.min(200)).chain([most]) {
                let bounds = Bounds { limb: 0, low: -low * UNIT, high: most * UNIT };
                let bias = Bias::at_least(bounds.multiples_up_to(1)).multiple();
                assert!(bounds.biased(bias).is_reducible(shape), "{bits} bits, {low}");
            }
        }
    }

    /// Every limit of a row, just kept and just broken.
    fn holds_up_to(limit: Bounds, holds: impl Fn(Bounds) -> bool) {
        assert!(holds(limit), "{limit:?}");
        for broken in [
            Bounds { limb: limit.limb + 1, ..limit },
            Bounds { low: limit.low - 1, ..limit },
            Bounds { high: limit.high + 1, ..limit },
        ] {
            assert!(!holds(broken), "{broken:?}");
        }
    }

    #[test]
    fn each_limit_counts_by_itself() {
        // Headroom h and the least and greatest values of sums, operands and reductions that stay below R = 2^h·M.
        for (bits, headroom, sum, lift, reducible) in
            [(254, 40, 1 << 16, 1 << 12, 1 << 18), (768, 12, (1 << 11) - 2, 8, (1 << 12) - 1), (308, 4, 6, 2, 15)]
        {
            let shape = Shape::of_bits(bits).unwrap();
            let operand_max = ((1 << headroom) - 1) * UNIT - lift * UNIT;
            let limb = 1 << 62;
            holds_up_to(Bounds { limb, low: -sum * UNIT, high: sum * UNIT }, |bounds| bounds.is_sum(shape));
            let operand = Bounds { limb, low: -lift * UNIT, high: operand_max };
            holds_up_to(operand, |bounds| bounds.is_operand(shape));
            let reducible = Bounds { limb: limb + (1 << 52), low: UNIT, high: reducible * UNIT };
            // Here the least value must not be lower, as for the others.
            holds_up_to(reducible, |bounds| bounds.is_reducible(shape));
        }
        let outer = Bounds { limb: 7, low: -5, high: 9 };
        holds_up_to(outer, |bounds| bounds.is_within(outer));
        assert!(Bounds { limb: 6, low: -4, high: 8 }.is_within(outer));
    }

    #[test]
    fn sums_and_differences_reach_from_end_to_end() {
        let (x, y) = (Bounds { limb: 3, low: -2, high: 7 }, Bounds { limb: 4, low: 1, high: 5 });
        let ends = |of: fn(i64, i64) -> i64| {
            let all = || (x.low..=x.high).flat_map(|a| (y.low..=y.high).map(move |b| of(a, b)));
            Bounds { limb: 3 + 4, low: all().min().unwrap(), high: all().max().unwrap() }
        };
        assert_eq!(x + y, ends(|a, b| a + b));
        assert_eq!(x - y, ends(|a, b| a - b));
    }

    #[test]
    fn a_bias_moves_both_ends() {
        let x = Bounds { limb: 3, low: -2, high: 7 };
        assert_eq!(x.biased(0), x, "nothing is added");
        assert_eq!(x.biased(3), Bounds { limb: 3 + (1 << 52), low: 3 * 65536 - 2, high: 3 * 65536 + 7 });
    }

    #[test]
    fn the_least_multiple_that_lifts_is_found_by_trying() {
        for low in (-3 * UNIT..3 * UNIT).step_by(4099).chain([-3 * UNIT, -UNIT - 1, -UNIT, -1, 0, 1, UNIT, 2 * UNIT]) {
            for least in -3..3 {
                let enough = |k: i64| low + k * UNIT >= least * UNIT;
                let k = (0..).find(|k| enough(*k)).unwrap();
                assert_eq!(Bounds { limb: 0, low, high: i64::MAX }.multiples_up_to(least), k, "{low} {least}");
            }
        }
    }

    /// The theorems of a step in integers of any length: bounds are no tighter than the theorem, and no wider than
    /// rounding requires.
    #[test]
    fn a_product_is_bounded_by_its_operands_and_little_more() {
        for bits in [254, 308, 360, 381, 412, 745, 768, 776] {
            let shape = Shape::of_bits(bits).unwrap();
            let (limbs, headroom) = (shape.limbs() as u128, shape.headroom_bits());
            let highs = [0, 1, 77, UNIT - 1, UNIT, 5 * UNIT / 3, (shape.operand_max() - shape.lift()) * UNIT];
            for (x, y) in highs.iter().flat_map(|x| highs.map(|y| (*x, y))) {
                let of = |high| Bounds { limb: 1 << 60, low: -UNIT, high };
                let bounds = of(x).product(of(y), shape);
                // 1 + x′y′/2^h in units of M, times 2^(32 + h).
                let lifted = |high: i64| BigInt::from(high) + BigInt::from(shape.lift()) * 65536;
                let most = (BigInt::from(1) << (32 + headroom)) + lifted(x) * lifted(y);
                let of_high = |high: i64| BigInt::from(high) << (16 + headroom);
                assert!(most <= of_high(bounds.high) && of_high(bounds.high - 2) < most, "{bits} bits, {x} · {y}");
                assert_eq!(bounds.low, 0);
                // Halves of products, and one carry; the top of a limb is added to the next.
                let sum = 2 * (2 * limbs - 1) * ((1 << 52) - 1) + 4 * limbs;
                let limb = (1 << 52) - 1 + (sum >> 52);
                assert!((limb..limb + 8).contains(&bounds.limb.into()), "{bits} bits");
            }
        }
    }

    #[test]
    fn reductions_and_carries_are_bounded_as_proved() {
        let reduced = Bounds::reduced();
        // Greatest: 2 + 2⁻⁹ + 2⁻²², in units of 2⁻²².
        let most = 2 * (1 << 22) + (1 << 13) + 1;
        assert!(reduced.low <= 0 && reduced.high << 6 >= most && (reduced.high - 1) << 6 < most);
        let carry = ((LIMB_MAX + (1 << 52)) >> 52) + 1;
        let carried = Bounds { limb: 9, low: -3, high: 5 }.carried();
        assert!(carried.limb > (1 << 52) - 1 + carry && carried.limb < (1 << 52) + 2 * carry && carried.limb > 1 << 52);
        assert_eq!((carried.low, carried.high), (-3, 5));
        // What is carried, or two halves of products taken away, and a limb of M.
        assert!((carried.limb + (1 << 52)..=4 << 52).contains(&reduced.limb));
    }
}
