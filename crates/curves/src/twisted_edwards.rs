//! Curves a·x² + y² = 1 + d·x²·y², as values: a curve is its parameters.
//!
//! Extended coordinates (X : Y : Z : T), x = X/Z, y = Y/Z, T = X·Y/Z: Hisil, Wong, Carter and Dawson 2008 (2008/522), §3.1 and §3.3. Sums are complete for all points if a is a
//! square and d is none, and else for those of odd order: exceptions then need two points that differ by one of even order (ibid., §2).

use crate::chain::pow_constant;
use crate::edwards25519::Extended;
use crate::group::Affine;
use crate::windows::{self, Group};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bn254Fr;
use ruint::aliases::U256;
use std::marker::PhantomData;

/// A curve over the field of `F`.
#[derive(Debug)]
pub struct EdwardsCurve<F> {
    /// a.
    pub a: i32,
    /// d, in decimal digits.
    pub d: &'static str,
    /// Coordinates of the base point, in decimal digits.
    pub base: [&'static str; 2],
    /// The number that scalars count modulo, in decimal digits.
    pub order: &'static str,
    /// The field.
    pub field: PhantomData<fn() -> F>,
}

/// Baby Jubjub, whose a is a square: ERC-2494. It has 8·l points, and the order is that of all of them, so nobody needs to know which are in the subgroup.
pub static BABY_JUBJUB: EdwardsCurve<Bn254Fr> = EdwardsCurve {
    a: 168_700,
    d: "168696",
    base: [
        "5299619240641551281634865583518297030282874472190772894086521144482721001553",
        "16950150798460657717958625567821834550301663161624707787222815936182638968203",
    ],
    order: "21888242871839275222246405745257275088614511777268538073601725287587578984328",
    field: PhantomData,
};

fn digits(text: &str) -> BigUint {
    text.parse().expect("these are digits")
}

/// A curve's formulas, with its constants.
pub(crate) struct Formulas<F> {
    a: F,
    d: F,
}

impl<F: Fe> Group<F> for Formulas<F> {
    type Point = Extended<F>;

    /// 2008/522, §3.1, unified.
    fn add(&self, first: Self::Point, second: Self::Point) -> Self::Point {
        let _scope = enter("edwards_add");
        let a = first.x * second.x; //                       A = X₁X₂
        let b = first.y * second.y; //                       B = Y₁Y₂
        let c = first.t * second.t * self.d; //              C = d·T₁T₂
        let d = first.z * second.z; //                       D = Z₁Z₂
        let e = (first.x + first.y) * (second.x + second.y) - a - b; // E = X₁Y₂ + X₂Y₁
        let (f, g, h) = (d - c, d + c, b - self.a * a); //   F = D − C, G = D + C, H = B − a·A
        Extended { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    /// 2008/522, §3.3.
    fn double(&self, point: Self::Point) -> Self::Point {
        let _scope = enter("edwards_double");
        let Extended { x, y, z, .. } = point;
        let (a, b) = (x.square(), y.square()); //            A = X², B = Y²
        let zz = z.square();
        let d = self.a * a; //                               D = a·A
        let e = (x + y).square() - a - b; //                 E = (X + Y)² − A − B
        let g = d + b; //                                    G = D + B
        let (f, h) = (g - (zz + zz), d - b); //              F = G − 2Z², H = D − B
        Extended { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    fn negated(&self, point: Self::Point) -> Self::Point {
        Extended { x: -point.x, t: -point.t, ..point }
    }
}

/// In affine coordinates. Z is never zero.
pub fn affine<M: Machine>(machine: &M, point: Extended<M::Fe>, modulus: &BigUint) -> Affine<M::Fe> {
    let inverse =
        machine.inverse(point.z, |machine, z| machine.function("invert", z, |_, z| pow_constant(z, &(modulus - 2u32))));
    Affine::new(point.x * inverse, point.y * inverse)
}

/// An affine point.
pub fn extended<M: Machine>(machine: &M, Affine { x, y }: Affine<M::Fe>) -> Extended<M::Fe> {
    Extended { x, y, z: machine.one(), t: x * y }
}

/// The identity, (0, 1).
pub fn identity<M: Machine>(machine: &M) -> Extended<M::Fe> {
    Extended { x: machine.zero(), y: machine.one(), z: machine.one(), t: machine.zero() }
}

impl<F: Number> EdwardsCurve<F> {
    /// The base point.
    pub fn base(&self) -> Affine<BigUint> {
        let [x, y] = self.base.map(digits);
        Affine::new(x, y)
    }

    /// The number that scalars count modulo.
    pub fn order(&self) -> BigUint {
        digits(self.order)
    }

    pub(crate) fn formulas<M: Machine>(&self, machine: &M) -> Formulas<M::Fe> {
        let size = BigUint::from(self.a.unsigned_abs());
        let a = if self.a < 0 { F::modulus() - size } else { size };
        Formulas { a: machine.constant(&a), d: machine.constant(&digits(self.d)) }
    }

    /// Zero exactly if the point lies on the curve: a·x² + y² − 1 − d·x²·y².
    pub fn defect<M: Machine>(&self, machine: &M, Affine { x, y }: Affine<M::Fe>) -> M::Fe {
        let Formulas { a, d } = self.formulas(machine);
        let (xx, yy) = (x.square(), y.square());
        a * xx + yy - machine.one() - d * xx * yy
    }

    /// P + Q.
    pub fn add<M: Machine>(&self, machine: &M, first: Extended<M::Fe>, second: Extended<M::Fe>) -> Extended<M::Fe> {
        self.formulas(machine).add(first, second)
    }

    /// 2P.
    pub fn double<M: Machine>(&self, machine: &M, point: Extended<M::Fe>) -> Extended<M::Fe> {
        self.formulas(machine).double(point)
    }

    /// −P.
    pub fn negated<M: Machine>(&self, machine: &M, point: Extended<M::Fe>) -> Extended<M::Fe> {
        self.formulas(machine).negated(point)
    }

    /// Σ kᵢ·Pᵢ for any words kᵢ.
    pub fn sum<M: Machine, const N: usize>(
        &self,
        machine: &M,
        products: [(M::Word, Extended<M::Fe>); N],
    ) -> Extended<M::Fe> {
        let order = machine.word(U256::from_be_slice(&self.order().to_bytes_be()));
        let products = products.map(|(scalar, point)| (machine.word_op(WordOp::Mod, scalar, order), point));
        windows::sum(machine, &self.formulas(machine), identity(machine), windows::PLACES, products)
    }
}
