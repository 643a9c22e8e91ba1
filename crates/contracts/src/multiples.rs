//! Multiples of points and their sums as contracts, for curves without precompiles: Grumpkin, Pallas and Vesta, whose text [`crate::glv`] has, Baby Jubjub and
//! Bandersnatch.
//!
//! A point takes 64 bytes as in EIP-196, a scalar 32 and may be any number. Every point of a curve is taken, of Bandersnatch those of the subgroup, and any other fails.

use crate::Contract;
use crate::encoding::Encoding;
use crate::glv;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bandersnatch::{self, BANDERSNATCH};
use residue_curves::edwards25519::Extended;
use residue_curves::glv::Endomorphism;
use residue_curves::short::{GRUMPKIN, PALLAS, VESTA};
use residue_curves::twisted_edwards::{BABY_JUBJUB, EdwardsCurve, affine, extended, identity};
use residue_formula::Number;
use residue_ir::{Machine, WordOp};
use residue_modular::fields::{Bls12_381Fr, Bn254Fr, Pallas, Vesta};

/// Encoding of points.
const ENCODING: Encoding = Encoding::EIP_196;
/// Bytes of a coordinate.
const COORDINATE_BYTES: u32 = ENCODING.element_bytes;
/// Bytes of a point.
const POINT_BYTES: u32 = 2 * COORDINATE_BYTES;
/// Bytes of a point and a scalar.
const PRODUCT_BYTES: u32 = POINT_BYTES + 32;
/// Points whose multiples are summed at once: the words of their digits are on the stack together.
const POINTS: usize = 2;

/// Operations on a curve with formulas in extended coordinates.
trait Curve {
    /// Elements of its field as numbers.
    type Number: Number + 'static;

    /// The curve.
    fn parameters(&self) -> &'static EdwardsCurve<Self::Number>;

    /// 1 if a point of the curve is one of those that are taken, else 0.
    fn takes<M: Machine>(&self, machine: &M, point: Affine<M::Fe>) -> M::Word;

    /// k·P for any word k.
    fn multiple<M: Machine>(&self, machine: &M, product: Product<M>) -> Extended<M::Fe>;

    /// Σ kᵢ·Pᵢ for any words kᵢ.
    fn sum<M: Machine>(&self, machine: &M, products: [Product<M>; POINTS]) -> Extended<M::Fe>;
}

/// A scalar and a point.
type Product<M> = (<M as Machine>::Word, Extended<<M as Machine>::Fe>);

/// All points of Baby Jubjub.
struct BabyJubjub;

impl Curve for BabyJubjub {
    type Number = Bn254Fr;

    fn parameters(&self) -> &'static EdwardsCurve<Bn254Fr> {
        &BABY_JUBJUB
    }

    fn takes<M: Machine>(&self, machine: &M, _: Affine<M::Fe>) -> M::Word {
        machine.small(1)
    }

    fn multiple<M: Machine>(&self, machine: &M, product: Product<M>) -> Extended<M::Fe> {
        BABY_JUBJUB.sum(machine, [product])
    }

    fn sum<M: Machine>(&self, machine: &M, products: [Product<M>; POINTS]) -> Extended<M::Fe> {
        BABY_JUBJUB.sum(machine, products)
    }
}

/// Those of the subgroup of Bandersnatch.
struct Bandersnatch;

impl Curve for Bandersnatch {
    type Number = Bls12_381Fr;

    fn parameters(&self) -> &'static EdwardsCurve<Bls12_381Fr> {
        &BANDERSNATCH
    }

    fn takes<M: Machine>(&self, machine: &M, point: Affine<M::Fe>) -> M::Word {
        bandersnatch::is_in_subgroup(machine, point)
    }

    fn multiple<M: Machine>(&self, machine: &M, product: Product<M>) -> Extended<M::Fe> {
        bandersnatch::sum::<M, 1, 2>(machine, [product])
    }

    fn sum<M: Machine>(&self, machine: &M, products: [Product<M>; POINTS]) -> Extended<M::Fe> {
        bandersnatch::sum::<M, POINTS, { 2 * POINTS }>(machine, products)
    }
}

/// The scalar and the point at `offset`, which must be one that is taken.
fn product<M: Machine>(machine: &M, curve: &impl Curve, offset: M::Word) -> Product<M> {
    let scalar_at = machine.word_op(WordOp::Add, offset, machine.small(POINT_BYTES.into()));
    let scalar = machine.variable("scalar", machine.calldata_word(scalar_at));
    let point = ENCODING.point(machine, offset);
    machine.require(machine.is_zero(curve.parameters().defect(machine, point)));
    machine.require(curve.takes(machine, point));
    (machine.get(scalar), extended(machine, point))
}

fn return_affine<M: Machine, C: Curve>(machine: &M, _: &C, point: Extended<M::Fe>) {
    machine.return_elements(affine(machine, point, &C::Number::modulus()), COORDINATE_BYTES);
}

/// k·P.
fn multiple<M: Machine>(machine: &M, curve: &impl Curve) {
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(PRODUCT_BYTES.into())));
    let product = product(machine, curve, machine.small(0));
    return_affine(machine, curve, curve.multiple(machine, product));
}

/// Σ kᵢ·Pᵢ, [`POINTS`] at once and what is left one by one.
fn sum<M: Machine>(machine: &M, curve: &impl Curve) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let small = |value: u64| machine.small(value);
    let size = machine.calldata_size();
    machine.require(machine.not(op(WordOp::Mod, size, small(PRODUCT_BYTES.into()))));
    let chunk_bytes = u64::from(PRODUCT_BYTES) * POINTS as u64; // usize to u64 widens
    let chunks = machine.bind(op(WordOp::Div, size, small(chunk_bytes)));
    let sum = machine.repeat(chunks, identity(machine), |machine, chunk, sum| {
        let first = machine.bind(machine.word_op(WordOp::Mul, chunk, machine.small(chunk_bytes)));
        let products = std::array::from_fn::<_, POINTS, _>(|number| {
            let offset = machine.small(u64::from(PRODUCT_BYTES) * number as u64); // usize to u64 widens
            product(machine, curve, machine.bind(machine.word_op(WordOp::Add, first, offset)))
        });
        curve.parameters().add(machine, sum, curve.sum(machine, products))
    });
    let left = op(WordOp::Div, op(WordOp::Mod, size, small(chunk_bytes)), small(PRODUCT_BYTES.into()));
    let sum = machine.repeat(machine.bind(left), sum, |machine, number, sum| {
        let back = machine.word_op(
            WordOp::Mul,
            machine.word_op(WordOp::Add, number, machine.small(1)),
            machine.small(PRODUCT_BYTES.into()),
        );
        let offset = machine.bind(machine.word_op(WordOp::Sub, machine.calldata_size(), back));
        let product = product(machine, curve, offset);
        curve.parameters().add(machine, sum, curve.multiple(machine, product))
    });
    return_affine(machine, curve, sum);
}

/// So many products: the point with each, and large scalars.
fn example(point: &Affine<BigUint>, count: u8) -> Vec<u8> {
    let product = |number: u8| {
        let coordinates = [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value));
        coordinates.chain([0xff - number; 32]).collect::<Vec<u8>>()
    };
    (0..count).flat_map(product).collect()
}

macro_rules! contracts {
    ($($mul:ident, $msm:ident, $name:literal, $title:literal, $identity:literal, $field:expr, $point:expr, $multiple:expr, $sum:expr;)*) => {
        $(
            #[doc = concat!("`", $name, "/mul`.")]
            pub const $mul: Contract = Contract {
                name: concat!($name, "/mul"),
                summary: concat!("the product of a scalar and a point of ", $title),
                interface: concat!("96 bytes: a point (64; ", $identity, " is the identity), a scalar (32); returns 64: the product"),
                field: $field,
                text: $multiple,
                precompile: None,
                example: || example(&$point, 1),
            };

            #[doc = concat!("`", $name, "/msm`.")]
            pub const $msm: Contract = Contract {
                name: concat!($name, "/msm"),
                summary: concat!("the sum of products of scalars and points of ", $title),
                interface: concat!("k times 96 bytes: a point (64; ", $identity, " is the identity), a scalar (32); k may be 0; returns 64: the sum of the products"),
                field: $field,
                text: $sum,
                precompile: None,
                example: || example(&$point, 4),
            };
        )*
    };
}

contracts! {
    GRUMPKIN_MUL, GRUMPKIN_MSM, "grumpkin", "Grumpkin", "all zeros", Bn254Fr::modulus, GRUMPKIN.generator(),
        |machine| glv::product_alone(machine, &GRUMPKIN), |machine| glv::sum(machine, &GRUMPKIN, false);
    PALLAS_MUL, PALLAS_MSM, "pallas", "Pallas", "all zeros", Pallas::modulus, PALLAS.generator(),
        |machine| glv::product_alone(machine, &PALLAS), |machine| glv::sum(machine, &PALLAS, false);
    VESTA_MUL, VESTA_MSM, "vesta", "Vesta", "all zeros", Vesta::modulus, VESTA.generator(),
        |machine| glv::product_alone(machine, &VESTA), |machine| glv::sum(machine, &VESTA, false);
    BABY_JUBJUB_MUL, BABY_JUBJUB_MSM, "baby_jubjub", "Baby Jubjub (ERC-2494)", "(0, 1)", Bn254Fr::modulus, BABY_JUBJUB.base(),
        |machine| multiple(machine, &BabyJubjub), |machine| sum(machine, &BabyJubjub);
    BANDERSNATCH_MUL, BANDERSNATCH_MSM, "bandersnatch", "Bandersnatch's subgroup (2021/1152)", "(0, 1)", Bls12_381Fr::modulus, BANDERSNATCH.base(),
        |machine| multiple(machine, &Bandersnatch), |machine| sum(machine, &Bandersnatch);
}
