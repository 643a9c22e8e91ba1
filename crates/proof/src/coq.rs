//! Certificates as theorems that Coq's kernel checks: the sources of the checker with its proof, and a file for each certificate.

use crate::certificate::Certificate;
use crate::flow::paths::opcode;
use crate::flow::{Expression, Flow, Step};
use crate::semantics::Semantics;
use crate::source::Source;
use crate::straight::{Operation, Read, Straight};
use crate::sum::{Atom, is_wide};
use crate::tables::Tables;
use crate::witness::Witness;
use crate::words::{NamedWord, Part};
use residue_ir::{FieldOp, Value, Word, WordOp};
use residue_isa::opcode::evm;
use ruint::aliases::U256;
use std::fmt::Display;

/// The name under which Coq knows the sources: `coqc -Q FOLDER Residue`.
pub const LIBRARY: &str = "Residue";

/// Bytes of code on a line.
const ROW_BYTES: usize = 32;
/// Items of a list on a line.
const ROW_ITEMS: usize = 16;

/// The sources that theorems stand on, each with its name, in the order in which they are compiled.
pub const SOURCES: [(&str, &str); 18] = [
    ("Evm", include_str!("../coq/Evm.v")),
    ("Words", include_str!("../coq/Words.v")),
    ("Program", include_str!("../coq/Program.v")),
    ("Check", include_str!("../coq/Check.v")),
    ("Sums", include_str!("../coq/Sums.v")),
    ("Sound", include_str!("../coq/Sound.v")),
    ("Slots", include_str!("../coq/Slots.v")),
    ("CheckSlots", include_str!("../coq/CheckSlots.v")),
    ("Copies", include_str!("../coq/Copies.v")),
    ("SoundSlots", include_str!("../coq/SoundSlots.v")),
    ("Flow", include_str!("../coq/Flow.v")),
    ("CheckFlow", include_str!("../coq/CheckFlow.v")),
    ("SoundFlow", include_str!("../coq/SoundFlow.v")),
    ("CheckFlowSlots", include_str!("../coq/CheckFlowSlots.v")),
    ("SoundFlowSlots", include_str!("../coq/SoundFlowSlots.v")),
    ("Limbs", include_str!("../coq/Limbs.v")),
    ("CheckWide", include_str!("../coq/CheckWide.v")),
    ("SoundWide", include_str!("../coq/SoundWide.v")),
];
/// Those that every theorem stands on: the first ones.
const COMMON: usize = 6;
/// After them those of code with slots, of programs with branches, and of both together; the last ones are of moduli that are no words.
const SLOTS: usize = 4;
const FLOW: usize = 3;
const BOTH: usize = 2;

/// The sources that the theorem of a certificate stands on.
pub fn sources(certificate: &Certificate) -> Vec<(&'static str, &'static str)> {
    let (common, rest) = SOURCES.split_at(COMMON);
    let (slots, rest) = rest.split_at(SLOTS);
    let (flow, rest) = rest.split_at(FLOW);
    let (both, wide) = rest.split_at(BOTH);
    let has_slots = certificate.semantics != Semantics::Evm;
    match (&certificate.program, has_slots) {
        (Source::Straight(_), false) => common.to_vec(),
        (Source::Straight(_), true) => [common, slots].concat(),
        (Source::Flow(_), false) => [common, flow].concat(),
        (Source::Flow(branching), true) if is_wide(branching.flow.modulus) => {
            [common, slots, flow, both, wide].concat()
        }
        (Source::Flow(_), true) => [common, slots, flow, both].concat(),
    }
}

/// Coq's name of an atom: 1 is the number 1, and value n is n + 2.
fn name(atom: Atom) -> u64 {
    u64::from(atom.0) + 1
}

fn value(value: Value) -> u64 {
    name(Atom::of(value))
}

fn list(items: impl IntoIterator<Item = impl Display>, row: usize) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let rows: Vec<String> = items.chunks(row).map(|row| row.join("; ")).collect();
    format!("[{}]", rows.join(";\n   "))
}

/// A list as the parts of one: Coq reads lists by a recursion.
fn long_list<T>(items: &[T], spelled: impl Fn(&T) -> String) -> String {
    const PART: usize = 4096;
    match items.len() {
        ..=PART => list(items.iter().map(spelled), ROW_ITEMS),
        _ => format!("(concat {})", list(items.chunks(PART).map(|part| list(part.iter().map(&spelled), ROW_ITEMS)), 1)),
    }
}

fn read(read: Read) -> String {
    match read {
        Read::Value(read) => format!("(V {})", value(read)),
        Read::Number(number) => format!("(C {number:#x})"),
    }
}

fn operation(&Operation { value: defined, kind, x, y }: &Operation) -> String {
    let kind = match kind {
        FieldOp::Add => "KAdd",
        FieldOp::Sub => "KSub",
        FieldOp::Mul => "KMul",
    };
    let [x, y] = [x, y].map(read);
    format!("Op {} {kind} {x} {y}", value(defined))
}

/// A row of bytes as a number; the last one is filled up with zeros.
fn row(bytes: &[u8]) -> String {
    let mut filled = [0; ROW_BYTES];
    filled[..bytes.len()].copy_from_slice(bytes);
    format!("{:#x}", U256::from_be_bytes(filled))
}

/// Bytes as a term of Coq's: a list of numbers.
pub fn bytes(bytes: &[u8]) -> String {
    format!("code_of {}\n  {}", bytes.len(), list(bytes.chunks(ROW_BYTES).map(row), 1))
}

/// A program as a term of Coq's.
pub fn program(straight: &Straight) -> String {
    let Straight { modulus, calldata_bytes, parses, operations, results, .. } = straight;
    let parses =
        list(parses.iter().map(|&(parsed, offset)| format!("({}%positive, {offset})", value(parsed))), ROW_ITEMS);
    let operations = list(operations.iter().map(operation), 1);
    let results = list(results.iter().map(|&result| value(result)), ROW_ITEMS);
    format!("Program {modulus:#x} {calldata_bytes}\n  {parses}\n  {operations}\n  {results}%positive")
}

/// A witness as a term of Coq's.
pub fn hints(Witness { values, names }: &Witness) -> String {
    let spelled = |named: &Option<Atom>| named.map_or_else(|| "None".to_owned(), |atom| format!("Some {}", name(atom)));
    let values = long_list(values, |&atom| name(atom).to_string());
    format!("Witness\n  {values}%positive\n  {}%positive", long_list(names, spelled))
}

/// Coq's name of a word.
fn word(word: Word) -> u64 {
    u64::from(word.0) + 1
}

/// Coq's name of an instruction on two words.
const fn mnemonic(opcode: u8) -> &'static str {
    match opcode {
        evm::ADD => "ADD",
        evm::SUB => "SUB",
        evm::MUL => "MUL",
        evm::DIV => "DIV",
        evm::MOD => "MOD",
        evm::CALLDATALOAD => "CALLDATALOAD",
        evm::LT => "LT",
        evm::EQ => "EQ",
        evm::AND => "AND",
        evm::OR => "OR",
        _ => "SHR",
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Number(number) => format!("(PNum {number:#x})"),
        Part::Size => "PSize".to_owned(),
        Part::Value(atom) => format!("(PRead {})", name(*atom)),
        Part::Bits(atoms, bits) => {
            format!("(PBits {}%positive {bits})", list(atoms.iter().map(|&atom| name(atom)), ROW_ITEMS))
        }
    }
}

fn named_word(NamedWord { value: named, opcode, first, second }: &NamedWord) -> String {
    format!("({}%positive, ({}, {}, {}))", value(*named), mnemonic(*opcode), part(first), part(second))
}

fn expression(expression: &Expression) -> String {
    match expression {
        Expression::Number(number) => format!("(Number {number:#x})"),
        Expression::Size => "Size".to_owned(),
        Expression::Calldata(offset) => format!("(Calldata {offset})"),
        Expression::Defined(defined) => format!("(Defined {})", word(*defined)),
        Expression::Op(op, a, b) => {
            // Code has the number of bits on top.
            let (a, b) = if *op == WordOp::Shr { (b, a) } else { (a, b) };
            format!("(Bin {} {} {})", mnemonic(opcode(*op)), self::expression(a), self::expression(b))
        }
    }
}

fn values(values: &[Value]) -> String {
    format!("{}%positive", list(values.iter().map(|&one| value(one)), ROW_ITEMS))
}

fn reads(reads: &[Read]) -> String {
    list(reads.iter().map(|&one| read(one)), ROW_ITEMS)
}

/// Steps, one a line, each in the bracket of the one before it.
fn steps(flow: &Flow, all: &[Step]) -> String {
    let mut text = String::new();
    for step in all {
        text += &match step {
            Step::Operations(operations) => format!("(Ops {}\n", list(operations.iter().map(operation), 1)),
            Step::Move { to, from } => format!("(Move {} {}\n", values(to), reads(from)),
            Step::Parse(parsed, offset) => format!("(Parse {} {offset}\n", value(*parsed)),
            Step::ParseAt(parsed, offset) => format!("(ParseAt {} {}\n", value(*parsed), expression(offset)),
            Step::Reduce(reduced, taken) => format!("(Reduce {} {}\n", value(*reduced), expression(taken)),
            Step::IsZero(result, x) => format!("(IsZero {} {}\n", word(*result), read(*x)),
            Step::Bind(result, bound) => format!("(Bind {} {}\n", word(*result), expression(bound)),
            Step::Require(condition) => format!("(Need {}\n", expression(condition)),
            Step::Branch(condition, first, second) => {
                format!("(Branch {}\n{}\n{}\n", expression(condition), steps(flow, first), steps(flow, second))
            }
            Step::Call { function, arguments, results } => {
                let routine = &flow.routines[*function];
                let (parameters, gives) = (values(&routine.parameters), reads(&routine.results));
                let (arguments, results) = (reads(arguments), values(results));
                format!("(Call {parameters} {arguments} f{function} {gives} {results}\n")
            }
            Step::Return(returned) => format!("(Return {}", reads(returned)),
            Step::ReturnWord(returned) => format!("(ReturnWord {}", expression(returned)),
            Step::ParseBytes(parsed, offset, bytes) => format!("(ParseBytes {} {offset} {bytes}\n", value(*parsed)),
            Step::ReturnBytes(bytes, returned) => format!("(ReturnBytes {bytes} {}", reads(returned)),
        };
    }
    if !matches!(all.last(), Some(Step::Return(_) | Step::ReturnWord(_) | Step::ReturnBytes(..))) {
        text += "Done";
    }
    text + &")".repeat(all.len())
}

/// A program with branches as terms of Coq's: its functions, and the program by the name `the_program`.
pub fn branching(flow: &Flow) -> String {
    let mut text = String::new();
    for (number, routine) in flow.routines.iter().enumerate() {
        text += &format!("Definition f{number} : body :=\n{}.\n\n", steps(flow, &routine.steps));
    }
    let last = flow.routines.len() - 1;
    text + &format!("Definition the_program : flow := Flow {:#x} f{last}.", flow.modulus)
}

/// Hints of a program with branches as a term of Coq's, for code of `more` instructions than the certificate's; `None` of a straight one.
pub fn hints_of_flow(certificate: &Certificate, more: usize) -> Option<String> {
    let Certificate { program: Source::Flow(branching), code, semantics, witness, .. } = certificate else {
        return None;
    };
    let program = &branching.paths.program;
    let steps = certificate.run(code).map_or(0, |ran| ran.steps) + more;
    let aliases = certificate.program.job(*semantics, code).named(witness).map_or_else(|_| Vec::new(), Tables::aliases);
    let same = aliases.into_iter().map(|(later, first)| format!("({}, {})", name(later), name(first)));
    let reads = program.parses.iter().map(|&(parsed, offset)| format!("({}%positive, {offset})", value(parsed)));
    let (reads, same) = (list(reads, ROW_ITEMS), list(same, ROW_ITEMS));
    let words = list(program.words.iter().map(named_word), 1);
    Some(format!("Hints {reads} {words} {steps}\n  {same}%positive\n  ({})", hints(witness)))
}

/// The checker of a theorem, its proof, the files that have them beside those of today's EVM, and a run.
struct Judge {
    files: String,
    check: String,
    sound: String,
    eval: String,
}

impl Judge {
    fn of(program: &Source, semantics: Semantics) -> Self {
        let (slots, flow) = (" Slots CheckSlots SoundSlots", " Flow CheckFlow SoundFlow");
        let both = format!("{slots}{flow} CheckFlowSlots SoundFlowSlots");
        let (name, files) = match (program, semantics) {
            (Source::Straight(_), Semantics::Evm) => ("check", String::new()),
            (Source::Flow(_), Semantics::Evm) => ("check_flow", flow.to_owned()),
            (Source::Straight(_), _) => ("check_slots", slots.to_owned()),
            (Source::Flow(branching), _) if is_wide(branching.flow.modulus) => {
                ("check_wide", format!("{both} Limbs CheckWide SoundWide"))
            }
            (Source::Flow(_), _) => ("check_flow_slots", both),
        };
        match semantics {
            Semantics::Evm => {
                let eval = "Eval code calldata (start g)".to_owned();
                Self { files, check: name.to_owned(), sound: format!("{name}_sound"), eval }
            }
            Semantics::Slots | Semantics::Next => {
                let next = semantics == Semantics::Next;
                let eval = format!("FEval {next} code calldata (start g) none");
                Self { files, check: format!("{name} {next}"), sound: format!("{name}_sound {next}"), eval }
            }
        }
    }
}

/// The theorem of a certificate, as a source for Coq: the code ends as the program does, with any gas from the stated amount on.
pub fn theorem(certificate: &Certificate) -> String {
    let Certificate { program, semantics, code, gas, witness, .. } = certificate;
    let Judge { files, check, sound, eval } = Judge::of(program, *semantics);
    let (program, meaning, kind, witness) = match program {
        Source::Straight(straight) => {
            let program = format!("Definition the_program : program := {}.", self::program(straight));
            (program, "meaning", "witness", hints(witness))
        }
        Source::Flow(branching) => {
            let hints = hints_of_flow(certificate, 0).unwrap_or_default();
            (self::branching(&branching.flow), "flow_meaning", "hints_of_flow", hints)
        }
    };
    let (program_hash, code_hash) = (certificate.program_hash(), certificate.code_hash());
    let code = bytes(code);
    format!(
        "(* The program of SHA-256 {program_hash},
   the code of SHA-256 {code_hash}. Written by `residue prove`. *)
From Coq Require Import ZArith List.
From Residue Require Import Evm Words Program Check Sound{files}.
Import ListNotations.
Open Scope Z_scope.

{program}

Definition code : list Z := {code}.

Definition the_witness : {kind} := {witness}.

Lemma accepted : {check} the_program the_witness code = Some {gas}.
Proof. vm_cast_no_check (eq_refl (Some {gas})). Qed.

(* For all calldata, with {gas} gas or more, the code ends as the program does: with its bytes, or with a failure. *)
Theorem right : forall calldata, Forall is_byte calldata -> Z.of_nat (length calldata) < W ->
  forall g, {gas} <= g -> {eval} ({meaning} the_program calldata).
Proof. exact ({sound} the_program the_witness code {gas} accepted). Qed.
Print Assumptions right.
"
    )
}
