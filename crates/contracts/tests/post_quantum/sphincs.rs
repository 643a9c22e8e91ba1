//! Verifiers of SPHINCS- against a second text over bytes, on signatures that are valid and on those with one thing wrong.
//!
//! `RESIDUE_CASES=2000 cargo test --release -p residue-contracts --test post_quantum sphincs::` takes more messages.

use crate::Seeded;
use crate::support::{cases, everywhere, returned_everywhere};
use residue_compiler::compile;
use residue_contracts::find;
use residue_contracts::sphincs::signer::{self, Signer};
use residue_contracts::sphincs::{C7_SET, C11_SET, C13_SET, Set, example_signer};
use residue_engine::{Engine, EngineConfig, Halt, Prepared};
use residue_isa::{GasSchedule, Revision};

/// Bytes of the limit of EIP-170.
const CODE_BYTES_MAX: usize = 24_576;

/// Each set with a contract of it.
const SETS: [(&str, Set); 3] = [("sphincs/c13", C13_SET), ("sphincs/c7", C7_SET), ("sphincs/c11", C11_SET)];

type Compiled = Vec<(Revision, Prepared)>;

fn word(is_valid: bool) -> [u8; 32] {
    let mut word = [0; 32];
    word[31] = is_valid.into();
    word
}

/// A key, a message and a signature.
#[derive(Clone)]
struct Case {
    public: [u8; 32],
    message: [u8; 32],
    signature: Vec<u8>,
}

impl Case {
    fn calldata(&self) -> Vec<u8> {
        [&self.public[..], &self.message, &self.signature].concat()
    }

    /// The contract says of it what the second text does.
    #[track_caller]
    fn check(&self, set: Set, compiled: &mut Compiled, is_valid: bool, what: &str) {
        assert_eq!(signer::verify(set, &self.public, &self.message, &self.signature), is_valid, "{what}");
        returned_everywhere(compiled, &self.calldata(), &word(is_valid), what);
    }

    /// One bit of it is another.
    fn spoiled(&self, seeded: &mut Seeded) -> (Self, String) {
        let mut spoiled = self.clone();
        let all = 64 + self.signature.len();
        let (byte, bit) = (seeded.below(all), 1 << seeded.below(8));
        match byte {
            0..32 => spoiled.public[byte] ^= bit,
            32..64 => spoiled.message[byte - 32] ^= bit,
            _ => spoiled.signature[byte - 64] ^= bit,
        }
        (spoiled, format!("byte {byte}, {bit}"))
    }
}

/// Signatures of a key on one message, and each with bits turned.
fn check(name: &str, set: Set, (signatures, spoiled): (usize, usize)) {
    let mut compiled = everywhere(find(name).unwrap());
    let mut seeded = Seeded(set.digit_sum);
    let (signer, message) = (example_signer(set), signer::example_message());
    let example = (find(name).unwrap().example)();
    for number in 0..signatures as u64 {
        // That of the example was searched before.
        let signature = if number == 0 { example[64..].to_vec() } else { signer.sign(&message, number) };
        let case = Case { public: signer.public(), message, signature };
        case.check(set, &mut compiled, true, "a signature");
        for _ in 0..spoiled {
            let (case, what) = case.spoiled(&mut seeded);
            case.check(set, &mut compiled, false, &what);
        }
    }
}

#[test]
fn c7_is_that_of_the_second_text() {
    check("sphincs/c7", C7_SET, (cases(20), 10));
}

#[test]
fn c11_is_that_of_the_second_text() {
    check("sphincs/c11", C11_SET, (cases(4), 50));
}

#[test]
fn c13_is_that_of_the_second_text() {
    check("sphincs/c13", C13_SET, (cases(2), 100));
}

#[test]
fn the_short_c13_is_that_of_the_second_text() {
    check("sphincs/c13_rolled", C13_SET, (cases(1), 100));
}

/// A key whose topmost tree is made signs messages at random.
#[test]
fn keys_sign_any_message() {
    let mut compiled = everywhere(find("sphincs/c11").unwrap());
    let (signer, mut seeded) = (Signer::new(C11_SET, 7), Seeded(3));
    for _ in 0..cases(5) {
        let message = seeded.bytes(32).try_into().unwrap();
        let signature = signer.sign(&message, 0);
        Case { public: signer.public(), message, signature }.check(C11_SET, &mut compiled, true, "a signature");
    }
}

/// Counts that are known are the first that lead to the sum.
#[test]
fn examples_are_those_of_their_keys() {
    for (name, set) in SETS {
        let signature = example_signer(set).sign(&signer::example_message(), 0);
        assert_eq!(hex::encode(&(find(name).unwrap().example)()[64..]), hex::encode(signature), "{name}");
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn examples_are_those_of_whole_keys() {
    for (name, set) in SETS {
        let (signer, message) = (Signer::new(set, 1), signer::example_message());
        let made = [&signer.public()[..], &message, &signer.sign(&message, 0)].concat();
        assert_eq!(hex::encode((find(name).unwrap().example)()), hex::encode(made), "{name}");
    }
}

#[test]
fn what_is_no_signature_is_refused() {
    check_refusals([("sphincs/c11", C11_SET), ("sphincs/c13", C13_SET)]);
}

#[test]
fn what_is_no_signature_is_refused_by_the_other_sets() {
    check_refusals([("sphincs/c7", C7_SET), ("sphincs/c13_rolled", C13_SET)]);
}

/// Each fault of calldata by itself.
fn check_refusals(contracts: [(&str, Set); 2]) {
    for (name, set) in contracts {
        let mut compiled = everywhere(find(name).unwrap());
        let (signer, message) = (example_signer(set), signer::example_message());
        let with = |signature| Case { public: signer.public(), message, signature };
        let example = (find(name).unwrap().example)();
        let valid = with(example[64..].to_vec());
        valid.check(set, &mut compiled, true, name);
        // Nothing but these two is wrong with a signature here.
        let index = with(signer.sign_where((&message, 0), |index| index != 0, |sum| sum == set.digit_sum));
        index.check(set, &mut compiled, false, "the last index is not 0");
        for sum in [set.digit_sum - 1, set.digit_sum + 1] {
            let signature = signer.sign_where((&message, 0), |index| index == 0, |of_digits| of_digits == sum);
            with(signature).check(set, &mut compiled, false, "digits have another sum");
        }
        let bytes = usize::try_from(set.signature_bytes()).unwrap();
        for length in [0, 1, 31, 32, 63, 64, 96, 64 + bytes - 1, 64 + bytes + 1, 64 + bytes + 32] {
            let mut calldata = valid.calldata();
            calldata.resize(length, 0);
            returned_everywhere(&mut compiled, &calldata, &word(false), &format!("{length} bytes"));
        }
        // A key of words, with low halves, is another length.
        let words = [&valid.public[..16], &[0; 16], &valid.public[16..], &[0; 16], &message, &valid.signature].concat();
        returned_everywhere(&mut compiled, &words, &word(false), "a key of words");
        for half in 0..2 {
            let mut other = valid.clone();
            other.public[16 * half..][..16].fill(0);
            other.check(set, &mut compiled, false, "half of a key is 0");
        }
    }
}

#[test]
fn gas_and_code_are_within_bounds() {
    let revision = Revision::Evm;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    for (name, gas_max, bytes_max) in [
        ("sphincs/c13", 42_000, CODE_BYTES_MAX),
        ("sphincs/c13_rolled", 52_000, 4096),
        ("sphincs/c7", 49_000, CODE_BYTES_MAX),
        ("sphincs/c11", 43_000, CODE_BYTES_MAX),
    ] {
        let contract = find(name).unwrap();
        let code = compile(&contract.program(), revision, &schedule).unwrap().code;
        let outcome = engine.run_code(&code, &(contract.example)(), 1_000_000);
        println!("{name}: {} gas, {} bytes", outcome.gas_used, code.len());
        assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{name}");
        assert!(outcome.gas_used <= gas_max, "{name}: {} gas", outcome.gas_used);
        assert!(code.len() <= bytes_max, "{name}: {} bytes", code.len());
    }
}
