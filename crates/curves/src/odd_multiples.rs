//! Multiples k·P of a point at run time by digits ±1, ±3, … ±15 to the base 16, and four doublings for a place, on y² = x³ + a·x + b with any
//! a.
//!
//! The odd multiples of P that digits name are brought to one denominator, and so are affine points of an isomorphic curve,
//! y² = x³ + a·z⁴·x + b·z⁶. Digits are read off the scalar: of an odd k from −2²⁵⁶ to 2²⁵⁶ they are 2·nᵢ − 15 for the nibbles nᵢ of
//! (k + 2²⁵⁶ − 1)/2.

use crate::group::{Affine, Jacobian};
use crate::one_denominator::{self, Sum};
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::{Array, Bundle, Capacity, Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// Places of digits.
pub const PLACES: u32 = 64;
/// Digits, by the nibbles that stand for them.
pub const DIGITS: usize = 16;
/// Doublings from one place to the next.
pub const DOUBLINGS: usize = 4;
/// Half of the digits.
const HALF: u64 = DIGITS as u64 / 2;

/// Isomorphic curve whose points have the denominator z.
#[derive(Debug, Clone, Copy)]
pub struct Isomorphism<F> {
    /// z², which takes x of a point there.
    pub to_x: F,
    /// z³, which takes y there.
    pub to_y: F,
    /// z.
    pub z: F,
    /// a·z⁴/2.
    half_a: F,
    three_halves: F,
}

impl<F: Fe> Bundle<F> for Isomorphism<F> {
    const LEN: usize = 5;

    fn collect(&self, values: &mut Vec<F>) {
        let Self { to_x, to_y, z, half_a, three_halves } = *self;
        [to_x, to_y, z, half_a, three_halves].collect(values);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let [to_x, to_y, z, half_a, three_halves] = Bundle::build(values);
        Self { to_x, to_y, z, half_a, three_halves }
    }
}

/// P, 3P, … 15P as affine points of the isomorphic curve.
#[derive(Debug, Clone, Copy)]
pub struct OddMultiples<F> {
    points: [Affine<F>; DIGITS / 2],
    /// The curve that they are on.
    pub curve: Isomorphism<F>,
}

impl<F: Fe> OddMultiples<F> {
    /// Of P, whose order is a prime above 16; a/2 and 3/2.
    pub fn new(point: Affine<F>, half_a: F, three_halves: F) -> Self {
        let _scope = enter("odd_multiples");
        let slope = point.x.square() * three_halves + half_a;
        let (mut twice, first) = one_denominator::double(point, slope);
        let mut points = vec![first];
        let mut factors = Vec::new();
        for _ in 1..DIGITS / 2 {
            let Sum { sum, addend, factor } = one_denominator::add(points[points.len() - 1], twice, false);
            points.push(sum);
            twice = addend;
            factors.push(factor);
        }
        let factor = one_denominator::to_last(&mut points, &factors).expect("there are several points");
        let points = std::array::from_fn(|at| points[at]);
        Self { points, curve: Isomorphism::new(factor * point.y, half_a, three_halves) }
    }

    /// The same multiples of P in an array, by the nibbles that stand for them, with the code of one addition: loops make them. The curve that
    /// they are on.
    pub fn store<M: Machine<Fe = F>>(
        machine: &M,
        points: Array<Affine<F>>,
        point: Affine<F>,
        [half_a, three_halves]: [F; 2],
    ) -> Isomorphism<F> {
        let (last, _, factors) = Self::store_over_denominators(machine, points, (point, None), [half_a, three_halves]);
        machine.store(points, machine.small(0), Affine::new(last.x, -last.y));
        let factor = Self::scale_others(machine, points, factors, machine.one());
        Isomorphism::new(factor * point.y, half_a, three_halves)
    }

    /// The same as affine points of P's own curve, with one inversion in Fp by `invert`.
    pub fn store_affine<M: Machine<Fe = F>>(
        machine: &M,
        points: Array<Affine<F>>,
        point: Affine<F>,
        constants: [F; 2],
        invert: impl FnOnce(F) -> F,
    ) {
        let (last, denominator, factors) =
            Self::store_over_denominators(machine, points, (point, Some(point.y)), constants);
        let inverse = invert(denominator.expect("one is asked for"));
        let square = inverse.square();
        let Affine { x, y } = Affine::new(last.x * square, last.y * (square * inverse));
        machine.store(points, machine.small(2 * HALF - 1), Affine::new(x, y));
        machine.store(points, machine.small(0), Affine::new(x, -y));
        Self::scale_others(machine, points, factors, inverse);
    }

    /// Stores P, 3P, … 15P, each over a denominator of its own: the last one, its denominator if that of P is given, and the factors by which each denominator
    /// is a multiple of the one before.
    fn store_over_denominators<M: Machine<Fe = F>>(
        machine: &M,
        points: Array<Affine<F>>,
        (point, denominator): (Affine<F>, Option<F>),
        [half_a, three_halves]: [F; 2],
    ) -> (Affine<F>, Option<F>, Array<F>) {
        let slope = point.x.square() * three_halves + half_a;
        let (twice, first) = one_denominator::double(point, slope);
        let factors = machine.array::<F>("factors", Capacity::Fixed(DIGITS as u32 / 2 - 1)); // 7
        machine.reserve(factors, machine.small(HALF - 1));
        machine.store(points, machine.small(HALF), first);
        let others = machine.small(HALF - 1);
        let add = |machine: &M, turn: M::Word, (point, twice): (Affine<F>, Affine<F>)| {
            let turn = machine.bind(turn);
            let Sum { sum, addend, factor } = one_denominator::add(point, twice, false);
            machine.store(points, machine.word_op(WordOp::Add, turn, machine.small(HALF + 1)), sum);
            machine.store(factors, turn, factor);
            ((sum, addend), factor)
        };
        match denominator {
            None => {
                let (last, _) =
                    machine.repeat(others, (first, twice), |machine, turn, both| add(machine, turn, both).0);
                (last, None, factors)
            }
            Some(denominator) => {
                let start = ((first, twice), denominator);
                let ((last, _), denominator) = machine.repeat(others, start, |machine, turn, (both, denominator)| {
                    let (both, factor) = add(machine, turn, both);
                    (both, denominator * factor)
                });
                (last, Some(denominator), factors)
            }
        }
    }

    /// Brings all points but the last to its denominator over `factor`, and stores their opposites; `factor` times all factors.
    fn scale_others<M: Machine<Fe = F>>(machine: &M, points: Array<Affine<F>>, factors: Array<F>, factor: F) -> F {
        machine.repeat(machine.small(HALF - 1), factor, |machine, turn, factor| {
            let turn = machine.bind(turn);
            let before = |place: u64| machine.bind(machine.word_op(WordOp::Sub, machine.small(place), turn));
            let factor = factor * machine.load(factors, before(HALF - 2));
            let square = factor.square();
            let place = before(2 * HALF - 2);
            let Affine { x, y } = machine.load(points, place);
            let scaled = Affine::new(x * square, y * (square * factor));
            machine.store(points, place, scaled);
            let opposite = machine.word_op(WordOp::Add, turn, machine.small(1));
            machine.store(points, opposite, Affine::new(scaled.x, -scaled.y));
            factor
        })
    }

    /// The multiple that a nibble stands for.
    pub fn multiple(&self, nibble: usize) -> Affine<F> {
        match nibble.checked_sub(DIGITS / 2) {
            Some(half) => self.points[half], //                     2·n − 15 = 2·half + 1
            None => {
                let Affine { x, y } = self.points[DIGITS / 2 - 1 - nibble]; // 15 − 2·n = 2·(7 − n) + 1
                Affine::new(x, -y)
            }
        }
    }

    /// The sum with the multiple that a nibble stands for.
    #[must_use]
    pub fn add(&self, sum: Jacobian<F>, nibble: usize) -> Jacobian<F> {
        match nibble.checked_sub(DIGITS / 2) {
            Some(half) => sum.add_mixed(self.points[half]), //                     2·n − 15 = 2·half + 1
            None => sum.subtract_mixed(self.points[DIGITS / 2 - 1 - nibble]), // 15 − 2·n = 2·(7 − n) + 1
        }
    }
}

impl<F: Fe> Isomorphism<F> {
    /// By z; a/2 and 3/2 of the curve.
    fn new(z: F, half_a: F, three_halves: F) -> Self {
        let to_x = z.square();
        Self { to_x, to_y: to_x * z, z, half_a: half_a * to_x.square(), three_halves }
    }

    /// A point of the curve on the isomorphic one.
    pub fn image(&self, point: Affine<F>) -> Affine<F> {
        Affine::new(point.x * self.to_x, point.y * self.to_y)
    }

    /// The sum sixteen times, as [`Isomorphism::next_place`] has it, with T = a·Z⁴ and small multiples in place of products with constants: M = 3X² + T, S = 4XY²,
    /// X₃ = M² − 2S, U = 8Y⁴, Y₃ = M·(S − X₃) − U, Z₃ = 2YZ, T₃ = 2UT. Each line is one sum of products and values.
    #[must_use]
    pub fn next_place_by_sums(&self, sum: Jacobian<F>) -> Jacobian<F> {
        let _scope = enter("point_doublings");
        let twice = |value: F| value + value;
        let Jacobian { mut x, mut y, mut z } = sum;
        let mut t = twice(z.square().square() * self.half_a); // T = a·Z⁴
        for turn in 1..=DOUBLINGS {
            let xx = x.square();
            let m = xx + xx + xx + t; //                        M = 3X² + T
            let yy = y.square();
            let s = twice(twice(x * yy)); //                    S = 4XY²
            let u = twice(twice(twice(yy.square()))); //        U = 8Y⁴
            z = twice(y * z); //                                Z₃ = 2YZ
            x = m.square() - twice(s); //                       X₃ = M² − 2S
            y = m * (s - x) - u; //                             Y₃ = M·(S − X₃) − U
            if turn < DOUBLINGS {
                t = twice(u * t); //                            T₃ = 2UT
            }
        }
        Jacobian { x, y, z }
    }

    /// The sum sixteen times. Cohen, Miyaji and Ono 1998, §4 (modified Jacobian coordinates, T = a·Z⁴/2), with halved slopes as in
    /// [`Jacobian::double`].
    #[must_use]
    pub fn next_place(&self, sum: Jacobian<F>) -> Jacobian<F> {
        let _scope = enter("point_doublings");
        let Jacobian { mut x, mut y, mut z } = sum;
        let mut t = z.square().square() * self.half_a; //       T = (a/2)·Z⁴
        for turn in 1..=DOUBLINGS {
            let l = x.square() * self.three_halves + t; //      L = (3/2)·X² + T
            let yy = y.square();
            let yyyy = yy.square();
            let m = x * yy; //                                  M = X·Y²
            z = z * y; //                                       Z₃ = Z·Y
            x = l.square() - (m + m); //                        X₃ = L² − 2M
            y = (m - x) * l - yyyy; //                          Y₃ = L·(M − X₃) − Y⁴
            if turn < DOUBLINGS {
                t = t * yyyy; //                                T₃ = T·Y⁴
            }
        }
        Jacobian { x, y, z }
    }
}

/// The words that choose parts by the digits of an odd number that is k or k − n, for an odd n above k.
pub fn digits<M: Machine>(machine: &M, k: M::Word, n: U256) -> [M::Word; 4] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let k = machine.bind(k);
    // (k + 2²⁵⁶ − 1)/2 = ⌊k/2⌋ + 2²⁵⁵ for an odd k; with k − n for an even one (n + 1)/2 less.
    let half = op(WordOp::Shr, k, machine.small(1));
    let even = machine.not(op(WordOp::And, k, machine.small(1)));
    let less = op(WordOp::Mul, even, machine.word((n >> 1usize) + U256::ONE));
    let moved = op(WordOp::Sub, op(WordOp::Add, half, machine.word(U256::ONE << 255usize)), less);
    let moved = machine.bind(moved);
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each(0xf));
    [0, 4, 8, 12].map(|bits| {
        let shifted = if bits == 0 { moved } else { op(WordOp::Shr, moved, machine.small(bits)) };
        machine.bind(op(WordOp::And, shifted, mask))
    })
}

/// The step for the digit at place `at`, given [`digits`].
pub fn step<W: Copy>(digits: &[W; 4], at: u32) -> SequenceStep<W> {
    SequenceStep::chosen(digits[(at % 4) as usize], at / 4 * 16) // u32 to usize widens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::p384;
    use residue_formula::Number;
    use residue_ir::Numbers;
    use residue_modular::fields::P384Fp;

    /// Loops make the multiples, and the curve that they are on, as code without loops does; or the same on the curve itself.
    #[test]
    fn multiples_made_by_loops_are_the_same() {
        let generator = p384::curve().generator();
        let machine = Numbers::<P384Fp>::new(Vec::new());
        let half = P384Fp::from_u64(2).inverse().unwrap();
        let three_halves = half * P384Fp::from_u64(3);
        let expected = OddMultiples::new(generator, -three_halves, three_halves);
        let [points, affine] = [(); 2].map(|()| machine.array::<Affine<P384Fp>>("points", Capacity::Fixed(16)));
        for array in [points, affine] {
            machine.reserve(array, U256::from(DIGITS));
        }
        let curve = OddMultiples::store(&machine, points, generator, [-three_halves, three_halves]);
        let invert = |z: P384Fp| z.inverse().unwrap();
        OddMultiples::store_affine(&machine, affine, generator, [-three_halves, three_halves], invert);
        for nibble in 0..DIGITS {
            assert_eq!(machine.load(points, U256::from(nibble)), expected.multiple(nibble), "{nibble}");
            assert_eq!(curve.image(machine.load(affine, U256::from(nibble))), expected.multiple(nibble), "{nibble}");
        }
        assert_eq!(
            [curve.z, curve.half_a, curve.to_x, curve.to_y],
            [expected.curve.z, expected.curve.half_a, expected.curve.to_x, expected.curve.to_y]
        );
    }
}
