//! Programs whose modulus is no word: their meaning in Coq beside the evaluator, and both checkers on their code and on mutants of it.

use crate::code_of;
use crate::flows::{Writer, module, read};
use crate::judges::verdict;
use crate::mutants::{mutants, starts};
use crate::semantics::{compiled, end, library, numbers};
use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_extent::{cases, seed};
use residue_ir::{Outcome, Program, evaluate};
use residue_proof::{Certificate, Semantics, Source, coq};

/// Odd moduli with bytes of an element, and of one that is returned: those of BLS12-381 and BW6-761, 5·3¹⁸⁸, where multiples of a value may vanish, and 2⁵²¹ − 1.
const MODULI: [(&str, usize, usize); 4] = [
    (
        "4002409555221667393417789825735904156556882819939007885332058136124031650490837864442687629129015664037894272559787",
        64,
        64,
    ),
    (
        "6891450384315732539396789682275657542479668912536150109513790160209623422243491736087683183289411687640864567753786613451161759120554247759349511699125301598951605099378508850372543631423596795951899700429969112842764913119068299",
        96,
        96,
    ),
    ("2498997902644647000690399517874793503222685610005574428530871364263318890538198812233010805", 48, 64),
    (
        "6864797660130609714981900799081393217269435300143305409394463459185543183397656052122559640661454554977296311391480858037121987999716643812574028291115057151",
        72,
        96,
    ),
];
/// Mutants of each code.
const MUTANTS: usize = 10;

/// Words of the program: its sizes and places, two tests of elements, and what is made of them and of words of calldata.
const WORDS: &str = "word w1 = calldata_size\nword w3 = 0x0\nword w4 = eq w1 w2\n\
    word w5 = defined\nword w6 = defined\nword w7 = lt w6 w5\nword w8 = and w5 w6\nword w9 = or w5 w6\n\
    word w10 = calldata_word w3\nword w11 = calldata_word w0\nword w12 = or w10 w11\nword w13 = eq w12 w3\n\
    word w14 = defined\nword w15 = eq w14 w3\nword w16 = 0xfd\nword w17 = shr w10 w16\nword w18 = eq w17 w3\n";
/// Those that branches and requirements may be of.
const CONDITIONS: [&str; 8] = ["w5", "w7", "w8", "w9", "w13", "w14", "w15", "w18"];

/// Text of a random program of two elements, which may end in several places, and bytes of an element.
fn program(rng: &mut ChaCha8Rng) -> (String, usize) {
    let &(p, bytes, returned) = MODULI.choose(rng).unwrap();
    let p: BigUint = p.parse().unwrap();
    let constant = rng.random_range(0..15);
    let mut writer = Writer { rng, next: 2, conditions: &CONDITIONS, bytes: returned };
    let called = writer.block(&mut vec![0, 1]);
    let values = writer.next;
    writer.next = 2;
    let mut scope = vec![0, 1];
    let block = writer.block(&mut scope);
    let [a, b] = [0, 1].map(|_| *scope.choose(writer.rng).unwrap());
    let (branch, value) = writer.branch(&scope, 1);
    scope.push(value);
    let last = writer.block(&mut scope);
    let result = writer.next - 1;
    let text = format!(
        "program \"p\"\nmodulus {p:#x}\nconstant c0 = {constant:#x}\n\
         function f0 \"called\" (v0 v1) -> (v{}) values {values} {{\n{called}}}\n\
         function f1 \"start\" () -> () values {} {{\nword w0 = {bytes:#x}\nword w2 = {:#x}\n{WORDS}require w4\nparse w3 bytes {bytes} -> v0\n\
         parse w0 bytes {bytes} -> v1\n{block}is_zero v{a} -> w5\nis_zero v{b} -> w6\nbind w13 -> w14\n{branch}{last}\
         return_elements (v{value} v{result}) bytes {returned}\n}}\n",
        values - 1,
        writer.next,
        2 * bytes,
    );
    (in_order(&text), bytes)
}

/// Text of a random program of one product of sums, without a test: in `evmmax-next` instructions test for zero and add products, which certificates do not know.
fn product(rng: &mut ChaCha8Rng) -> String {
    let &(p, bytes, returned) = MODULI.choose(rng).unwrap();
    let p: BigUint = p.parse().unwrap();
    let [first, second] = [0, 1].map(|_| *["add", "sub"].choose(rng).unwrap());
    format!(
        "program \"p\"\nmodulus {p:#x}\nconstant c0 = {:#x}\nfunction f0 \"start\" () -> () values 5 {{\nword w0 = 0x0\nword w1 = {bytes:#x}\n\
         word w2 = calldata_size\nword w3 = {:#x}\nword w4 = eq w2 w3\nrequire w4\nparse w0 bytes {bytes} -> v0\nparse w1 bytes {bytes} -> v1\n\
         block {{\nv2 = {first} v0 v1\nv3 = {second} v1 c0\nv4 = mul v2 v3\n}}\nreturn_elements (v4 v2) bytes {returned}\n}}\n",
        rng.random_range(1..1000),
        2 * bytes
    )
}

/// Words are defined in the order of their numbers.
fn in_order(text: &str) -> String {
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.strip_prefix("word w").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok()) {
            Some(number) => words.push((number, line)),
            None => lines.push(line),
        }
    }
    words.sort_unstable();
    let head = lines.iter().position(|line| line.contains("\"start\"")).unwrap() + 1;
    let words = words.into_iter().map(|(_, line)| line);
    lines[..head]
        .iter()
        .copied()
        .chain(words)
        .chain(lines[head..].iter().copied())
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Calldata: zeros and small numbers often, now and then a number from p on, one of more bits, or another size.
fn calldata(rng: &mut ChaCha8Rng, program: &Program, bytes: usize) -> Vec<u8> {
    let p = program.modulus.known().unwrap().clone();
    let mut calldata = Vec::new();
    for _ in 0..2 {
        let number = match rng.random_range(0..10) {
            0..3 => BigUint::ZERO,
            3 => p.clone(),
            4 => BigUint::from_bytes_be(&vec![0xff; bytes]),
            _ => BigUint::from_bytes_be(&rng.random::<[u8; 32]>()).pow(4) % &p,
        };
        let number = number.to_bytes_be();
        calldata.extend([vec![0; bytes - number.len()], number].concat());
    }
    if rng.random_ratio(1, 10) {
        calldata.pop();
    }
    calldata
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_says_what_the_evaluator_does_of_programs_of_wide_moduli() {
    let Some(folder) = library("wide", &["Evm", "Program", "Flow"]) else { return };
    let rng = &mut ChaCha8Rng::seed_from_u64(seed());
    let (mut modules, mut terms, mut returned) = (String::new(), Vec::new(), 0);
    for number in 0..cases(40) {
        let (written, bytes) = program(rng);
        let program = read(&written);
        let source = Source::of(&program).unwrap_or_else(|error| panic!("{error}:\n{written}"));
        modules += &module(number, &source).unwrap();
        for _ in 0..6 {
            let calldata = calldata(rng, &program, bytes);
            let outcome = match evaluate(&program, &calldata) {
                Outcome::Returned(bytes) => Some(bytes),
                Outcome::Failed => None,
                Outcome::Ended => panic!("it returns:\n{written}"),
            };
            returned += usize::from(outcome.is_some());
            terms.push(format!("(M{number}.the_program, {}, {})", coq::bytes(&calldata), end(outcome.as_deref())));
        }
    }
    let source = format!(
        "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Flow Run.\nImport ListNotations.\nOpen Scope Z_scope.\n{modules}\
         Definition agrees (c : flow * list Z * option (list Z)) : bool :=\n\
         let '(p, cd, expected) := c in ends (flow_meaning p cd) expected.\n\
         Definition cases : list (flow * list Z * option (list Z)) :=\n [{}].\nEval vm_compute in differing agrees 0 cases.\n",
        terms.join(";\n ")
    );
    let said = compiled(&folder, "Cases", &source);
    println!("{} outcomes, of which {returned} are returns", terms.len());
    assert!(returned * 5 > terms.len() && returned < terms.len(), "{returned} of {}", terms.len());
    assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}", folder.join("Cases.v").display());
}

/// Head of a source that speaks of code of such programs.
const HEAD: &str = "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Check Slots CheckSlots Flow CheckFlow CheckFlowSlots CheckWide Run.\n\
    Import ListNotations.\nOpen Scope Z_scope.\n";
const SOURCES: [&str; 9] =
    ["Evm", "Program", "Check", "Slots", "CheckSlots", "Flow", "CheckFlow", "CheckFlowSlots", "CheckWide"];

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_accepts_what_the_checker_accepts_of_programs_of_wide_moduli() {
    let Some(folder) = library("wide_ways", &SOURCES) else { return };
    for (semantics, next) in [(Semantics::Slots, false), (Semantics::Next, true)] {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed());
        let (mut modules, mut terms, mut accepted, mut made, mut tried) = (String::new(), Vec::new(), 0, 0, 0);
        for number in 0..cases(16) {
            let program = read(&if next { product(rng) } else { program(rng).0 });
            tried += 1;
            let Ok(certificate) = Certificate::new(&program, semantics, &code_of(&program, semantics)) else {
                continue;
            };
            made += 1;
            modules += &module(number, &certificate.program).unwrap();
            let starts = starts(&certificate.code, semantics);
            let mut codes = vec![certificate.code.clone()];
            for _ in 0..MUTANTS {
                let place = rng.random_range(0..starts.len() - 1);
                codes.extend(mutants(&certificate.code, &starts, place).choose(rng).cloned());
            }
            // A mutant may go through a part of the code once more.
            let hints = coq::hints_of_flow(&certificate, certificate.code.len()).unwrap();
            for code in codes {
                let gas = certificate.gas_of(&code).ok().map(|gas| gas.gas);
                accepted += usize::from(gas.is_some());
                terms.push(format!("(M{number}.the_program, {hints}, {}, {})", coq::bytes(&code), verdict(gas)));
            }
        }
        let revision = semantics.revision();
        println!("{revision}: {made} of {tried} programs, {} codes, {accepted} accepted by both", terms.len());
        assert!(made > 1 && made <= accepted && accepted < terms.len(), "{made} programs, {accepted} accepted");
        let source = format!(
            "{HEAD}{modules}Definition agrees (c : flow * hints_of_flow * list Z * option Z) : bool :=\n\
             let '(p, h, code, expected) := c in\n\
             match check_wide {next} p h code, expected with Some g, Some h => g =? h | None, None => true | _, _ => false end.\n\
             Definition cases : list (flow * hints_of_flow * list Z * option Z) :=\n [{}].\nEval vm_compute in differing agrees 0 cases.\n",
            terms.join(";\n ")
        );
        let file = format!("Cases_{semantics:?}");
        let said = compiled(&folder, &file, &source);
        assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/{file}.v", folder.display());
    }
}

/// Code without slots has no elements of such a modulus.
#[test]
fn wide_moduli_are_refused_for_evm_by_name() {
    let (program, code) = crate::compiled("bls12_381/fp2_mul", Semantics::Slots);
    let error = Certificate::new(&program, Semantics::Evm, &code).unwrap_err().to_string();
    assert!(error.starts_with("certificates do not know a modulus of 381 bits in code for evm yet"), "{error}");
    let text = Certificate::new(&program, Semantics::Slots, &code).unwrap().print();
    let other = text.replacen("revision eip6690-2024", "revision evm", 1);
    let error = Certificate::read(&other).unwrap_err();
    assert!(error.what.contains("a modulus of 381 bits in code for evm"), "{error}");
}
