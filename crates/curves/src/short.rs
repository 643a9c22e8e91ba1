//! Curves y² = x³ + b of prime order, as values: a curve is its parameters.
//!
//! Points in homogeneous coordinates with the complete formulas of Renes, Costello and Batina ([`crate::complete`]).

use crate::chain::pow_constant;
use crate::complete::{AZero, Complete};
use crate::group::{Affine, Projective};
use crate::windows::{self, Group};
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_formula::Number;
use residue_ir::{Machine, WordOp};
use residue_modular::fields::{Bn254Fp, Bn254Fr, Pallas, Vesta};
use ruint::aliases::U256;

/// A curve y² = x³ + b.
#[derive(Debug)]
pub struct ShortCurve {
    /// p.
    pub modulus: fn() -> BigUint,
    /// The number of its points, a prime.
    pub order: fn() -> BigUint,
    /// b.
    pub b: i32,
    /// Coordinates of a generator, in decimal digits.
    pub generator: [&'static str; 2],
}

/// Grumpkin, whose fields are those of BN254 the other way round. Aztec, “Grumpkin”: y² = x³ − 17, the generator with x = 1.
pub static GRUMPKIN: ShortCurve = ShortCurve {
    modulus: Bn254Fr::modulus,
    order: Bn254Fp::modulus,
    b: -17,
    generator: ["1", "17631683881184975370165255887551781615748388533673675138860"],
};

/// Pallas. The Pasta curves, zcash/pasta: y² = x³ + 5, the generator (−1, 2).
pub static PALLAS: ShortCurve = ShortCurve {
    modulus: Pallas::modulus,
    order: Vesta::modulus,
    b: 5,
    generator: ["28948022309329048855892746252171976963363056481941560715954676764349967630336", "2"],
};

/// Vesta, whose fields are those of Pallas the other way round. As above.
pub static VESTA: ShortCurve = ShortCurve {
    modulus: Vesta::modulus,
    order: Pallas::modulus,
    b: 5,
    generator: ["28948022309329048855892746252171976963363056481941647379679742748393362948096", "2"],
};

/// Formulas of such a curve.
struct Formulas<C>(C);

impl<F: Fe, C: Complete<F>> Group<F> for Formulas<C> {
    type Point = Projective<F>;

    fn add(&self, first: Self::Point, second: Self::Point) -> Self::Point {
        first.add_complete(second, &self.0)
    }

    fn double(&self, point: Self::Point) -> Self::Point {
        point.double_complete(&self.0)
    }

    fn negated(&self, point: Self::Point) -> Self::Point {
        Projective { y: -point.y, ..point }
    }
}

impl ShortCurve {
    /// A small number as a constant.
    fn small<M: Machine>(&self, machine: &M, value: i32) -> M::Fe {
        let size = BigUint::from(value.unsigned_abs());
        machine.constant(&if value < 0 { (self.modulus)() - size } else { size })
    }

    /// The generator.
    pub fn generator(&self) -> Affine<BigUint> {
        let [x, y] = self.generator.map(|digits| digits.parse().expect("these are digits"));
        Affine::new(x, y)
    }

    /// Zero exactly if the point lies on the curve.
    pub fn defect<M: Machine>(&self, machine: &M, point: Affine<M::Fe>) -> M::Fe {
        point.curve_defect(self.small(machine, self.b))
    }

    /// The identity, (0 : 1 : 0).
    pub fn identity<M: Machine>(&self, machine: &M) -> Projective<M::Fe> {
        Projective { x: machine.zero(), y: machine.one(), z: machine.zero() }
    }

    /// P + Q.
    pub fn add<M: Machine>(
        &self,
        machine: &M,
        first: Projective<M::Fe>,
        second: Projective<M::Fe>,
    ) -> Projective<M::Fe> {
        let b3 = self.small(machine, 3 * self.b);
        first.add_complete(second, &AZero(|value| value * b3))
    }

    /// Σ kᵢ·Pᵢ for any words kᵢ.
    pub fn sum<M: Machine, const N: usize>(
        &self,
        machine: &M,
        products: [(M::Word, Projective<M::Fe>); N],
    ) -> Projective<M::Fe> {
        let b3 = self.small(machine, 3 * self.b);
        let order = machine.word(U256::from_be_slice(&(self.order)().to_bytes_be()));
        let products = products.map(|(scalar, point)| (machine.word_op(WordOp::Mod, scalar, order), point));
        windows::sum(machine, &Formulas(AZero(|value: M::Fe| value * b3)), self.identity(machine), products)
    }

    /// In affine coordinates; (0, 0) for the identity.
    pub fn affine<M: Machine>(&self, machine: &M, point: Projective<M::Fe>) -> Affine<M::Fe> {
        let exponent = (self.modulus)() - 2u32;
        let inverse = machine.function("invert", point.z, |_, z| pow_constant(z, &exponent));
        Affine::new(point.x * inverse, point.y * inverse)
    }
}
