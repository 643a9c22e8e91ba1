//! A sum of multiples on BN254's G1 as a contract; no precompile computes it.

use super::{ENCODING, FP_BYTES, G1_BYTES, encoded_point};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bn254::msm::{Product, add, complete, finish, identity, start};
use residue_curves::bn254::{g1_curve_defect, g1_generator, invert, modulus};
use residue_curves::conditions::all_vanish;
use residue_curves::group::Jacobian;
use residue_ir::{Feature, Machine, WordOp};
use residue_isa::precompile::{BN254_ADD, BN254_MUL};

/// `bn254/msm`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/msm",
    summary: "the sum of products of scalars and points of BN254's G1",
    interface: "k times 96 bytes: a point of EIP-196 (64), a scalar (32); k may be 0; returns 64: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Bytes of a point and its scalar.
const PRODUCT_BYTES: u32 = G1_BYTES + 32;

/// Points that share doublings.
const MANY: usize = 8;
/// The same of the last ones, if they are no more than this.
const FEW: usize = 4;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, machine.small(PRODUCT_BYTES.into()))));
    machine.branch(machine.has(Feature::Precompile(BN254_MUL)), by_precompiles, by_formulas);
}

/// Product by product: the sum stands at the beginning of scratch memory, and after it the point with its scalar.
fn by_precompiles<M: Machine>(machine: &M) {
    let small = |value: u32| machine.small(value.into());
    machine.scratch(G1_BYTES + PRODUCT_BYTES);
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), small(PRODUCT_BYTES));
    machine.repeat(machine.bind(count), (), |machine, number, ()| {
        let small = |value: u32| machine.small(value.into());
        let offset = machine.word_op(WordOp::Mul, number, small(PRODUCT_BYTES));
        machine.copy_calldata(small(G1_BYTES), offset, small(PRODUCT_BYTES));
        let [start, product] = [small(0), small(G1_BYTES)];
        machine.require(machine.precompile(BN254_MUL, (product, small(PRODUCT_BYTES)), (product, G1_BYTES)));
        machine.require(machine.precompile(BN254_ADD, (start, small(2 * G1_BYTES)), (start, G1_BYTES)));
    });
    machine.return_scratch(small(0), small(G1_BYTES));
}

/// Many points at a time.
fn by_formulas<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    // Code for many points is too long for interfaces whose instructions are: those that take given moduli have short ones.
    let sum = machine.branch(
        machine.has(Feature::Given),
        |machine| {
            let (sum, after) = chunks::<M, MANY>(machine, MANY - FEW - 1);
            machine.branch(
                machine.word_op(WordOp::Lt, after, size),
                |machine| with_products::<M, FEW>(machine, after, sum),
                |_| sum,
            )
        },
        |machine| chunks::<M, FEW>(machine, FEW - 1).0,
    );
    finish(
        machine,
        sum,
        |machine, point| machine.return_elements(point, FP_BYTES),
        |machine| machine.return_elements(Affine::new(machine.zero(), machine.zero()), FP_BYTES),
    );
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), machine.small(PRODUCT_BYTES.into()));
    let sum = machine.repeat(machine.bind(count), identity(machine), |machine, number, sum| {
        let offset = machine.word_op(WordOp::Mul, number, machine.small(PRODUCT_BYTES.into()));
        let (scalar, point) = product_at(machine, machine.bind(offset));
        complete(machine, machine.get(scalar), point, sum)
    });
    let inverse = invert(machine, sum.z); // 0 for the identity
    machine.return_elements(Affine::new(sum.x * inverse, sum.y * inverse), FP_BYTES);
}

/// The sum of so many products at a time, and where they end in calldata: of all, or of all whole chunks and one that lacks no more than
/// `missing` products.
fn chunks<M: Machine, const COUNT: usize>(machine: &M, missing: usize) -> (Jacobian<M::Fe>, M::Word) {
    let bytes = |products: usize| machine.small(u64::from(PRODUCT_BYTES) * products as u64); // usize to u64 widens
    let rounded = machine.word_op(WordOp::Add, machine.calldata_size(), bytes(missing));
    let chunks = machine.bind(machine.word_op(WordOp::Div, rounded, bytes(COUNT)));
    let sum = machine.repeat(chunks, start(machine), |machine, chunk, sum| {
        let bytes = machine.small(u64::from(PRODUCT_BYTES) * COUNT as u64); // usize to u64 widens
        with_products::<M, COUNT>(machine, machine.word_op(WordOp::Mul, chunk, bytes), sum)
    });
    (sum, machine.word_op(WordOp::Mul, chunks, bytes(COUNT)))
}

/// The sum with the products from this offset on. What is missing after the last one are zeros, and so the identity.
fn with_products<M: Machine, const COUNT: usize>(machine: &M, first: M::Word, sum: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    // Not kept on the stack: words of each product would come between.
    let first = machine.variable("first_product", first);
    let products = std::array::from_fn::<_, COUNT, _>(|number| {
        let offset = machine.small(u64::from(PRODUCT_BYTES) * number as u64); // usize to u64 widens
        product_at(machine, machine.bind(machine.word_op(WordOp::Add, machine.get(first), offset)))
    });
    let defects = products.map(|(_, point)| g1_curve_defect(machine, point));
    machine.require(machine.is_zero(all_vanish(&defects)));
    add(machine, products, sum)
}

/// The product at this offset: for the identity 0 and the generator.
fn product_at<M: Machine>(machine: &M, offset: M::Word) -> Product<M::Fe> {
    let is_finite = machine.bind(machine.not(machine.not(ENCODING.any_nonzero(machine, offset, 0..2))));
    let point = machine.branch(
        is_finite,
        |machine| ENCODING.point(machine, offset),
        |machine| {
            let Affine { x, y } = g1_generator();
            Affine::new(machine.constant(&x), machine.constant(&y))
        },
    );
    let scalar_at = machine.word_op(WordOp::Add, offset, machine.small(G1_BYTES.into()));
    let scalar = machine.word_op(WordOp::Mul, machine.calldata_word(scalar_at), is_finite);
    (machine.variable("scalar", scalar), point)
}

/// The generator twice, with the scalars 1 and that with all bits set.
fn example() -> Vec<u8> {
    let mut one = vec![0; 32];
    one[31] = 1;
    let generator = encoded_point(&g1_generator());
    [generator.clone(), one, generator, vec![0xff; 32]].concat()
}
