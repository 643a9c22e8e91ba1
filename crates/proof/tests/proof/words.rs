//! Programs of words in Coq: their meaning beside the evaluator, their code beside the engine, and both checkers on mutants of code.

use crate::judges::verdict;
use crate::mutants::{engine, mutants, starts};
use crate::semantics::{compiled as compiled_by_coq, end, library, numbers};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::Halt;
use residue_extent::{cases, seed};
use residue_ir::{Outcome, evaluate};
use residue_proof::{Certificate, Semantics, Source, coq};

const SOURCES: [&str; 6] = ["Evm", "Words", "Program", "Hashing", "Bytes", "CheckBytes"];
const HEAD: &str = "From Coq Require Import ZArith List Bool.\nFrom Residue Require Import Evm Program Hashing Bytes CheckBytes Run.\n\
    Import ListNotations.\nOpen Scope Z_scope.\n";
/// Programs with their code: two without loops, two whose loops have numbers of turns, and four with any number of them.
const JUDGED: [&str; 8] = [
    "hashes/blake2f",
    "modexp/word",
    "wots/keccak_128",
    "sphincs/c13_rolled",
    "slh_dsa/keccak_128_24",
    "hashes/sha1",
    "hashes/ripemd160",
    "hashes/sha512",
];

/// The certificate of a contract, and its program as a module of Coq's.
fn certified(name: &str, number: usize) -> (Certificate, String) {
    let (program, code) = crate::compiled(name, Semantics::Evm);
    let certificate = Certificate::new(&program, Semantics::Evm, &code).unwrap();
    let Source::Bytes(words) = &certificate.program else { panic!("{name} is no program of words") };
    let module = format!("Definition program_{number} : body :=\n{}.\n", coq::program_of_words(words));
    (certificate, module)
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_accepts_what_the_checker_accepts_of_programs_of_words() {
    let Some(folder) = library("words", &SOURCES) else { return };
    let rng = &mut ChaCha8Rng::seed_from_u64(seed());
    let (mut source, mut terms, mut accepted) = (HEAD.to_owned(), Vec::new(), 0);
    for (number, name) in JUDGED.into_iter().enumerate() {
        let (certificate, module) = certified(name, number);
        source += &module;
        let Source::Bytes(program) = &certificate.program else { unreachable!() };
        let starts = starts(&certificate.code, Semantics::Evm);
        let mut codes = vec![certificate.code.clone()];
        for _ in 0..cases(8) {
            let place = rng.random_range(0..starts.len() - 1);
            codes.extend(mutants(&certificate.code, &starts, place).choose(rng).cloned());
        }
        for code in codes {
            let gas = certificate.gas_of(&code).ok().map(|gas| gas.gas);
            accepted += usize::from(gas.is_some());
            let program_name = format!("program_{number}");
            let term =
                coq::verdict_of_words(program, [&code, &certificate.code], &program_name, certificate.code.len());
            terms.push(format!("({}, {})", term.unwrap(), verdict(gas)));
        }
    }
    println!("{} codes, {accepted} accepted by both", terms.len());
    assert!(JUDGED.len() <= accepted && accepted < terms.len(), "{accepted} of {}", terms.len());
    source += &format!(
        "Definition agrees (c : option Z * option Z) : bool :=\n\
         match c with (Some g, Some h) => g =? h | (None, None) => true | _ => false end.\n\
         Eval vm_compute in differing agrees 0\n [{}].\n",
        terms.join(";\n ")
    );
    let said = compiled_by_coq(&folder, "Verdicts", &source);
    assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/Verdicts.v", folder.display());
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_says_what_evaluator_and_engine_do_of_programs_of_words() {
    let Some(folder) = library("words_run", &SOURCES) else { return };
    let (rng, engine) = (&mut ChaCha8Rng::seed_from_u64(seed()), engine(Semantics::Evm));
    let (mut source, mut meant, mut run) = (HEAD.to_owned(), Vec::new(), Vec::new());
    // They hash nothing by KECCAK256, of which nothing is known in Coq.
    for (number, name) in ["hashes/sha1", "hashes/ripemd160", "modexp/word"].into_iter().enumerate() {
        let (program, _) = crate::compiled(name, Semantics::Evm);
        let (certificate, module) = certified(name, number);
        source += &format!("{module}Definition code_{number} : list Z := {}.\n", coq::bytes(&certificate.code));
        for _ in 0..cases(4) {
            let size = if name == "modexp/word" { 192 } else { rng.random_range(0..150) };
            let mut input: Vec<u8> = (0..size).map(|_| rng.random()).collect();
            if name == "modexp/word" {
                // Three lengths of 32 bytes, and a short exponent.
                input[..96].fill(0);
                input[31..96].iter_mut().step_by(32).for_each(|length| *length = 32);
                input[128..159].fill(0);
            }
            let calldata = coq::bytes(&input);
            let outcome = evaluate::evaluate(&program, &input);
            let returned = if let Outcome::Returned(bytes) = &outcome { Some(&**bytes) } else { None };
            let turns = if name == "modexp/word" { 0 } else { (size as u64 + 8) / 64 + 1 }; // usize to u64 widens
            meant.push(format!("(program_{number}, {calldata}, {turns}, {})", end(returned)));
            let gas = rng.random_range(0..2 * certificate.gas + turns * certificate.turn_gas.unwrap_or(0));
            let found = engine.run_code(&certificate.code, &input, gas);
            let output = (found.halt == Halt::Return).then_some(&found.output[..]);
            run.push(format!("(code_{number}, {calldata}, {gas}, {})", end(output)));
        }
    }
    // With a turn less the program has no outcome.
    source += &format!(
        "Definition none (l : list Z) : Z := 0.\n\
         Definition means (c : body * list Z * Z * option (list Z)) : bool :=\n\
         let '(p, cd, n, expected) := c in\n\
         match bytes_meaning_in none cd n p with Some o => ends o expected | None => false end\n\
         && ((n =? 0) || match bytes_meaning_in none cd (n - 1) p with None => true | Some _ => false end).\n\
         Fixpoint ran (fuel : nat) (code cd : list Z) (s : state) : outcome :=\n\
         match fuel with\n| O => Unknown\n\
         | S fuel => match byte_step none code cd s with Next s => ran fuel code cd s | Halt o => o end\nend.\n\
         Definition runs (c : list Z * list Z * Z * option (list Z)) : bool :=\n\
         let '(code, cd, g, expected) := c in ends (ran (Z.to_nat 50000) code cd (start g)) expected.\n\
         Eval vm_compute in differing means 0\n [{}].\nEval vm_compute in differing runs 0\n [{}].\n",
        meant.join(";\n "),
        run.join(";\n "),
    );
    let said = compiled_by_coq(&folder, "Runs", &source);
    assert_eq!(numbers(&said), "[][]", "cases that differ, by number, in {}/Runs.v", folder.display());
}
