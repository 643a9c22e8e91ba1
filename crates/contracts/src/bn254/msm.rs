//! A sum of multiples on BN254's G1 as a contract; no precompile computes it.

use super::{ENCODING, FP_BYTES, G1_BYTES, encoded_point};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bn254::msm::{POINTS, add, complete, finish, identity, start};
use residue_curves::bn254::{g1_curve_defect, g1_generator, invert, modulus};
use residue_curves::conditions::all_vanish;
use residue_ir::{Machine, WordOp};

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

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let small = |value: u64| machine.small(value);
    let size = machine.calldata_size();
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, small(PRODUCT_BYTES.into()))));
    let chunk_bytes = u64::from(PRODUCT_BYTES) * POINTS as u64; // usize to u64 widens
    let rounded = machine.word_op(WordOp::Add, size, small(chunk_bytes - 1));
    let chunks = machine.bind(machine.word_op(WordOp::Div, rounded, small(chunk_bytes)));
    let sum = machine.repeat(chunks, start(machine), |machine, chunk, sum| {
        let first = machine.bind(machine.word_op(WordOp::Mul, chunk, machine.small(chunk_bytes)));
        // What is missing in the last chunk are zeros, and so the identity.
        let products = std::array::from_fn::<_, POINTS, _>(|number| {
            let offset = machine.small(u64::from(PRODUCT_BYTES) * number as u64); // usize to u64 widens
            product(machine, machine.bind(machine.word_op(WordOp::Add, first, offset)))
        });
        let defects = products.map(|(_, point)| g1_curve_defect(machine, point));
        machine.require(machine.is_zero(all_vanish(&defects)));
        add(machine, products, sum)
    });
    finish(
        machine,
        sum,
        |machine, point| machine.return_elements(point, FP_BYTES),
        |machine| machine.return_elements(Affine::new(machine.zero(), machine.zero()), FP_BYTES),
    );
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), machine.small(PRODUCT_BYTES.into()));
    let sum = machine.repeat(machine.bind(count), identity(machine), |machine, number, sum| {
        let offset = machine.word_op(WordOp::Mul, number, machine.small(PRODUCT_BYTES.into()));
        let (scalar, point) = product(machine, machine.bind(offset));
        complete(machine, scalar, point, sum)
    });
    let inverse = invert(machine, sum.z); // 0 for the identity
    machine.return_elements(Affine::new(sum.x * inverse, sum.y * inverse), FP_BYTES);
}

/// The scalar and the point at `offset`: for the identity 0 and the generator.
fn product<M: Machine>(machine: &M, offset: M::Word) -> (M::Word, Affine<M::Fe>) {
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
    (machine.get(machine.variable("scalar", scalar)), point)
}

/// The generator twice, with the scalars 1 and that with all bits set.
fn example() -> Vec<u8> {
    let mut one = vec![0; 32];
    one[31] = 1;
    let generator = encoded_point(&g1_generator());
    [generator.clone(), one, generator, vec![0xff; 32]].concat()
}
