//! The semantics in Coq, computed, beside the engine and the evaluator: random codes at the gas that they take, one less and plenty, and random
//! programs on random calldata. It needs coqc, and says so where there is none.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_extent::{cases, seed};
use residue_ir::{Outcome, evaluate, text};
use residue_isa::Revision;
use residue_isa::opcode::evm as op;
use residue_proof::{Straight, coq};

/// More than any of the codes takes.
const GAS: u64 = 1_000_000;
/// A 256-bit number, often one at an edge.
fn word(rng: &mut ChaCha8Rng) -> [u8; 32] {
    let mut bytes: [u8; 32] = rng.random();
    match rng.random_range(0..6) {
        0 => bytes = [0; 32],
        1 => bytes = [0xff; 32],
        2 => bytes[..31].fill(0),
        3 => bytes[..16].fill(0xff),
        _ => {}
    }
    bytes
}

/// An expected end as a term of Coq's.
pub fn end(outcome: Option<&[u8]>) -> String {
    outcome.map_or_else(|| "None".to_owned(), |bytes| format!("(Some ({}))", coq::bytes(bytes)))
}

/// Opcodes that take numbers of any size.
const PLAIN: [u8; 17] = [
    op::ADD,
    op::MUL,
    op::SUB,
    op::DIV,
    op::MOD,
    op::ADDMOD,
    op::MULMOD,
    op::LT,
    op::GT,
    op::EQ,
    op::ISZERO,
    op::NOT,
    op::AND,
    op::OR,
    op::SHR,
    op::CALLDATASIZE,
    op::JUMPDEST,
];

/// Code of one instruction on three words, of which a mask says which are 0, and of which two may be equal.
fn one_instruction(rng: &mut ChaCha8Rng, opcode: u8, zeros: u8) -> Vec<u8> {
    let mut code = Vec::new();
    let first = word(rng);
    for place in 0..3 {
        let number = if place == 1 && rng.random_ratio(1, 4) { first } else { word(rng) };
        code.push(op::PUSH32);
        code.extend(if zeros >> place & 1 == 1 { [0; 32] } else { number });
    }
    code.push(opcode);
    returning(code, 1)
}

/// Code, and a return of so many words that it leaves on top.
fn returning(mut code: Vec<u8>, words: u8) -> Vec<u8> {
    for place in 0..words {
        code.extend([op::PUSH1, 32 * place, op::MSTORE]);
    }
    code.extend([op::PUSH1, 32 * words, op::PUSH0, op::RETURN]);
    code
}

/// Instructions that any stack may have. Those that take offsets get small ones: the semantics has bytes and memory as lists and functions, and counts in unary.
fn instruction(rng: &mut ChaCha8Rng, code: &mut Vec<u8>) {
    let small = rng.random_range(0..200);
    match rng.random_range(0..26) {
        0 => code.extend([op::PUSH1, small, op::CALLDATALOAD]),
        1 => code.extend([op::PUSH1, small, op::MLOAD]),
        2 => code.extend([op::PUSH1, small, op::MSTORE]),
        3 => code.extend([op::POP, op::PUSH0]),
        4 => {
            // To the JUMPDEST after an INVALID, or to the byte before it.
            let wrong = u8::from(rng.random_ratio(1, 8));
            let target = u8::try_from(code.len() + 4).map_or(0, |target| target - wrong);
            code.extend([op::PUSH1, target, op::JUMP, op::INVALID, op::JUMPDEST]);
        }
        5 => {
            let target = u8::try_from(code.len() + 4).unwrap_or(0);
            code.extend([op::PUSH1, target, op::JUMPI, op::PUSH0, op::JUMPDEST]);
        }
        6..9 => code.push(op::DUP1 + rng.random_range(0..5)),
        9..12 => code.push(op::SWAP1 + rng.random_range(0..5)),
        24 => {
            // Bytes of any number, between places that may have some in common.
            let places = [rng.random_range(0..100), rng.random_range(0..200), rng.random_range(0..200)];
            code.extend(places.into_iter().flat_map(|place| [op::PUSH1, place]));
            code.push(op::MCOPY);
        }
        12 => {
            let number = word(rng);
            let size = rng.random_range(1..=32);
            code.push(op::PUSH0 + size);
            code.extend(&number[..usize::from(size)]);
        }
        _ => code.push(*PLAIN.choose(rng).unwrap()),
    }
}

/// Random code: words, instructions, and a return of the words that are left on top.
fn code(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut code = Vec::new();
    // Jumps have targets of one byte.
    for _ in 0..5 {
        code.push(op::PUSH32);
        code.extend(word(rng));
    }
    for _ in 0..rng.random_range(0..20) {
        instruction(rng, &mut code);
    }
    returning(code, 3)
}

/// Cases of runs: code, calldata, gas and the end that the engine says; and how many of them return.
fn runs(count: usize, rng: &mut ChaCha8Rng) -> (Vec<String>, usize) {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let (mut terms, mut returned) = (Vec::new(), 0);
    let mut single: Vec<Vec<u8>> = Vec::new();
    for zeros in 0..8 {
        single.extend(PLAIN.map(|opcode| one_instruction(rng, opcode, zeros)));
    }
    while terms.len() < count {
        let code = single.pop().unwrap_or_else(|| code(rng));
        let calldata: Vec<u8> = (0..rng.random_range(0..100)).map(|_| rng.random()).collect();
        let taken = engine.run_code(&code, &calldata, GAS).gas_used;
        for gas in [GAS, taken, taken - 1] {
            let run = engine.run_code(&code, &calldata, gas);
            let found = match run.halt {
                Halt::Return => Some(&run.output[..]),
                halt if halt.is_exceptional() => None,
                halt => panic!("{halt:?}: {}", hex::encode(&code)),
            };
            returned += usize::from(found.is_some());
            terms.push(format!("({}, {}, {gas}, {})", coq::bytes(&code), coq::bytes(&calldata), end(found)));
        }
    }
    (terms, returned)
}

/// Text of a random program over p with so many parses.
pub fn program(rng: &mut ChaCha8Rng, p: &BigUint, parses: usize) -> String {
    let element = |rng: &mut ChaCha8Rng| BigUint::from_bytes_be(&word(rng)) % p;
    let operations = rng.random_range(1..20);
    let mut body = String::new();
    let constants: Vec<String> = (0..3).map(|number| format!("constant c{number} = {:#x}\n", element(rng))).collect();
    let row = [element(rng), element(rng)].map(|value| format!("{value:#x}")).join(" ");
    writeln!(body, "  word w0 = {:#x}\n  word w1 = calldata_size\n  word w2 = eq w1 w0", 32 * parses).unwrap();
    for place in 0..parses {
        writeln!(body, "  word w{} = {:#x}", place + 3, 32 * place).unwrap();
    }
    body += "  require w2\n";
    for place in 0..parses {
        writeln!(body, "  parse w{} bytes 32 -> v{place}", place + 3).unwrap();
    }
    // The first offset is that of the row too.
    writeln!(body, "  lookup t0 w3 -> (v{} v{})\n  block {{", parses, parses + 1).unwrap();
    let first = parses + 2;
    for value in first..first + operations {
        let operand = |rng: &mut ChaCha8Rng| match rng.random_ratio(1, 4) {
            true => format!("c{}", rng.random_range(0..3)),
            false => format!("v{}", rng.random_range(0..value)),
        };
        let (x, y) = (operand(rng), operand(rng));
        writeln!(body, "    v{value} = {} {x} {y}", ["add", "sub", "mul"].choose(rng).unwrap()).unwrap();
    }
    let results: Vec<String> =
        (0..rng.random_range(1..4)).map(|_| format!("v{}", rng.random_range(first..first + operations))).collect();
    writeln!(body, "  }}\n  return_elements ({}) bytes 32", results.join(" ")).unwrap();
    format!(
        "program \"p\"\nmodulus {p:#x}\n{}table t0 \"row\" values 2 {{ ({row}) }}\nfunction f0 \"start\" () -> () values {} {{\n{body}}}\n",
        constants.concat(),
        first + operations
    )
}

/// Cases of meanings: program, calldata and the outcome that the evaluator says; and how many of them return.
fn meanings(count: usize, rng: &mut ChaCha8Rng) -> (Vec<String>, usize) {
    let (mut terms, mut returned) = (Vec::new(), 0);
    while terms.len() < count {
        let bits = *[2, 7, 31, 64, 255, 256].choose(rng).unwrap();
        let p =
            (BigUint::from_bytes_be(&word(rng)) | BigUint::from(1u8) << 255u32) >> (256 - bits) | BigUint::from(1u8);
        let parses = rng.random_range(1..4);
        let written = program(rng, &p, parses);
        let program = text::read(&written).unwrap_or_else(|error| panic!("{error}:\n{written}"));
        let straight = Straight::of(&program).unwrap_or_else(|error| panic!("{error}:\n{written}"));
        for place in 0..4 {
            // One in four has numbers from p on, most likely, and one another size.
            let number = |rng: &mut ChaCha8Rng| match place {
                0 => BigUint::from_bytes_be(&word(rng)),
                _ => BigUint::from_bytes_be(&word(rng)) % &p,
            };
            let mut calldata = Vec::new();
            for _ in 0..parses {
                let bytes = number(rng).to_bytes_be();
                calldata.extend([vec![0; 32 - bytes.len()], bytes].concat());
            }
            if place == 1 {
                calldata.truncate(calldata.len() - 1);
            }
            let outcome = match evaluate(&program, &calldata) {
                Outcome::Returned(bytes) => Some(bytes),
                Outcome::Failed => None,
                Outcome::Ended => panic!("it returns:\n{written}"),
            };
            returned += usize::from(outcome.is_some());
            terms.push(format!(
                "({}, {}, {})",
                coq::program(&straight),
                coq::bytes(&calldata),
                end(outcome.as_deref())
            ));
        }
    }
    (terms, returned)
}

/// Compiles a source in the folder; its output.
pub fn compiled(folder: &Path, name: &str, source: &str) -> String {
    fs::write(folder.join(format!("{name}.v")), source).unwrap();
    let mut command = Command::new("coqc");
    command.args(["-noglob", "-Q", ".", coq::LIBRARY, &format!("{name}.v")]).current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A new folder with some of the sources, compiled; `None` where there is no coqc, which is said.
pub fn library(name: &str, sources: &[&str]) -> Option<PathBuf> {
    if Command::new("coqc").arg("--version").output().is_err() {
        println!("coqc is not installed: nothing is computed in Coq");
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, source) in coq::SOURCES.into_iter().filter(|(name, _)| sources.contains(name)) {
        compiled(&folder, name, source);
    }
    compiled(&folder, "Run", include_str!("../../coq/Run.v"));
    Some(folder)
}

/// Numbers of the cases that differ, of lists that Coq printed.
pub fn numbers(said: &str) -> String {
    said.split_whitespace().filter(|word| !["=", ":", "list", "nat"].contains(word)).collect()
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_computes_what_the_engine_and_the_evaluator_do() {
    let Some(folder) = library("semantics", &["Evm", "Program"]) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let (runs, runs_returned) = runs(cases(900), &mut rng);
    let (meanings, meanings_returned) = meanings(cases(400), &mut rng);
    let source = format!(
        "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Run.\nImport ListNotations.\nOpen Scope Z_scope.\n\
         Definition runs : list (list Z * list Z * Z * option (list Z)) :=\n [{}].\n\
         Definition meanings : list (program * list Z * option (list Z)) :=\n [{}].\n\
         Eval vm_compute in differing run_agrees 0 runs.\nEval vm_compute in differing meaning_agrees 0 meanings.\n",
        runs.join(";\n "),
        meanings.join(";\n ")
    );
    let said = compiled(&folder, "Cases", &source);
    let (of_runs, of_meanings) = (runs.len(), meanings.len());
    println!(
        "{of_runs} runs, of which {runs_returned} return, and {of_meanings} programs with calldata, of which {meanings_returned} return"
    );
    assert!(runs_returned * 4 > of_runs && runs_returned * 4 < of_runs * 3, "{runs_returned} of {of_runs} runs return");
    assert!(
        meanings_returned * 3 > of_meanings && meanings_returned < of_meanings,
        "{meanings_returned} of {of_meanings}"
    );
    assert_eq!(numbers(&said), "[][]", "cases that differ, by number, in {}", folder.join("Cases.v").display());
}
