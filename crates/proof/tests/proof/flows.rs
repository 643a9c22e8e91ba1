//! Programs with branches and calls: their meaning in Coq beside the evaluator, and both checkers on their code and on mutants of it.

use crate::code_of;
use crate::judges::verdict;
use crate::mutants::{engine, mutants, starts};
use crate::semantics::{compiled, end, library, numbers};
use num_bigint::BigUint;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::Halt;
use residue_extent::{cases, seed};
use residue_ir::{Outcome, Program, evaluate, text};
use residue_proof::{Certificate, Semantics, Source, coq};
use std::fmt::Write as _;
use std::path::Path;

/// Moduli: with small ones an element is zero often, and with the first two so is a product of others.
const MODULI: [&str; 4] =
    ["15", "105", "101", "99481188195845490820207625772642576801367201360910529106101988047706955286135"];
/// Mutants of each code.
const MUTANTS: usize = 10;

/// Words of the program: its sizes and places, two tests of elements, and what is made of them.
const WORDS: &str = "word w0 = 0x20\nword w1 = calldata_size\nword w2 = 0x40\nword w3 = 0x0\nword w4 = eq w1 w2\n\
    word w5 = defined\nword w6 = defined\nword w7 = lt w6 w5\nword w8 = and w5 w6\nword w9 = or w5 w6\n\
    word w10 = calldata_word w3\nword w11 = calldata_word w0\nword w12 = or w10 w11\nword w13 = eq w12 w3\n\
    word w14 = defined\nword w15 = eq w14 w3\nword w16 = 0xfd\nword w17 = shr w10 w16\nword w18 = 0x1\nword w19 = eq w17 w18\n\
    word w20 = lt w1 w2\nword w21 = lt w11 w10\nword w22 = shr w11 w10\nword w23 = and w22 w18\nword w24 = mul w11 w10\nword w25 = add w24 w22\n\
    word w26 = defined\nword w27 = and w10 w0\nword w28 = div w11 w16\nword w29 = mod w28 w16\n\
    word w30 = 0x3\nword w31 = and w10 w30\nword w32 = defined\nword w33 = mul w32 w0\nword w34 = and w32 w18\nword w35 = shr w11 w32\nword w36 = and w35 w18\n";
/// Those that branches and requirements may be of.
const CONDITIONS: [&str; 14] =
    ["w26", "w29", "w5", "w7", "w8", "w9", "w12", "w13", "w14", "w15", "w19", "w20", "w21", "w23"];

/// The same in a turn of a loop, whose index is w32.
const OF_TURNS: [&str; 4] = ["w34", "w36", "w33", "w13"];

/// Writes a program.
pub struct Writer<'a> {
    pub rng: &'a mut ChaCha8Rng,
    /// Values so far.
    pub next: usize,
    /// Words that branches and requirements may be of.
    pub conditions: &'static [&'static str],
    /// Bytes of an element that is returned.
    pub bytes: usize,
}

impl Writer<'_> {
    /// Operations on the values in scope, which what they define comes into.
    pub fn block(&mut self, scope: &mut Vec<usize>) -> String {
        let mut text = "block {\n".to_owned();
        for _ in 0..self.rng.random_range(1..5) {
            let operands = [0, 1].map(|_| match self.rng.random_ratio(1, 5) {
                true => "c0".to_owned(),
                false => format!("v{}", scope.choose(self.rng).unwrap()),
            });
            let kind = ["add", "sub", "mul"].choose(self.rng).unwrap();
            writeln!(text, "v{} = {kind} {} {}", self.next, operands[0], operands[1]).unwrap();
            scope.push(self.next);
            self.next += 1;
        }
        text + "}\n"
    }

    /// Statements of an arm; the value that it gives.
    fn arm(&mut self, scope: &[usize], depth: usize) -> (String, usize) {
        let mut scope = scope.to_vec();
        let mut text = match self.rng.random_range(0..3) {
            0 => {
                let [x, y] = [0, 1].map(|_| *scope.choose(self.rng).unwrap());
                scope.push(self.next);
                self.next += 1;
                format!("call f0 (v{x} v{y}) -> (v{})\n", self.next - 1)
            }
            _ => self.block(&mut scope),
        };
        if depth > 0 && self.rng.random_ratio(1, 2) {
            let (branch, value) = self.branch(&scope, depth - 1);
            text += &branch;
            scope.push(value);
        }
        let last = *scope.last().unwrap();
        match self.rng.random_range(0..6) {
            0 => writeln!(text, "return_elements (v{last} v{last}) bytes {}", self.bytes).unwrap(),
            1 if self.bytes == 32 => writeln!(text, "return_word {}", self.conditions[0]).unwrap(),
            2 => writeln!(text, "require {}", self.conditions.choose(self.rng).unwrap()).unwrap(),
            _ => {}
        }
        (text, last)
    }

    /// A branch, and its value.
    pub fn branch(&mut self, scope: &[usize], depth: usize) -> (String, usize) {
        let condition = self.conditions.choose(self.rng).unwrap();
        let (first, a) = self.arm(scope, depth);
        let (second, b) = self.arm(scope, depth);
        let value = self.next;
        self.next += 1;
        let text =
            format!("branch {condition} {{\n{first}give (v{a})\n}} else {{\n{second}give (v{b})\n}} -> (v{value})\n");
        (text, value)
    }

    /// A loop of up to three turns, each of which parses an element, and its two values.
    fn looped(&mut self, scope: &[usize]) -> (String, [usize; 2]) {
        let [first, second] = [0, 1].map(|_| *scope.choose(self.rng).unwrap());
        let [a, b, parsed] = [0, 1, 2].map(|number| self.next + number);
        self.next += 3;
        let mut inner = [scope, &[a, b, parsed]].concat();
        let block = self.block(&mut inner);
        let outer = std::mem::replace(&mut self.conditions, &OF_TURNS);
        let (branch, value) = self.branch(&inner, 0);
        self.conditions = outer;
        let given = *inner.choose(self.rng).unwrap();
        let results = [self.next, self.next + 1];
        self.next += 2;
        let text = format!(
            "repeat w31 index w32 (v{a} v{b}) = (v{first} v{second}) {{\nparse w33 bytes 32 -> v{parsed}\n{block}{branch}give (v{value} v{given})\n}} -> (v{} v{})\n",
            results[0], results[1]
        );
        (text, results)
    }
}

/// Text of a random program over one of these moduli of two elements, which may end in several places. The second element is parsed once more at the
/// offset that is given: a word. Some have a loop.
fn program(rng: &mut ChaCha8Rng, moduli: &[&str], offset: &str, is_looped: bool) -> String {
    let p: BigUint = moduli.choose(rng).unwrap().parse().unwrap();
    let constant = rng.random_range(0..15);
    let mut writer = Writer { rng, next: 2, conditions: &CONDITIONS, bytes: 32 };
    let called = writer.block(&mut vec![0, 1]);
    let values = writer.next;
    writer.next = 4;
    let mut scope = vec![0, 1, 2, 3];
    let size = if writer.rng.random_ratio(1, 2) { "require w4\n" } else { "" };
    let block = writer.block(&mut scope);
    let [a, b] = [0, 1].map(|_| *scope.choose(writer.rng).unwrap());
    let (branch, value) = writer.branch(&scope, usize::from(!is_looped));
    scope.push(value);
    let looped = if is_looped { writer.looped(&scope) } else { (String::new(), [value; 2]) };
    scope.extend(looped.1);
    let last = writer.block(&mut scope);
    // Of a program with a loop what is returned is made after it.
    let value = if is_looped { writer.next - 1 } else { value };
    let looped = looped.0;
    let result = writer.next - 1;
    format!(
        "program \"p\"\nmodulus {p:#x}\nconstant c0 = {constant:#x}\n\
         function f0 \"called\" (v0 v1) -> (v{}) values {values} {{\n{called}}}\n\
         function f1 \"start\" () -> () values {} {{\n{WORDS}{size}parse w3 bytes 32 -> v0\nparse w0 bytes 32 -> v1\nreduce w25 -> v2\nparse {offset} bytes 32 -> v3\nequal v1 v3 -> w26\n\
         {block}is_zero v{a} -> w5\nis_zero v{b} -> w6\nbind w13 -> w14\n{branch}{looped}{last}return_elements (v{value} v{result}) bytes 32\n}}\n",
        values - 1,
        writer.next,
    )
}

/// Calldata: zeros and small numbers often, now and then a number from p on, or another size.
fn calldata(rng: &mut ChaCha8Rng, program: &Program) -> Vec<u8> {
    let p = program.modulus.known().unwrap().clone();
    let mut calldata = Vec::new();
    for _ in 0..2 {
        let number = match rng.random_range(0..8) {
            0..3 => BigUint::ZERO,
            3 => p.clone(),
            _ => BigUint::from_bytes_be(&rng.random::<[u8; 32]>()) % &p,
        };
        let bytes = number.to_bytes_be();
        calldata.extend([vec![0; 32 - bytes.len()], bytes].concat());
    }
    calldata.truncate(if rng.random_ratio(1, 8) { 63 } else { 64 });
    calldata
}

pub fn read(written: &str) -> Program {
    text::read(written).unwrap_or_else(|error| panic!("{error}:\n{written}"))
}

/// Head of a source that speaks of these programs.
const HEAD: &str = "From Coq Require Import ZArith List.\nFrom Residue Require Import Evm Program Check Slots CheckSlots Flow CheckFlow CheckLoop CheckFlowSlots CheckLoopSlots Run.\n\
    Import ListNotations.\nOpen Scope Z_scope.\n";
const SOURCES: [&str; 10] = [
    "Evm",
    "Program",
    "Check",
    "Slots",
    "CheckSlots",
    "Flow",
    "CheckFlow",
    "CheckLoop",
    "CheckFlowSlots",
    "CheckLoopSlots",
];

/// Coq's definitions of a program, by a module of its own.
pub fn module(number: usize, source: &Source) -> Option<String> {
    let terms = match source {
        Source::Flow(branching) => coq::branching(&branching.flow),
        Source::Loop(looping) => coq::looping(looping),
        Source::Straight(_) | Source::Bytes(_) => return None,
    };
    Some(format!("Module M{number}.\n{terms}\nEnd M{number}.\n"))
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_says_what_the_evaluator_does_of_programs_with_branches() {
    let Some(folder) = library("flows", &["Evm", "Program", "Flow"]) else { return };
    for (is_looped, kind, meaning) in [(false, "flow", "flow_meaning"), (true, "looped", "looped_meaning")] {
        coq_says_what_the_evaluator_does(&folder, is_looped, kind, meaning);
    }
}

fn coq_says_what_the_evaluator_does(folder: &Path, is_looped: bool, kind: &str, meaning: &str) {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed());
    let (mut modules, mut terms, mut returned) = (String::new(), Vec::new(), 0);
    for number in 0..cases(60) {
        let written = program(rng, &MODULI, "w27", is_looped);
        let program = read(&written);
        let source = match Source::of(&program) {
            Ok(source) => source,
            // Its ends come before.
            Err(error) if error.0 == "a loop that no path comes to" => continue,
            Err(error) => panic!("{error}:\n{written}"),
        };
        modules += &module(number, &source).unwrap();
        for _ in 0..6 {
            let calldata = calldata(rng, &program);
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
         Definition agrees (c : {kind} * list Z * option (list Z)) : bool :=\n\
         let '(p, cd, expected) := c in ends ({meaning} p cd) expected.\n\
         Definition cases : list ({kind} * list Z * option (list Z)) :=\n [{}].\nEval vm_compute in differing agrees 0 cases.\n",
        terms.join(";\n ")
    );
    let file = format!("Cases_{kind}");
    let said = compiled(folder, &file, &source);
    println!("{kind}: {} outcomes, of which {returned} are returns", terms.len());
    assert!(returned * 3 > terms.len() && returned < terms.len(), "{returned} of {}", terms.len());
    assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/{file}.v", folder.display());
}

/// Programs of a kind, whose code both checkers look at.
struct Kind {
    semantics: Semantics,
    is_looped: bool,
    /// Coq's type of programs, its type of hints, and its checker.
    program: &'static str,
    hints: &'static str,
    checker: &'static str,
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn coq_accepts_what_the_checker_accepts_of_programs_with_branches() {
    let Some(folder) = library("ways", &SOURCES) else { return };
    let of =
        |semantics, checker| Kind { semantics, is_looped: false, program: "flow", hints: "hints_of_flow", checker };
    let looped =
        |semantics, checker| Kind { semantics, is_looped: true, program: "looped", hints: "loop_hints", checker };
    for (kind, programs) in [
        (of(Semantics::Evm, "check_flow"), cases(24)),
        // Contexts take Coq's machine several times as long. In `evmmax-next` an instruction tests for zero, which certificates do not know.
        (of(Semantics::Slots, "check_flow_slots false"), cases(4)),
        (looped(Semantics::Evm, "check_loop"), cases(24)),
        (looped(Semantics::Slots, "check_loop_slots false"), cases(8)),
    ] {
        coq_accepts_what_the_checker_accepts(&folder, &kind, programs);
    }
}

fn coq_accepts_what_the_checker_accepts(folder: &Path, kind: &Kind, programs: usize) {
    let Kind { semantics, is_looped, program: type_of_program, hints: type_of_hints, checker } = *kind;
    let rng = &mut ChaCha8Rng::seed_from_u64(seed());
    let (mut modules, mut terms, mut accepted, mut made) = (String::new(), Vec::new(), 0, 0);
    for number in 0..programs {
        let moduli = if semantics == Semantics::Evm { &MODULI[..] } else { &MODULI[3..] };
        // Contexts take words from offsets that are known.
        let offset = if semantics == Semantics::Evm && number % 2 == 0 { "w27" } else { "w0" };
        let program = read(&program(rng, moduli, offset, is_looped));
        let certificate = match Certificate::new(&program, semantics, &code_of(&program, semantics)) {
            Ok(certificate) => certificate,
            // Not all programs are known.
            Err(_) => continue,
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
        let more = certificate.code.len();
        let hints = |code: &[u8]| match is_looped {
            true => coq::hints_of_loop(&certificate, code, more),
            false => coq::hints_of_flow(&certificate, more),
        };
        let own = hints(&certificate.code).unwrap();
        for code in codes {
            let gas = certificate.gas_of(&code).ok().map(|gas| gas.gas);
            accepted += usize::from(gas.is_some());
            let hints = hints(&code).unwrap_or_else(|| own.clone());
            terms.push(format!("(M{number}.the_program, {hints}, {}, {})", coq::bytes(&code), verdict(gas)));
        }
    }
    let revision = semantics.revision();
    println!(
        "{revision}, {type_of_program}: {made} of {programs} programs, {} codes, {accepted} accepted by both",
        terms.len()
    );
    assert!(made > 1 && made <= accepted && accepted < terms.len(), "{made} programs, {accepted} accepted");
    let source = format!(
        "{HEAD}{modules}Definition agrees (c : {type_of_program} * {type_of_hints} * list Z * option Z) : bool :=\n\
         let '(p, h, code, expected) := c in\n\
         match {checker} p h code, expected with Some g, Some h => g =? h | None, None => true | _, _ => false end.\n\
         Definition cases : list ({type_of_program} * {type_of_hints} * list Z * option Z) :=\n [{}].\nEval vm_compute in differing agrees 0 cases.\n",
        terms.join(";\n ")
    );
    let file = format!("Cases_{semantics:?}_{type_of_program}");
    let said = compiled(folder, &file, &source);
    assert_eq!(numbers(&said), "[]", "cases that differ, by number, in {}/{file}.v", folder.display());
}

/// A program that returns twice its element where that is 0, and its square elsewhere.
const TWO_ENDS: &str = "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values 3 {\nword w0 = 0x0\nword w1 = defined\n\
    parse w0 bytes 32 -> v0\nis_zero v0 -> w1\nbranch w1 {\nblock { v1 = add v0 v0 }\nreturn_elements (v1) bytes 32\ngive ()\n} else {\ngive ()\n} -> ()\n\
    block { v2 = mul v0 v0 }\nreturn_elements (v2) bytes 32\n}\n";
/// The element, and a jump to the failure, byte 46, if it is not below the modulus.
const ELEMENT: [u8; 9] = [0x5f, 0x35, 0x60, 100, 0x81, 0x11, 0x60, 46, 0x57];
/// A jump to byte 29 if the element is not 0.
const ZERO: [u8; 4] = [0x80, 0x60, 29, 0x57];
/// Twice, and the square of, the element on top modulo 0x65, and its return.
const DOUBLE: [u8; 5] = [0x60, 0x65, 0x90, 0x80, 0x08];
const SQUARE: [u8; 5] = [0x60, 0x65, 0x90, 0x80, 0x09];
const END: [u8; 6] = [0x5f, 0x52, 0x60, 32, 0x5f, 0xf3];

/// Code of [`TWO_ENDS`]: its parts, each one with NOPs (JUMPDEST) up to its place.
fn two_ends(element: &[u8], zero: &[u8], first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut code = [element, zero, first].concat();
    code.resize(29, 0x5b);
    code.push(0x5b);
    code.extend(second);
    code.resize(46, 0x5b);
    [&code[..], &[0x5b, 0xfe]].concat()
}

#[test]
fn code_of_a_program_with_two_ends_is_refused_with_the_instruction() {
    let program = read(TWO_ENDS);
    let [double, square] = [DOUBLE, SQUARE].map(|part| [&part[..], &END].concat());
    let right = two_ends(&ELEMENT, &ZERO, &double, &square);
    let certificate = Certificate::new(&program, Semantics::Evm, &right).unwrap();
    certificate.check().unwrap();
    let engine = engine(Semantics::Evm);
    let run = |last: u8, gas| engine.run_code(&right, &[&[0; 31][..], &[last]].concat(), gas);
    assert_eq!([0, 7].map(|last| run(last, certificate.gas).output.last().copied()), [Some(0), Some(49)]);
    assert_eq!((run(101, 1000).halt.is_exceptional(), run(7, certificate.gas - 1).halt), (true, Halt::OutOfGas));
    for (code, expected) in [
        // The two ends exchanged, and one of them for both.
        (two_ends(&ELEMENT, &ZERO, &square, &double), "RETURN): v1 = (0x2·v0) is to be returned, found (v2)"),
        (two_ends(&ELEMENT, &ZERO, &double, &double), "RETURN): v2 = (v2) is to be returned, found (0x2·v0)"),
        // Where the program may fail, and where it does not.
        (two_ends(&[0x5f, 0x35], &ZERO, &double, &square), "RETURN): the code returns where the program may fail"),
        (two_ends(&ELEMENT, &ZERO, &[0xfe], &square), "INVALID): the code fails where the program does not"),
        (
            two_ends(&[0x5f, 0x5f, 0x52, 0x60, 32, 0x5f, 0xf3], &[], &[], &[]),
            "RETURN): the code returns where the program may fail",
        ),
        // Targets that are no JUMPDEST, and one that calldata has an effect on.
        (
            two_ends(&ELEMENT, &[0x80, 0x60, 3, 0x57], &double, &square),
            "JUMPI): the jump to 0x3 is to go to a JUMPDEST",
        ),
        (two_ends(&ELEMENT, &[0x60, 3, 0x56], &double, &square), "JUMP): the jump to 0x3 is to go to a JUMPDEST"),
        (
            two_ends(&ELEMENT, &[0x36, 0x56], &double, &square),
            "JUMP): a number is expected that calldata has no effect on",
        ),
        // Words that may be p, and none.
        (
            two_ends(&ELEMENT, &[0x60, 1, 0x01, 0x60, 29, 0x57], &double, &square),
            "JUMPI): it is not known when (0x1 + v0) is 0",
        ),
        (two_ends(&ELEMENT, &[0x60, 29, 0x57, 0x57], &double, &square), "JUMPI): the stack is empty"),
        // Copies of bytes that are no words.
        (two_ends(&ELEMENT, &[0x60, 31, 0x5f, 0x5f, 0x5e], &[], &[]), "MCOPY): a copy of whole words is expected"),
        // No end: turns of a loop, and ways that double in each turn.
        (vec![0x5b, 0x5f, 0x56], "all ways together have more than 1048576 instructions"),
        (vec![0x5b, 0x36, 0x5f, 0x57, 0x5f, 0x56], "more than 4194304 terms in all"),
    ] {
        let gas = certificate.gas_of(&code);
        let error = gas.map_or_else(|error| error.to_string(), |gas| format!("accepted with {gas} gas"));
        assert!(error.contains(expected), "{}: {error}", hex::encode(&code));
    }
}

#[test]
fn a_changed_certificate_of_a_program_with_branches_is_refused_with_its_line() {
    let (program, code) = crate::compiled("bn254/add", Semantics::Evm);
    let text = Certificate::new(&program, Semantics::Evm, &code).unwrap().print();
    let line_of = |part: &str| text[..text.find(part).expect("it is there")].matches('\n').count() + 1;
    for (part, other, at, expected) in [
        ("\ngas 5426", "\ngas 5314", "gas 5426", "gas 5314 is stated, and the code takes 5426"),
        ("\nvalues v0 v1 ", "\nvalues v1 v0 ", "code sha256", "the program does not parse at byte 0"),
        (
            "\nvalues v0 v1 v2 v3 ",
            "\nvalues v0 v1 v2 v3 v4 v4 ",
            "code sha256",
            "the witness has v4 here, the product of",
        ),
        ("branch w48", "branch w47", "program sha256", "another program, or damaged"),
    ] {
        let changed = text.replacen(part, other, 1);
        assert_ne!(changed, text, "{part}");
        let error = Certificate::read(&changed).and_then(|read| read.check()).expect_err("it is refused");
        assert!(error.what.contains(expected) && error.line >= line_of(at), "{part:?}: {error}");
        assert!(at != "gas 5426" || error.line == line_of(at), "{error}");
    }
}

/// The offset of the first label of a certificate.
fn place(text: &str) -> &str {
    text.split("\nlabel ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap()
}

#[test]
fn a_changed_certificate_of_a_program_with_a_loop_is_refused_with_its_line() {
    for semantics in [Semantics::Evm, Semantics::Slots] {
        let (program, code) = crate::compiled("poseidon2/merkle", semantics);
        let text = Certificate::new(&program, semantics, &code).unwrap().print();
        assert_eq!(Certificate::read(&text).unwrap().print(), text);
        let line_of = |part: &str| text[..text.find(part).expect("it is there")].matches('\n').count() + 1;
        let wrong = |part: &str, other: &str, at: usize, expected: &str| {
            let changed = text.replacen(part, other, 1);
            assert_ne!(changed, text, "{part}");
            let error = Certificate::read(&changed).and_then(|read| read.check()).expect_err("it is refused");
            assert!(error.what.contains(expected) && error.line == at, "{part:?}: {error}");
        };
        let (turn, label, stack) = (line_of("\nturn ") + 1, line_of("\nlabel ") + 1, line_of("\nstack ") + 1);
        let [code_at, gas_at] = ["code sha256", "\ngas "].map(line_of);
        wrong("\nturn ", "\nturns ", turn, "`turn` is expected, found \"turns\"; did you mean turn?");
        wrong("\nturn ", "\nturn 1", gas_at + 1, "a turn is stated, and the code takes ");
        wrong("\nlabel ", "\nlabel x", label, "the offset of a label is expected");
        wrong(" words ", " of ", label, "`words` is expected, found \"of\"");
        wrong(
            "\nstack index",
            "\nstack state",
            stack,
            "one of kept, state0, index and any is expected, found \"state\"",
        );
        wrong("\nmemory 0 ", "\nmemory 99 ", stack + 1, "the number of a later word of memory is expected");
        let first = code_at + 1;
        let found = |part: &str, other: &str, expected: &str| {
            let changed = text.replacen(part, other, 1);
            let error = Certificate::read(&changed).and_then(|read| read.check()).expect_err("it is refused");
            assert!(error.what.contains(expected) && error.line >= first, "{part:?}: {error}");
        };
        found("\nstack index", "\nstack any", "");
        found("\nstack index kept", "\nstack index kept kept", "a turn begins with 4 words on the stack");
        found("\nstack index", "\nstack state9", "the state of the loop has 1 values, there is no state9");
        found(" words ", " words 1", "of memory, found ");
        found("\nlabel ", "\nlabel 9", "");
        found(&format!("\nlabel {}", place(&text)), &format!("\nlabel {}", usize::MAX), "");
        // A word that has been written is not taken for zero.
        match semantics {
            Semantics::Slots => found("\nmemory 0 any 1 any", "\nmemory 0 any", "zeros in word 1 of memory"),
            _ => found(" 5 any", "", "zeros in word 5 of memory"),
        }
        if semantics == Semantics::Slots {
            found("\nslots 32 kept", "\nslots 40 kept", "a turn begins with other slots");
            found("\nslots 32 kept", "\nslots 32 index", "a slot holds no index");
            found("\nslots 32 kept", "\nslots 32 any any", "a turn begins with other slots");
        }
    }
}

/// Words, branches and calls that would take more room or time than there is, were they without a limit.
#[test]
fn hostile_programs_are_refused() {
    let fault = |program: &str| Source::of(&read(program)).expect_err("it is refused").to_string();
    let of = |words: &str, statements: &str| {
        format!(
            "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values 1 {{\nword w0 = 0x0\nword w1 = calldata_word w0\n{words}\
             parse w0 bytes 32 -> v0\n{statements}return_elements (v0) bytes 32\n}}\n"
        )
    };
    let doubled: String = (2..10).map(|word| format!("word w{word} = or w{} w{}\n", word - 1, word - 1)).collect();
    assert!(fault(&of(&doubled, "require w9\n")).contains("a word of more than 256 parts"));
    let defined = |count: usize| (2..count + 2).map(|word| format!("word w{word} = defined\n")).collect::<String>();
    let words: String = (0..40).map(|word| format!("word w{} = or w{} w{}\n", word + 42, word + 2, word + 2)).collect();
    let binds: String = (0..39).map(|word| format!("bind w{} -> w{}\n", word + 42, word + 3)).collect();
    let text = of(&(defined(40) + &words), &format!("bind w1 -> w2\n{binds}"));
    assert!(fault(&text).contains("an OR of more than 64 words"));
    // Nine requirements of either of two words each: the paths of the first eight are 256.
    let calldata: String = (0..20)
        .map(|word| {
            format!(
                "word w{} = {:#x}\nword w{} = calldata_word w{}\n",
                2 * word + 2,
                32 * word + 32,
                2 * word + 3,
                2 * word + 2
            )
        })
        .collect();
    let branches: String =
        (0..20).map(|word| format!("branch w{} {{ give () }} else {{ give () }} -> ()\n", 2 * word + 3)).collect();
    assert!(fault(&of(&calldata, &branches)).contains("more than 256 paths"));
    let requirements = "require w1\n".repeat(500);
    assert!(fault(&of("", &requirements)).contains("paths of more than 400 requirements"));
}

/// Code stores two words of calldata, and so halts if the second one is not below the modulus, of which the program reads no more than whether it is 0.
#[test]
fn a_store_that_halts_where_the_program_does_not_fail_is_refused() {
    let program = "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values 3 {\nword w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w1\n\
        parse w0 bytes 32 -> v0\nblock { v1 = add v0 v0 }\nbranch w2 {\nreturn_elements (v1) bytes 32\ngive ()\n} else {\ngive ()\n} -> ()\n\
        block { v2 = mul v0 v0 }\nreturn_elements (v2) bytes 32\n}\n";
    // A context of 3 slots, calldata in memory, and its words in slots.
    let context = [0x60, 0x65, 0x50, 0x60, 3, 0x60, 1, 0x60, 1, 0x5f, 0xd1];
    for (words, expected) in
        [(2, "STOREPX): the store may halt where the program does not fail"), (1, "the end of the code)")]
    {
        let code = [&context[..], &[0x60, 64, 0x5f, 0x5f, 0x37, 0x60, words, 0x5f, 0x5f, 0xd0, 32]].concat();
        let error = Certificate::new(&read(program), Semantics::Next, &code).expect_err("it is refused").to_string();
        assert!(error.contains(expected), "{words} words: {error}");
    }
}
