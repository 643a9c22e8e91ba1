//! The point evaluation of EIP-4844 (address 0x0a) as a contract: does a committed polynomial take the value y at z?
//!
//! The question is e(C − y·g₁, −g₂)·e(π, (τ − z)·g₂) = 1; `verify_kzg_proof_impl` of the consensus specifications (Deneb,
//! polynomial-commitments.md). Moved to the other side, z multiplies π: e(C − y·g₁ + z·π, −g₂)·e(π, τ·g₂) = 1. So both
//! points of G2 are constants, which need no check, and all multiples are in G1, where π's chain gives its subgroup check too.
//!
//! Lines of constant points could be constants. They would be 2·68·4 elements of 48 bytes, 26,112 bytes, more than a contract
//! may have: the steps are computed.

use crate::Contract;
use crate::bls12_381::compressed::{self, Compressed};
use num_bigint::BigUint;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::{g1_generator, g2_generator, modulus};
use residue_curves::bls12_381::torsion::ConstantCoordinate;
use residue_curves::bls12_381::{
    G1, Layout, Msm, Window, X_ABS, g1, is_final_exponentiation_one_by_root, to_affine_by_root,
};
use residue_curves::pairing::{Pairs, miller_loop};
use residue_curves::{Affine, Conditions};
use residue_formula::Number;
use residue_ir::{Capacity, Machine, Piece, WordOp};
use residue_isa::precompile::KZG_POINT_EVALUATION;
use residue_modular::fields::Bls12_381Fp;
use ruint::aliases::U256;
use std::sync::LazyLock;

/// `kzg/point_evaluation`.
pub const CONTRACT: Contract = Contract {
    name: "kzg/point_evaluation",
    summary: "does the polynomial of a blob take a value at a point? (EIP-4844, precompile 0x0a)",
    interface: "192 bytes: versioned hash, z, y (32 bytes each), commitment, proof (48 compressed bytes each); returns 64 bytes: \
                4096 and the order r; fails if the proof does not hold",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(KZG_POINT_EVALUATION),
    example,
};

/// Where the parts of calldata are. EIP-4844, “Point evaluation precompile”.
const Z_AT: u32 = 32;
const Y_AT: u32 = 64;
const COMMITMENT_AT: u32 = 96;
const PROOF_AT: u32 = 144;
const INPUT_BYTES: u32 = 192;
/// EIP-4844, `VERSIONED_HASH_VERSION_KZG` and `FIELD_ELEMENTS_PER_BLOB`.
const HASH_VERSION: u64 = 1;
const FIELD_ELEMENTS_PER_BLOB: u64 = 4096;

/// τ·g₂, compressed: `g2_monomial[1]` of the ceremony's result, `trusted_setup_4096.json` in the consensus specifications.
const TAU_G2: &str = "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72\
                      185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";

/// The text.
pub fn text<M: Machine>(machine: &M) {
    // style: S2: a program reads in the order in which it runs.
    let size = machine.small(INPUT_BYTES.into());
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let [z, y] = [Z_AT, Y_AT].map(|at| machine.bind(machine.calldata_word(machine.small(at.into()))));
    let r = machine.word(order());
    for scalar in [z, y] {
        machine.require(machine.word_op(WordOp::Lt, scalar, r));
    }
    require_hash(machine);

    let [commitment, proof] = [COMMITMENT_AT, PROOF_AT].map(|at| Compressed::new(machine, machine.small(at.into())));
    for point in [commitment, proof] {
        machine.require(point.is_compressed(machine));
    }
    let has_proof = machine.bind(machine.not(proof.is_identity(machine)));
    let require_empty = |machine: &M, point: Compressed<M::Word>| {
        machine.require(point.is_empty(machine, compressed::FP_BYTES));
    };

    // C − y·g₁ + z·π.
    let sum = Msm::<M, G1>::new(machine, Layout::by_calls(Window::Nibble, 16));
    sum.clear(machine);
    let with_commitment = |machine: &M| {
        let point = commitment.g1(machine, M::require);
        sum.add_once(machine, point);
        g1::membership(machine, point)
    };
    let conditions = machine.branch(
        commitment.is_identity(machine),
        |machine| {
            require_empty(machine, commitment);
            Conditions::none(machine)
        },
        with_commitment,
    );
    let points = machine.array("kzg_points", Capacity::Fixed(2));
    let Affine { x, y: generator_y } = g1_generator();
    machine.store(points, machine.small(0), Affine::new(machine.constant(&x), machine.constant(&generator_y)));
    machine.branch(
        has_proof,
        |machine| machine.store(points, machine.small(1), proof.g1(machine, M::require)),
        |machine| require_empty(machine, proof),
    );
    let count = machine.word_op(WordOp::Add, has_proof, machine.small(1));
    let minus_y = machine.bind(machine.word_op(WordOp::Sub, r, y));
    let conditions = machine.repeat(count, conditions, |machine, number, conditions| {
        let of_proof = machine.word_op(WordOp::Mul, z, number);
        let of_generator = machine.word_op(WordOp::Mul, minus_y, machine.not(number));
        let scalar = machine.word_op(WordOp::Add, of_proof, of_generator);
        conditions.and(sum.add(machine, scalar, machine.load(points, number)))
    });
    machine.require(conditions.hold(machine));
    let total = sum.finish(machine);

    let is_identity = machine.is_zero(total.z);
    let check = |machine: &M| {
        machine.require(machine.not(is_identity));
        let pairs = Pairs::new(machine, machine.small(2));
        let constant = |point: &Affine<Fp2<BigUint>>| Affine::new(point.x.lift(machine), point.y.lift(machine));
        let g2 = constant(&g2_generator());
        pairs.store(machine, machine.small(0), to_affine_by_root::<M, G1>(machine, total), Affine::new(g2.x, -g2.y));
        pairs.store(machine, machine.small(1), machine.load(points, machine.small(1)), constant(&TAU_G2_POINT));
        // The constant points are in G2: what has to hold for that does.
        let (f, _) = miller_loop(machine, &pairs, machine.small(2), Conditions::none(machine));
        machine.require(is_final_exponentiation_one_by_root(machine, f));
    };
    // Without a proof the second pairing is one, and so must be the first.
    machine.branch(has_proof, check, |machine| machine.require(is_identity));
    // Two words, which are one number below p.
    let order = BigUint::from_bytes_be(&order().to_be_bytes::<32>());
    machine.return_elements(machine.constant(&((BigUint::from(FIELD_ELEMENTS_PER_BLOB) << 256u32) + order)), 64);
}

/// Requires that the versioned hash is that of the commitment: `kzg_to_versioned_hash` of EIP-4844.
fn require_hash<M: Machine>(machine: &M) {
    let [offset, size_bytes] = [COMMITMENT_AT, compressed::FP_BYTES].map(|number| machine.small(number.into()));
    let hash = machine.sha256(&[Piece::Calldata { offset, size_bytes }]);
    let after_version =
        machine.word_op(WordOp::Shr, machine.word_op(WordOp::Shl, hash, machine.small(8)), machine.small(8));
    let version = machine.word(U256::from(HASH_VERSION) << 248);
    let expected = machine.word_op(WordOp::Or, after_version, version);
    machine.require(machine.word_op(WordOp::Eq, expected, machine.calldata_word(machine.small(0))));
}

/// r = x⁴ − x² + 1.
fn order() -> U256 {
    let square = U256::from(X_ABS) * U256::from(X_ABS);
    square * square - square + U256::ONE
}

static TAU_G2_POINT: LazyLock<Affine<Fp2<BigUint>>> = LazyLock::new(|| {
    let mut bytes = hex::decode(TAU_G2).expect("the constant has two digits for each byte");
    let flags = bytes[0] >> 5;
    bytes[0] &= 0x1f;
    let element = |bytes: &[u8]| Bls12_381Fp::from_canonical(&BigUint::from_bytes_be(bytes)).expect("it is below p");
    let (c1, c0) = bytes.split_at(compressed::FP_BYTES as usize); // u32 to usize widens
    let x = Fp2::new(element(c0), element(c1));
    let y = (x.square() * x + Fp2::<Bls12_381Fp>::b()).root().expect("the point lies on the twist");
    let is_larger = y.c1.to_canonical() > (-y.c1).to_canonical();
    let y = if is_larger == (flags == 0b101) { y } else { -y };
    let canonical = |value: Fp2<Bls12_381Fp>| Fp2::new(value.c0.to_canonical(), value.c1.to_canonical());
    Affine::new(canonical(x), canonical(y))
});

/// The polynomial τ ↦ 3 + 5·τ at z = 7, by `tests/contracts/point_evaluation.rs`.
fn example() -> Vec<u8> {
    let digits: String = include_str!("evaluation.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
