//! The point evaluation of EIP-4844 (address 0x0a) as a contract: does a committed polynomial take the value y at z?
//!
//! The question is e(C − y·g₁, −g₂)·e(π, (τ − z)·g₂) = 1; `verify_kzg_proof_impl` of the consensus specifications (Deneb,
//! polynomial-commitments.md). Moved to the other side, z multiplies π: e(C − y·g₁ + z·π, −g₂)·e(π, τ·g₂) = 1. So both
//! points of G2 are constants, which need no check, and all multiples are in G1: one sum, see [`residue_curves::bls12_381::opening`], after the
//! subgroup checks of C and π side by side, which give |x|·π.
//!
//! Lines of constant points are constants: 2·68·4 elements of 48 bytes, 26,112 bytes. That is more than the 24 KiB of EIP-170 and with a comb of
//! 12,288 bytes for y·g₁ less than the 64 KiB of EIP-7954.

use crate::Contract;
use crate::bls12_381::compressed::{self, Compressed};
use num_bigint::BigUint;
use residue_curves::bls12_381::constants::{g1_generator, g2_generator, modulus};
use residue_curves::bls12_381::opening::FixedAndFree;
use residue_curves::bls12_381::torsion::{ConstantCoordinate, multiple};
use residue_curves::bls12_381::{Bls12_381, Fp2, X_ABS, g1, invert};
use residue_curves::conditions::all_vanish;
use residue_curves::pairing::fixed::{FixedPoint, lines, miller_loop};
use residue_curves::pairing::is_final_exponentiation_one_in_long_code;
use residue_curves::{Affine, Conditions, Jacobian};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Piece, WordOp};
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

/// Offsets of the parts of calldata, in bytes. EIP-4844, “Point evaluation precompile”.
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
    let [has_commitment, has_proof] =
        [commitment, proof].map(|point| machine.bind(machine.not(point.is_identity(machine))));
    let require_empty = |machine: &M, point: Compressed<M::Word>| {
        machine.require(point.is_empty(machine, compressed::FP_BYTES));
    };

    // Where a point is the identity, g₁ stands in, which is in G1.
    let or_generator = |machine: &M, point: Compressed<M::Word>| {
        require_empty(machine, point);
        GENERATOR.lift(machine)
    };
    let c = machine.branch(
        has_commitment,
        |machine| commitment.g1(machine, M::require),
        |machine| or_generator(machine, commitment),
    );
    let (pi, multiple, conditions) = machine.branch(
        has_proof,
        |machine| {
            let pi = proof.g1(machine, M::require);
            let (conditions, [_, multiple]) = g1::membership_with_multiples(machine, [c, pi]);
            (pi, multiple, conditions)
        },
        |machine| {
            let multiple = GENERATOR_BY_X.lift(machine).to_jacobian(machine.one());
            (or_generator(machine, proof), multiple, Conditions::none(machine))
        },
    );
    machine.require(conditions.hold(machine));
    // −y·g₁ + z·π.
    let scalars = [y, machine.bind(machine.word_op(WordOp::Mul, z, has_proof))];
    let sum = SUM.sum(machine, scalars, pi, multiple);

    let check = |machine: &M| {
        let sum = machine.branch(has_commitment, |_| sum.add_mixed(c), |_| sum);
        require_pairings(machine, SUM.finish(machine, sum), pi);
    };
    // Without a proof the second pairing is one, and so must be the first: C is y·g₁, and in G1 if it is.
    let check_value = |machine: &M| {
        let opposite = SUM.finish(machine, sum);
        machine.branch(
            has_commitment,
            |machine| machine.require(are_opposite(c, opposite).hold(machine)),
            |machine| machine.require(machine.is_zero(opposite.z)),
        );
    };
    machine.branch(has_proof, check, check_value);
    // Two words, which are one number below p.
    let order = BigUint::from_bytes_be(&order().to_be_bytes::<32>());
    machine.return_elements(machine.constant(&((BigUint::from(FIELD_ELEMENTS_PER_BLOB) << 256u32) + order)), 64);
}

/// Requires that P is not the identity and e(P, −g₂)·e(π, τ·g₂) = 1.
fn require_pairings<M: Machine>(machine: &M, p: Jacobian<M::Fe>, pi: Affine<M::Fe>) {
    machine.require(machine.not(machine.is_zero(p.z)));
    // Neither y is 0: the order is odd.
    let inverse = invert(machine, p.y * pi.y);
    let (of_p, of_pi) = (inverse * pi.y, inverse * p.y);
    let points = [
        FixedPoint { x_over_y: p.x * p.z * of_p, inverse_y: p.z * p.z * p.z * of_p },
        FixedPoint { x_over_y: pi.x * of_pi, inverse_y: of_pi },
    ];
    let table = machine.table("kzg_lines", &LINES);
    let (f, _) = miller_loop::<M, Bls12_381, 0, 2, 0>(machine, [], points, table, []);
    machine.require(is_final_exponentiation_one_in_long_code(machine, f));
}

/// Conditions that hold exactly if P = −Q, for an affine P.
fn are_opposite<F: Fe>(p: Affine<F>, q: Jacobian<F>) -> Conditions<F> {
    let zz = q.z.square();
    let [dx, dy] = [p.x * zz - q.x, p.y * (zz * q.z) + q.y];
    Conditions { vanishing: all_vanish(&[dx, dy]), invertible: q.z }
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

/// A point of the program, as a constant.
struct Constant(Affine<Bls12_381Fp>);

impl Constant {
    fn lift<M: Machine>(&self, machine: &M) -> Affine<M::Fe> {
        let Affine { x, y } = self.0;
        Affine::new(machine.constant(&x.to_canonical()), machine.constant(&y.to_canonical()))
    }
}

/// g₁.
static GENERATOR: LazyLock<Constant> = LazyLock::new(|| {
    let Affine { x, y } = g1_generator();
    Constant(Affine::new(element(&x), element(&y)))
});

/// |x|·g₁.
static GENERATOR_BY_X: LazyLock<Constant> =
    LazyLock::new(|| Constant(multiple(GENERATOR.0, &X_ABS.into()).expect("|x| is below the order")));

/// (y, z, π) ↦ −y·g₁ + z·π.
static SUM: LazyLock<FixedAndFree> = LazyLock::new(|| FixedAndFree::new(Affine::new(GENERATOR.0.x, -GENERATOR.0.y)));

/// The lines of −g₂ and τ·g₂, both in G2.
static LINES: LazyLock<Vec<Vec<BigUint>>> = LazyLock::new(|| {
    let Affine { x, y } = g2_generator();
    let fp2 = |value: &Fp2<BigUint>| Fp2::new(element(&value.c0), element(&value.c1));
    lines(&[Affine::new(fp2(&x), -fp2(&y)), tau_g2()])
});

fn element(value: &BigUint) -> Bls12_381Fp {
    Bls12_381Fp::from_canonical(value).expect("constants are below p")
}

/// [`TAU_G2`], decompressed.
fn tau_g2() -> Affine<Fp2<Bls12_381Fp>> {
    let mut bytes = hex::decode(TAU_G2).expect("the constant has two digits for each byte");
    let flags = bytes[0] >> 5;
    bytes[0] &= 0x1f;
    let (c1, c0) = bytes.split_at(compressed::FP_BYTES as usize); // u32 to usize widens
    let x = Fp2::new(element(&BigUint::from_bytes_be(c0)), element(&BigUint::from_bytes_be(c1)));
    let y = (x.square() * x + Fp2::<Bls12_381Fp>::b()).root().expect("the point lies on the twist");
    let is_larger = y.c1.to_canonical() > (-y.c1).to_canonical();
    let y = if is_larger == (flags == 0b101) { y } else { -y };
    Affine::new(x, y)
}

/// The polynomial τ ↦ 3 + 5·τ at z = 7, by `tests/contracts/point_evaluation.rs`.
fn example() -> Vec<u8> {
    let digits: String = include_str!("evaluation.hex").split_whitespace().collect();
    hex::decode(digits).expect("the file has two digits for each byte")
}
