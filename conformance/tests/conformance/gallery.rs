//! The programs of `examples/ir/`: their results are judged, and the recorded ones equal the recorder's output today.
//!
//! `RESIDUE_WRITE_EXAMPLES=1 cargo test -p residue-conformance --test conformance gallery` writes the latter.

use num_bigint::BigUint;
use residue_compiler::compile;
use residue_conformance::workspace;
use residue_curves::complete::{AZero, multiply};
use residue_curves::{Projective, pow_constant};
use residue_engine::{Engine, EngineConfig};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Numbers, Outcome, Program, evaluate, evaluate_within, record, text, verify};
use residue_isa::{GasSchedule, Revision};
use residue_modular::fields::{Bn254Fr, P256Fp, Secp256k1Fp};
use std::fs;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    workspace::root().join("examples/ir").join(name)
}

/// Reads a file; with the variable set it is written first.
fn held(name: &str, content: &str) -> String {
    if std::env::var_os("RESIDUE_WRITE_EXAMPLES").is_some() {
        fs::write(path(name), content).unwrap();
    }
    fs::read_to_string(path(name)).unwrap()
}

fn input(name: &str) -> Vec<u8> {
    hex::decode(fs::read_to_string(path(name)).unwrap().trim().trim_start_matches("0x")).unwrap()
}

fn program(name: &str) -> Program {
    let program = text::parse(&fs::read_to_string(path(name)).unwrap()).unwrap();
    verify(&program).unwrap();
    program
}

/// The program returns this, evaluated and compiled for every revision that can express it.
fn check(program: &Program, calldata: &[u8], expected: &[BigUint]) {
    let bytes: Vec<u8> = expected.iter().flat_map(word).collect();
    assert_eq!(evaluate(program, calldata), Outcome::Returned(bytes.clone()), "{}", program.name);
    let mut compiled = 0;
    for &revision in Revision::ALL {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let Ok(code) = compile(program, revision, &schedule) else { continue };
        let engine = Engine::new(EngineConfig::new(revision, schedule)).unwrap();
        let outcome = engine.run_code(&code.code, calldata, 1 << 40);
        assert_eq!(outcome.output, bytes, "{} under {revision}", program.name);
        compiled += 1;
    }
    assert!(compiled > 15, "{} compiles for {compiled} revisions", program.name);
}

fn word(value: &BigUint) -> [u8; 32] {
    let digits = value.to_bytes_be();
    let mut bytes = [0; 32];
    bytes[32 - digits.len()..].copy_from_slice(&digits);
    bytes
}

#[test]
fn a_polynomial_has_its_value() {
    let program = program("polynomial.ir");
    let m = Bn254Fr::modulus();
    let cases: [&[u32]; 4] = [&[3, 1, 2, 3], &[7, 5], &[2, 1, 0, 0, 0, 0, 0, 0, 9], &[5]];
    for numbers in cases {
        let (x, coefficients) = (numbers[0], &numbers[1..]);
        let value = coefficients.iter().fold(BigUint::ZERO, |value, coefficient| value * x + coefficient);
        let calldata: Vec<u8> = numbers.iter().flat_map(|&number| word(&number.into())).collect();
        check(&program, &calldata, &[value % &m]);
    }
    let minus_one = &m - 1u32;
    let calldata: Vec<u8> = [&minus_one, &minus_one, &minus_one].into_iter().flat_map(word).collect();
    check(&program, &calldata, &[BigUint::ZERO]); // −x − 1 at −1
    check(&program, &input("polynomial.hex"), &[18u32.into()]); // x² + 2x + 3 at 3
}

/// Calldata: x and y of a point of secp256k1, then a scalar. Returns x and y of the multiple; zeros for the identity.
fn point_multiple<M: Machine>(machine: &M) {
    let [x, y] = [0, 32].map(|offset| machine.parse(machine.small(offset), 32));
    let scalar = machine.bind(machine.calldata_word(machine.small(64)));
    let (zero, one, b3) = (machine.zero(), machine.one(), machine.constant(&21u32.into()));
    let point = Projective { x, y, z: one };
    let identity = Projective { x: zero, y: one, z: zero };
    let multiple = multiply(machine, scalar, point, identity, &AZero(|c| c * b3));
    let inverse = pow_constant(multiple.z, &(Secp256k1Fp::modulus() - 2u32));
    machine.return_elements([multiple.x * inverse, multiple.y * inverse], 32);
}

/// Multiples of the generator: SEC 2, version 2.0, §2.4.1; 2·G and the order's neighbours follow from the curve's equation.
#[test]
fn a_point_multiple_is_that_of_numbers() {
    let recorded = text::print(&record("point_multiple", &Secp256k1Fp::modulus(), |machine| point_multiple(machine)));
    assert_eq!(held("point_multiple.ir", &recorded), recorded);
    let hex = |digits: &[u8]| BigUint::parse_bytes(digits, 16).unwrap();
    let x = hex(b"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    let y = hex(b"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8");
    let order = hex(b"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    let program = program("point_multiple.ir");
    let calldata = |scalar: &BigUint| [word(&x), word(&y), word(scalar)].concat();
    check(&program, &calldata(&1u32.into()), &[x.clone(), y.clone()]);
    check(&program, &calldata(&order), &[BigUint::ZERO, BigUint::ZERO]);
    check(&program, &calldata(&(&order - 1u32)), &[x.clone(), Secp256k1Fp::modulus() - &y]);
    let twice = [
        hex(b"c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"),
        hex(b"1ae168fea63dc339a3c58419466ceaeef7f632653266d0e1236431a950cfe52a"),
    ];
    check(&program, &calldata(&2u32.into()), &twice);
    assert_eq!(input("point_multiple.hex"), calldata(&2u32.into()));
}

/// 2·G on P-256, whose generator is that of SEC 2, version 2.0, §2.4.2: the coordinates are those that follow from the curve's equation,
/// and whatever Z the point comes with, twice the point is the same.
#[test]
fn a_doubling_on_p256_is_twice_the_point() {
    let program = program("p256_double.ir");
    let hex = |digits: &[u8]| BigUint::parse_bytes(digits, 16).unwrap();
    let m = P256Fp::modulus();
    let point = [
        hex(b"6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
        hex(b"4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
    ];
    let twice = [
        hex(b"7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978"),
        hex(b"07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1"),
    ];
    let jacobian =
        |[x, y]: &[BigUint; 2], z: &BigUint| [x * z.pow(2) % &m, y * z.pow(3) % &m, z.clone()].map(|value| value % &m);
    for z in [1u32, 2, 0xffff_fffb].map(BigUint::from) {
        let [x, y, z] = jacobian(&point, &z);
        let calldata: Vec<u8> = [&x, &y, &z].into_iter().flat_map(word).collect();
        check(&program, &calldata, &jacobian(&twice, &((&y + &y) * &z % &m)));
    }
    assert_eq!(input("p256_double.hex"), jacobian(&point, &1u32.into()).iter().flat_map(word).collect::<Vec<u8>>());
}

/// Rounds of Poseidon for two inputs: Grassi et al. 2019 (2019/458), table 2; x⁵ over the scalar field of BN254, as circomlib has it.
const FULL: usize = 8;
const PARTIAL: usize = 57;

/// The constants of the rounds, and the matrix. 2019/458, appendix F.
fn poseidon_constants() -> (Vec<BigUint>, Vec<BigUint>) {
    let mut bits = Grain::new(254, 3, FULL, PARTIAL);
    let m = Bn254Fr::modulus();
    let constants = std::iter::repeat_with(|| bits.number(254)).filter(|number| *number < m);
    let constants: Vec<BigUint> = constants.take(3 * (FULL + PARTIAL)).collect();
    let points: Vec<BigUint> = (0..6).map(|_| bits.number(254) % &m).collect();
    let inverse = |sum: BigUint| Bn254Fr::from_canonical(&(sum % &m)).unwrap().inverse().unwrap().to_canonical();
    let matrix = (0..9).map(|entry| inverse(&points[entry / 3] + &points[3 + entry % 3])).collect();
    (constants, matrix)
}

/// The shift register that constants come from.
struct Grain(Vec<bool>);

impl Grain {
    fn new(field_bits: usize, width: usize, full: usize, partial: usize) -> Self {
        let fields = [(1, 2), (0, 4), (field_bits, 12), (width, 12), (full, 10), (partial, 10), ((1 << 30) - 1, 30)];
        let bits = |(value, length): (usize, usize)| (0..length).rev().map(move |bit| value >> bit & 1 == 1);
        let mut grain = Self(fields.into_iter().flat_map(bits).collect());
        for _ in 0..160 {
            grain.step();
        }
        grain
    }

    fn step(&mut self) -> bool {
        let next = [62, 51, 38, 23, 13, 0].iter().fold(false, |sum, &place| sum ^ self.0[place]);
        self.0.remove(0);
        self.0.push(next);
        next
    }

    /// Of two bits the second counts if the first is set.
    fn bit(&mut self) -> bool {
        loop {
            let (counts, bit) = (self.step(), self.step());
            if counts {
                return bit;
            }
        }
    }

    fn number(&mut self, bits: usize) -> BigUint {
        (0..bits).fold(BigUint::ZERO, |number, _| (number << 1u32) + u32::from(self.bit()))
    }
}

/// Calldata: two numbers. Returns their hash.
fn poseidon<M: Machine>(machine: &M) {
    let (constants, matrix) = poseidon_constants();
    let constant = |value: &BigUint| machine.constant(value);
    let [a, b] = [0, 32].map(|offset| machine.parse(machine.small(offset), 32));
    let mut state = [machine.zero(), a, b];
    for round in 0..FULL + PARTIAL {
        let is_full = !(FULL / 2..FULL / 2 + PARTIAL).contains(&round);
        let name = if is_full { "full_round" } else { "partial_round" };
        let added = [0, 1, 2].map(|i| constant(&constants[3 * round + i]));
        state = machine.function(name, (state, added), |machine, (state, added)| {
            let mut state = [0, 1, 2].map(|i| state[i] + added[i]);
            let powers = if is_full { 3 } else { 1 };
            state[..powers].iter_mut().for_each(|x| *x = x.square().square() * *x);
            let entry = |i: usize, j: usize| machine.constant(&matrix[3 * i + j]) * state[j];
            [0, 1, 2].map(|i| entry(i, 0) + entry(i, 1) + entry(i, 2))
        });
    }
    machine.return_elements(state[0], 32);
}

/// circomlib's `poseidon([1, 2])`.
#[test]
fn poseidon_is_that_of_circomlib() {
    let recorded = text::print(&record("poseidon", &Bn254Fr::modulus(), |machine| poseidon(machine)));
    assert_eq!(held("poseidon.ir", &recorded), recorded);
    let expected =
        BigUint::parse_bytes(b"115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a", 16).unwrap();
    let program = program("poseidon.ir");
    let calldata = input("poseidon.hex");
    assert_eq!(calldata, [word(&1u32.into()), word(&2u32.into())].concat());
    check(&program, &calldata, &[expected]);
    let numbers = Numbers::<Bn254Fr>::new(calldata.clone());
    poseidon(&numbers);
    assert_eq!(numbers.outcome(), evaluate(&program, &calldata));
}

/// The programs of `docs/ir.md`, each with its calldata and what it returns in its first line.
#[test]
fn the_page_of_the_language_has_programs_that_run() {
    let page = workspace::read("docs/ir.md");
    let blocks: Vec<&str> = page.split("```ir\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    for block in &blocks {
        let first = block.lines().next().unwrap();
        let (calldata, expected) = first.strip_prefix("# calldata 0x").unwrap().split_once(" returns 0x").unwrap();
        let program = text::parse(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        verify(&program).unwrap_or_else(|error| panic!("{error}\n{block}"));
        let [calldata, expected] = [calldata, expected].map(|digits| hex::decode(digits).unwrap());
        assert_eq!(evaluate(&program, &calldata), Outcome::Returned(expected.clone()), "{}", program.name);
        let mut compiled = 0;
        for &revision in Revision::ALL {
            let schedule = GasSchedule::default_for(revision).unwrap();
            let Ok(code) = compile(&program, revision, &schedule) else { continue };
            let engine = Engine::new(EngineConfig::new(revision, schedule)).unwrap();
            assert_eq!(engine.run_code(&code.code, &calldata, 1 << 40).output, expected, "{} {revision}", program.name);
            compiled += 1;
        }
        assert!(compiled > 0, "{} compiles for no revision", program.name);
    }
    let programs = blocks.concat();
    let statements = ["block", "call", "repeat", "countdown", "sequence", "branch"];
    for name in statements.into_iter().chain(residue_ir::effect::NAMES.iter().copied()) {
        assert!(programs.lines().any(|line| line.split_whitespace().next() == Some(name)), "no program has {name}");
    }
}

/// Texts that are nearly programs are refused, or compiled and right: nothing from outside may panic.
#[test]
fn a_damaged_program_is_refused_or_compiled() {
    let page = workspace::read("docs/ir.md");
    let mut texts: Vec<String> =
        page.split("```ir\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect();
    texts.extend(["polynomial.ir", "point_multiple.ir"].map(|name| fs::read_to_string(path(name)).unwrap()));
    let extremes = [
        "0",
        "1",
        "16",
        "255",
        "256",
        "4096",
        "65536",
        "4294967295",
        "0x0",
        "0x3",
        "unbounded",
        "c0",
        "v0",
        "w0",
        "a0",
        "x0",
    ];
    let rounds: u64 = std::env::var("RESIDUE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % end as u64).unwrap() // usize to u64 widens
    };
    let mut compiled = 0;
    for round in 0..rounds {
        let text = &texts[below(texts.len())];
        let mut tokens: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')']).collect();
        for _ in 0..1 + below(3) {
            let at = below(tokens.len());
            match below(5) {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[below(tokens.len())]),
                2 => tokens[at] = tokens[below(tokens.len())],
                _ => {
                    let numbers: Vec<usize> =
                        (0..tokens.len()).filter(|&at| tokens[at].contains(|c: char| c.is_ascii_digit())).collect();
                    let at = numbers[below(numbers.len())];
                    tokens[at] = extremes[below(extremes.len())];
                    tokens.insert(at + 1, " ");
                }
            }
        }
        let text = tokens.concat();
        let Ok(program) = text::parse(&text) else { continue };
        if verify(&program).is_err() {
            continue;
        }
        for &revision in Revision::ALL {
            let schedule = GasSchedule::default_for(revision).unwrap();
            let result = std::panic::catch_unwind(|| compile(&program, revision, &schedule).is_ok());
            match result {
                Ok(is_compiled) => compiled += usize::from(is_compiled),
                Err(_) => panic!("round {round} under {revision}:\n{text}"),
            }
        }
        let evaluated = std::panic::catch_unwind(|| evaluate_within(&program, &[3; 100], 1000));
        assert!(evaluated.is_ok(), "round {round}, evaluated:\n{text}");
    }
    assert!(compiled > 100, "{compiled} programs were compiled");
}
