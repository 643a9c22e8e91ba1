//! The point evaluation answers as the precompile of EIP-4844 does, byte for byte, on good input and bad input of every kind.
//!
//! `RESIDUE_CASES=2000` takes as many inputs instead of each kind once; `RESIDUE_WRITE_TABLES=1` writes the table of
//! `docs/eip2537.md` anew.

use crate::points::{SMALL_G1, Seeded};
use ark_bls12_381::{Fr, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, BigInteger, Field, PrimeField};
use num_bigint::BigUint;
use residue_compiler::compile;
use residue_contracts::kzg::point_evaluation::CONTRACT;
use residue_engine::{Engine, EngineConfig, Fork, Halt, Prepared, native};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::native;

/// More than it takes under any revision.
const GAS: u64 = 10_000_000;

/// x of τ·g₁ and τ²·g₁, compressed: `g1_monomial[1]` and `[2]` of the ceremony's result, `trusted_setup_4096.json` in the consensus
/// specifications.
const TAU_POWERS: [&str; 2] = [
    "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81",
    "8029c8ce0d2dce761a7f29c2df2290850c85bdfaec2955626d7acc8864aeb01fe16c9e156863dc63b6c22553910e27c1",
];

/// The parts of an input.
#[derive(Clone)]
struct Evaluation {
    z: Vec<u8>,
    y: Vec<u8>,
    commitment: Vec<u8>,
    proof: Vec<u8>,
}

impl Evaluation {
    fn new(z: Fr, y: Fr, commitment: G1Affine, proof: G1Affine) -> Self {
        let bytes = |scalar: Fr| scalar.into_bigint().to_bytes_be();
        Self { z: bytes(z), y: bytes(y), commitment: compress(commitment), proof: compress(proof) }
    }

    /// a₀ + a₁·X + a₂·X² at z. The quotient by X − z of what is left is a₁ + a₂·z + a₂·X.
    fn of(polynomial: [Fr; 3], z: Fr) -> Self {
        let [a0, a1, a2] = polynomial;
        let powers = [G1Affine::generator(), tau_power(1), tau_power(2)];
        let commitment = powers[0] * a0 + powers[1] * a1 + powers[2] * a2;
        let proof = powers[0] * (a1 + a2 * z) + powers[1] * a2;
        Self::new(z, a0 + a1 * z + a2 * z * z, commitment.into_affine(), proof.into_affine())
    }

    fn encode(&self) -> Vec<u8> {
        let mut hash = native::precompile(Fork::default(), 2, &self.commitment, u64::MAX).unwrap().output;
        hash[0] = 1;
        [&hash[..], &self.z, &self.y, &self.commitment, &self.proof].concat()
    }
}

/// draft-irtf-cfrg-pairing-friendly-curves-11, appendix C.
fn compress(point: G1Affine) -> Vec<u8> {
    let Some((x, y)) = point.xy() else { return [vec![0xc0], vec![0; 47]].concat() };
    let mut bytes = x.into_bigint().to_bytes_be();
    bytes[0] |= if y > -y { 0xa0 } else { 0x80 };
    bytes
}

fn tau_power(power: usize) -> G1Affine {
    let mut bytes = hex::decode(TAU_POWERS[power - 1]).unwrap();
    let is_larger = bytes[0] & 0x20 != 0;
    bytes[0] &= 0x1f;
    let x = ark_bls12_381::Fq::from(BigUint::from_bytes_be(&bytes));
    let point = G1Affine::get_point_from_x_unchecked(x, is_larger).unwrap();
    assert!(point.is_in_correct_subgroup_assuming_on_curve());
    point
}

/// A compressed point with one of small order added.
fn with_small_order(bytes: &[u8], seeded: &mut Seeded) -> Vec<u8> {
    let mut x = bytes.to_vec();
    let is_larger = x[0] & 0x20 != 0;
    x[0] &= 0x1f;
    let x = ark_bls12_381::Fq::from(BigUint::from_bytes_be(&x));
    let point = G1Affine::get_point_from_x_unchecked(x, is_larger).unwrap();
    compress((point.into_group() + seeded.pick(&*SMALL_G1)).into_affine())
}

fn fr(seeded: &mut Seeded) -> Fr {
    Fr::from(seeded.scalar())
}

fn random(seeded: &mut Seeded) -> Evaluation {
    let polynomial = [fr(seeded), fr(seeded), fr(seeded)];
    Evaluation::of(polynomial, fr(seeded))
}

fn word(number: &BigUint) -> Vec<u8> {
    let digits = number.to_bytes_be();
    [vec![0; 32 - digits.len()], digits].concat()
}

/// Something to be proven, changed.
fn changed(seeded: &mut Seeded, change: impl FnOnce(&mut Evaluation, &mut Seeded)) -> Vec<u8> {
    let mut evaluation = random(seeded);
    change(&mut evaluation, seeded);
    evaluation.encode()
}

/// A kind of input, and whether the precompile takes it.
type Kind = (&'static str, bool, fn(&mut Seeded) -> Vec<u8>);

const ZERO: Fr = Fr::ZERO;

const KINDS: &[Kind] = &[
    ("a polynomial of degree two", true, |s| random(s).encode()),
    ("one of degree one", true, |s| Evaluation::of([fr(s), fr(s), ZERO], fr(s)).encode()),
    ("a constant, whose proof is the identity", true, |s| Evaluation::of([fr(s), ZERO, ZERO], fr(s)).encode()),
    ("zero", true, |s| Evaluation::of([ZERO; 3], fr(s)).encode()),
    ("at zero", true, |s| Evaluation::of([fr(s), fr(s), fr(s)], ZERO).encode()),
    ("a root", true, |s| {
        let (z, a) = (fr(s), fr(s));
        Evaluation::of([-a * z, a, ZERO], z).encode()
    }),
    ("X at −1", true, |_| Evaluation::of([ZERO, Fr::ONE, ZERO], -Fr::ONE).encode()),
    ("the commitment g₁, the proof g₁", false, |s| {
        let g1 = G1Affine::generator();
        Evaluation::new(fr(s), fr(s), g1, g1).encode()
    }),
    ("all multiples of g₁, which cancel", false, |s| {
        let (z, y, g1) = (fr(s), fr(s), G1Affine::generator());
        Evaluation::new(z, y, (g1 * (y - z)).into_affine(), g1).encode()
    }),
    ("C − y·g₁ + z·π is the identity, π is not", false, |s| {
        let (z, y, proof) = (fr(s), fr(s), s.g1());
        Evaluation::new(z, y, (G1Affine::generator() * y - proof * z).into_affine(), proof).encode()
    }),
    ("the identity for a proof that is another", false, |s| {
        changed(s, |e, _| e.proof = compress(G1Affine::identity()))
    }),
    ("the identity for the commitment", false, |s| changed(s, |e, _| e.commitment = compress(G1Affine::identity()))),
    ("a constant with another value", false, |s| {
        let (y, other) = (fr(s), fr(s));
        Evaluation::new(fr(s), y, (G1Affine::generator() * other).into_affine(), G1Affine::identity()).encode()
    }),
    ("another point", false, |s| changed(s, |e, s| e.z = word(&s.scalar()))),
    ("another value", false, |s| changed(s, |e, s| e.y = word(&s.scalar()))),
    ("another proof", false, |s| changed(s, |e, s| e.proof = compress(s.g1()))),
    ("another commitment", false, |s| changed(s, |e, s| e.commitment = compress(s.g1()))),
    ("the proof negated", false, |s| changed(s, |e, _| e.proof[0] ^= 0x20)),
    ("the commitment negated", false, |s| changed(s, |e, _| e.commitment[0] ^= 0x20)),
    ("z + r", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), fr(s), ZERO], Fr::from(5u8));
        evaluation.z = word(&(crate::points::r() + 5u32));
        evaluation.encode()
    }),
    ("z is r, for 0", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), fr(s), ZERO], ZERO);
        evaluation.z = word(&crate::points::r());
        evaluation.encode()
    }),
    ("y is r, for 0", false, |_| {
        let mut evaluation = Evaluation::of([ZERO; 3], ZERO);
        evaluation.y = word(&crate::points::r());
        evaluation.encode()
    }),
    ("all bits of y", false, |s| changed(s, |e, _| e.y = vec![0xff; 32])),
    ("another version", false, |s| {
        let mut bytes = random(s).encode();
        bytes[0] = s.pick(&[0, 2, 3, 255]);
        bytes
    }),
    ("another hash", false, |s| {
        let mut bytes = random(s).encode();
        bytes[1 + s.below(31)] ^= 1 << s.below(8);
        bytes
    }),
    ("a proof outside the subgroup", false, |s| changed(s, |e, s| e.proof = compress(s.curve_point()))),
    ("a commitment outside the subgroup", false, |s| changed(s, |e, s| e.commitment = compress(s.curve_point()))),
    ("a proof of small order", false, |s| changed(s, |e, s| e.proof = compress(s.pick(&*SMALL_G1)))),
    ("a commitment of small order", false, |s| changed(s, |e, s| e.commitment = compress(s.pick(&*SMALL_G1)))),
    ("a proof that is off by a point of small order", false, |s| {
        changed(s, |e, s| e.proof = with_small_order(&e.proof, s))
    }),
    ("a commitment that is off by a point of small order", false, |s| {
        changed(s, |e, s| e.commitment = with_small_order(&e.commitment, s))
    }),
    ("both off by points of small order", false, |s| {
        changed(s, |e, s| {
            e.proof = with_small_order(&e.proof, s);
            e.commitment = with_small_order(&e.commitment, s);
        })
    }),
    ("a constant that is off by a point of small order", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), ZERO, ZERO], fr(s));
        evaluation.commitment = with_small_order(&evaluation.commitment, s);
        evaluation.encode()
    }),
    ("a point of small order for the constant zero", false, |s| {
        Evaluation::new(fr(s), ZERO, s.pick(&*SMALL_G1), G1Affine::identity()).encode()
    }),
    ("a constant negated", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), ZERO, ZERO], fr(s));
        evaluation.commitment[0] ^= 0x20;
        evaluation.encode()
    }),
    ("a constant with the value zero", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), ZERO, ZERO], fr(s));
        evaluation.y = vec![0; 32];
        evaluation.encode()
    }),
    ("the constant zero with another value", false, |s| {
        let mut evaluation = Evaluation::of([ZERO; 3], fr(s));
        evaluation.y = word(&s.scalar());
        evaluation.encode()
    }),
    ("no flag of compression", false, |s| changed(s, |e, _| e.proof[0] &= 0x7f)),
    ("no flag of compression on the commitment", false, |s| changed(s, |e, _| e.commitment[0] &= 0x7f)),
    ("the identity with something after", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), ZERO, ZERO], fr(s));
        evaluation.proof[s.below(48)] |= 1;
        evaluation.encode()
    }),
    ("the identity with a sign", false, |s| {
        let mut evaluation = Evaluation::of([fr(s), ZERO, ZERO], fr(s));
        evaluation.proof[0] |= 0x20;
        evaluation.encode()
    }),
    ("the identity without the flag of compression", false, |s| {
        let mut evaluation = Evaluation::of([ZERO; 3], fr(s));
        evaluation.commitment[0] = 0x40;
        evaluation.encode()
    }),
    ("x is p", false, |s| {
        changed(s, |e, _| {
            e.proof = crate::points::p().to_bytes_be();
            e.proof[0] |= 0x80;
        })
    }),
    ("a byte too few", false, |s| random(s).encode()[..191].to_vec()),
    ("a byte too many", false, |s| [random(s).encode(), vec![0]].concat()),
    ("nothing", false, |_| Vec::new()),
    ("a bit of the points turned", false, |s| {
        let mut bytes = random(s).encode();
        bytes[96 + s.below(96)] ^= 1 << s.below(8);
        bytes
    }),
];

/// The contract ends as the precompile does. Returns whether that took the input.
#[track_caller]
fn check(prepared: &mut Prepared, input: &[u8], what: &str) -> bool {
    let native = native(&CONTRACT, input).unwrap();
    let outcome = prepared.run_without_memory(input, GAS);
    match &native {
        Ok(native) => assert_eq!((outcome.halt, &outcome.output), (Halt::Return, &native.output), "{what}"),
        Err(_) => {
            assert!(outcome.halt.is_exceptional(), "{what}: {:?}", outcome.halt);
            assert_ne!(outcome.halt, Halt::OutOfGas, "{what}");
        }
    }
    native.is_ok()
}

fn prepared(revision: Revision) -> Prepared {
    let code = compile(&CONTRACT.program(), revision, &GasSchedule::default_for(revision).unwrap()).unwrap().code;
    Engine::new(EngineConfig::default_for(revision)).unwrap().prepare(&code)
}

#[test]
fn the_contract_answers_as_the_precompile() {
    let cases = residue_extent::cases(KINDS.len());
    let mut prepared = prepared(Revision::Eip6690_2024);
    for case in 0..cases {
        let (name, is_taken, make) = KINDS[case % KINDS.len()];
        let input = make(&mut Seeded(case as u64));
        assert_eq!(check(&mut prepared, &input, &format!("{name}, seed {case}")), is_taken, "{name}, seed {case}");
    }
}

#[test]
fn every_revision_evaluates() {
    let mut seeded = Seeded(1);
    let right = random(&mut seeded);
    let wrong = Evaluation { y: right.z.clone(), ..right.clone() };
    let constant = Evaluation::of([fr(&mut seeded), ZERO, ZERO], fr(&mut seeded));
    for &revision in Revision::ALL {
        let mut prepared = prepared(revision);
        for (evaluation, is_taken) in [(&right, true), (&wrong, false), (&constant, true)] {
            assert_eq!(check(&mut prepared, &evaluation.encode(), revision.name()), is_taken, "{revision}");
        }
    }
}

#[test]
fn the_example_is_a_line_at_seven() {
    let expected = Evaluation::of([3u8, 5, 0].map(Fr::from), Fr::from(7u8)).encode();
    assert_eq!(hex::encode((CONTRACT.example)()), hex::encode(expected));
}

#[test]
fn the_table_of_the_page_is_what_it_costs() {
    let revision = Revision::Eip6690_2024;
    let compiled = compile(&CONTRACT.program(), revision, &GasSchedule::default_for(revision).unwrap()).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut table = String::from(
        "| polynomial | gas | price | ratio | arithmetic | transfer | growth | control |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut seeded = Seeded(4844);
    let constant = Evaluation::of([fr(&mut seeded), ZERO, ZERO], fr(&mut seeded));
    for (name, evaluation) in [("of degree two", random(&mut seeded)), ("constant", constant)] {
        let input = evaluation.encode();
        let price = native(&CONTRACT, &input).unwrap().unwrap().gas_used;
        let counted = engine.run_counted(&compiled.code, &input, GAS);
        assert_eq!(counted.outcome.halt, Halt::Return);
        let (gas, split) = (counted.outcome.gas_used, counted.gas_split);
        let parts = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
        let line = format!("| {name} | {} | {} | {} | {parts} |\n", grouped(gas), grouped(price), ratio(gas, price));
        table.push_str(&line);
    }
    // Constant lines alone are more than the 24 KiB of EIP-170: the limit is that of EIP-7954.
    assert!(compiled.code.len() <= 65_536, "{} bytes of code", compiled.code.len());
    let sizes = [compiled.code.len() as u64, u64::from(compiled.slots)].map(grouped); // usize to u64 widens
    table.push_str(&format!("\nThe contract is {} bytes of code and uses {} slots.\n", sizes[0], sizes[1]));
    residue_pages::hold("docs/eip2537.md", "point evaluation", &table);
}
