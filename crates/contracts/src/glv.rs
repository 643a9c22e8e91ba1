//! Multiples of points and their sums on curves y² = x³ + b with their endomorphism, whose points are encoded as in EIP-196: BN254's G1, Grumpkin, Pallas and Vesta.
//! One text for all of them.

use crate::encoding::Encoding;
use residue_curves::Affine;
use residue_curves::conditions::all_vanish;
use residue_curves::glv::msm::{Product, add, complete, finish, identity, start};
use residue_curves::glv::{Endomorphism, multiply};
use residue_curves::group::Jacobian;
use residue_ir::{Feature, Machine, WordOp};

/// Encoding of points.
const ENCODING: Encoding = Encoding::EIP_196;
/// Bytes of a coordinate.
const COORDINATE_BYTES: u32 = ENCODING.element_bytes;
/// Bytes of a point.
const POINT_BYTES: u32 = 2 * COORDINATE_BYTES;
/// Bytes of a point and its scalar.
const PRODUCT_BYTES: u32 = POINT_BYTES + 32;

/// Points that share doublings, where code may be longer than 24 576 bytes.
const MANY: usize = 8;
/// The same of the last ones, if they are no more than this, and of all where it may not.
const FEW: usize = 4;

/// Returns k·P of the first 96 bytes of calldata; zeros are the identity.
pub(crate) fn product<M: Machine, E: Endomorphism>(machine: &M, curve: &E) {
    let start = machine.small(0);
    let point = ENCODING.point(machine, start);
    machine.branch(
        machine.not(machine.is_zero(curve.defect(machine, point))),
        |machine| {
            // (0, 0), which stands for the identity, is not on the curve.
            machine.require(machine.not(ENCODING.any_nonzero(machine, start, 0..2)));
            machine.return_elements(point, COORDINATE_BYTES);
        },
        |_| (),
    );
    let scalar = machine.calldata_word(machine.small(POINT_BYTES.into()));
    machine.return_elements(multiply(machine, curve, scalar, point), COORDINATE_BYTES);
}

/// Returns k·P of calldata, which must have 96 bytes.
pub(crate) fn product_alone<M: Machine, E: Endomorphism>(machine: &M, curve: &E) {
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(PRODUCT_BYTES.into())));
    product(machine, curve);
}

/// Returns Σ kᵢ·Pᵢ of all of calldata. Code for many points at a time is longer than 24 576 bytes.
pub(crate) fn sum<M: Machine, E: Endomorphism>(machine: &M, curve: &E, may_be_long: bool) {
    let size = machine.calldata_size();
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, machine.small(PRODUCT_BYTES.into()))));
    // Code for many points is too long for interfaces whose instructions are: those that take given moduli have short ones.
    let sum = if may_be_long {
        machine.branch(
            machine.has(Feature::Given),
            |machine| {
                let (sum, after) = chunks::<M, E, MANY>(machine, curve, MANY - FEW - 1);
                machine.branch(
                    machine.word_op(WordOp::Lt, after, size),
                    |machine| with_products::<M, E, FEW>(machine, curve, after, sum),
                    |_| sum,
                )
            },
            |machine| chunks::<M, E, FEW>(machine, curve, FEW - 1).0,
        )
    } else {
        chunks::<M, E, FEW>(machine, curve, FEW - 1).0
    };
    finish(
        machine,
        curve,
        sum,
        |machine, point| machine.return_elements(point, COORDINATE_BYTES),
        |machine| machine.return_elements(Affine::new(machine.zero(), machine.zero()), COORDINATE_BYTES),
    );
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), machine.small(PRODUCT_BYTES.into()));
    let sum = machine.repeat(machine.bind(count), identity(machine), |machine, number, sum| {
        let offset = machine.word_op(WordOp::Mul, number, machine.small(PRODUCT_BYTES.into()));
        let (scalar, point) = product_at(machine, curve, machine.bind(offset));
        complete(machine, curve, machine.get(scalar), point, sum)
    });
    let inverse = curve.invert(machine, sum.z); // 0 for the identity
    machine.return_elements(Affine::new(sum.x * inverse, sum.y * inverse), COORDINATE_BYTES);
}

/// The sum of so many products at a time, and where they end in calldata: of all, or of all whole chunks and one that lacks no more than
/// `missing` products.
fn chunks<M: Machine, E: Endomorphism, const COUNT: usize>(
    machine: &M,
    curve: &E,
    missing: usize,
) -> (Jacobian<M::Fe>, M::Word) {
    let bytes = |products: usize| machine.small(u64::from(PRODUCT_BYTES) * products as u64); // usize to u64 widens
    let rounded = machine.word_op(WordOp::Add, machine.calldata_size(), bytes(missing));
    let chunks = machine.bind(machine.word_op(WordOp::Div, rounded, bytes(COUNT)));
    let sum = machine.repeat(chunks, start(machine, curve), |machine, chunk, sum| {
        let bytes = machine.small(u64::from(PRODUCT_BYTES) * COUNT as u64); // usize to u64 widens
        with_products::<M, E, COUNT>(machine, curve, machine.word_op(WordOp::Mul, chunk, bytes), sum)
    });
    (sum, machine.word_op(WordOp::Mul, chunks, bytes(COUNT)))
}

/// The sum with the products from this offset on. What is missing after the last one are zeros, and so the identity.
fn with_products<M: Machine, E: Endomorphism, const COUNT: usize>(
    machine: &M,
    curve: &E,
    first: M::Word,
    sum: Jacobian<M::Fe>,
) -> Jacobian<M::Fe> {
    // Not kept on the stack: words of each product would come between.
    let first = machine.variable("first_product", first);
    let products = std::array::from_fn::<_, COUNT, _>(|number| {
        let offset = machine.small(u64::from(PRODUCT_BYTES) * number as u64); // usize to u64 widens
        product_at(machine, curve, machine.bind(machine.word_op(WordOp::Add, machine.get(first), offset)))
    });
    let defects = products.map(|(_, point)| curve.defect(machine, point));
    machine.require(machine.is_zero(all_vanish(&defects)));
    add(machine, curve, products, sum)
}

/// The product at this offset: for the identity 0 and the generator.
fn product_at<M: Machine>(machine: &M, curve: &impl Endomorphism, offset: M::Word) -> Product<M::Fe> {
    let is_finite = machine.bind(machine.not(machine.not(ENCODING.any_nonzero(machine, offset, 0..2))));
    let point = machine.branch(
        is_finite,
        |machine| ENCODING.point(machine, offset),
        |machine| {
            let Affine { x, y } = curve.generator();
            Affine::new(machine.constant(&x), machine.constant(&y))
        },
    );
    let scalar_at = machine.word_op(WordOp::Add, offset, machine.small(POINT_BYTES.into()));
    let scalar = machine.word_op(WordOp::Mul, machine.calldata_word(scalar_at), is_finite);
    (machine.variable("scalar", scalar), point)
}
