//! Certificates as theorems that Coq's kernel checks: the sources of the checker with its proof, and a file for each certificate.

mod bytes;

pub use bytes::{program as program_of_words, verdict as verdict_of_words};

use crate::certificate::Certificate;
use crate::check::symbol::{Condition, Symbol};
use crate::flow::paths::opcode;
use crate::flow::{Expression, Flow, Step};
use crate::label::{Place, Turn};
use crate::looped::{Judged, Looping};
use crate::semantics::Semantics;
use crate::source::Source;
use crate::straight::{Operation, Read, Straight};
use crate::sum::{Atom, Sum, is_wide};
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
pub const SOURCES: [(&str, &str); 26] = [
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
    ("CheckLoop", include_str!("../coq/CheckLoop.v")),
    ("SoundLoop", include_str!("../coq/SoundLoop.v")),
    ("CheckFlowSlots", include_str!("../coq/CheckFlowSlots.v")),
    ("SoundFlowSlots", include_str!("../coq/SoundFlowSlots.v")),
    ("CheckLoopSlots", include_str!("../coq/CheckLoopSlots.v")),
    ("SoundLoopSlots", include_str!("../coq/SoundLoopSlots.v")),
    ("Limbs", include_str!("../coq/Limbs.v")),
    ("CheckWide", include_str!("../coq/CheckWide.v")),
    ("SoundWide", include_str!("../coq/SoundWide.v")),
    ("Hashing", include_str!("../coq/Hashing.v")),
    ("Bytes", include_str!("../coq/Bytes.v")),
    ("CheckBytes", include_str!("../coq/CheckBytes.v")),
    ("SoundBytes", include_str!("../coq/SoundBytes.v")),
];
/// Those that every theorem stands on.
const COMMON: [&str; 6] = ["Evm", "Words", "Program", "Check", "Sums", "Sound"];
/// Beside them those of code with slots, of programs with branches, of both together, of moduli that are no words, of a loop, and of one in code with slots.
const SLOTS: [&str; 4] = ["Slots", "CheckSlots", "Copies", "SoundSlots"];
const FLOW: [&str; 3] = ["Flow", "CheckFlow", "SoundFlow"];
const BOTH: [&str; 2] = ["CheckFlowSlots", "SoundFlowSlots"];
const WIDE: [&str; 3] = ["Limbs", "CheckWide", "SoundWide"];
const LOOP: [&str; 2] = ["CheckLoop", "SoundLoop"];
const BYTES: [&str; 4] = ["Hashing", "Bytes", "CheckBytes", "SoundBytes"];
const LOOP_SLOTS: [&str; 2] = ["CheckLoopSlots", "SoundLoopSlots"];

/// The checker of a certificate, and the sources that it stands on beside the common ones.
fn judge(certificate: &Certificate) -> (&'static str, Vec<&'static str>) {
    let has_slots = certificate.semantics != Semantics::Evm;
    match (&certificate.program, has_slots) {
        (Source::Straight(_), false) => ("check", Vec::new()),
        (Source::Straight(_), true) => ("check_slots", SLOTS.to_vec()),
        (Source::Flow(_), false) => ("check_flow", FLOW.to_vec()),
        (Source::Flow(branching), true) if is_wide(branching.flow.modulus) => {
            ("check_wide", [&SLOTS[..], &FLOW, &BOTH, &WIDE].concat())
        }
        (Source::Flow(_), true) => ("check_flow_slots", [&SLOTS[..], &FLOW, &BOTH].concat()),
        (Source::Bytes(_), _) => ("check_bytes", BYTES.to_vec()),
        (Source::Loop(_), false) => ("check_loop", [&FLOW[..], &LOOP].concat()),
        (Source::Loop(_), true) => ("check_loop_slots", [&SLOTS[..], &FLOW, &BOTH, &LOOP, &LOOP_SLOTS].concat()),
    }
}

/// The sources that the theorem of a certificate stands on.
pub fn sources(certificate: &Certificate) -> Vec<(&'static str, &'static str)> {
    let (_, beside) = judge(certificate);
    SOURCES.into_iter().filter(|(name, _)| COMMON.contains(name) || beside.contains(name)).collect()
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

fn routines(flow: &Flow) -> String {
    let routines = flow.routines.iter().enumerate();
    let each = routines
        .map(|(number, routine)| format!("Definition f{number} : body :=\n{}.\n\n", steps(flow, &routine.steps)));
    each.collect()
}

/// A program with branches as terms of Coq's: its functions, and the program by the name `the_program`.
pub fn branching(flow: &Flow) -> String {
    let last = flow.routines.len() - 1;
    routines(flow) + &format!("Definition the_program : flow := Flow {:#x} f{last}.", flow.modulus)
}

/// Hints of a program with branches as a term of Coq's, for code of `more` instructions than the certificate's; `None` of a straight one.
pub fn hints_of_flow(certificate: &Certificate, more: usize) -> Option<String> {
    let Certificate { program: Source::Flow(branching), code, semantics, witness, .. } = certificate else {
        return None;
    };
    let program = &branching.paths.program;
    let steps = certificate.run(code)?.map_or(0, |ran| ran.steps) + more;
    let aliases =
        certificate.program.job(*semantics, code)?.named(witness).map_or_else(|_| Vec::new(), Tables::aliases);
    let (reads, same) = (parses(program), aliased(&aliases));
    let words = list(program.words.iter().map(named_word), 1);
    Some(format!("Hints {reads} {words} {steps}\n  {same}\n  ({})", hints(witness)))
}

/// Values that are earlier ones.
fn aliased(aliases: &[(Atom, Atom)]) -> String {
    let same = aliases.iter().map(|&(later, first)| format!("({}, {})", name(later), name(first)));
    format!("{}%positive", list(same, ROW_ITEMS))
}

/// Words of calldata that a program reads.
fn parses(program: &Straight) -> String {
    list(program.parses.iter().map(|&(parsed, offset)| format!("({}%positive, {offset})", value(parsed))), ROW_ITEMS)
}

/// A program with a loop as terms of Coq's.
pub fn looping(Looping { flow, looped, .. }: &Looping) -> String {
    let last = flow.routines.len() - 1;
    let (count, index, state) = (expression(&looped.count), word(looped.index), values(&looped.state));
    let (first, gives, results) = (reads(&looped.first), reads(&looped.gives), values(&looped.results));
    let [turn, after] = [&looped.turn, &looped.after].map(|all| steps(flow, all));
    routines(flow)
        + &format!("Definition turn : body :=\n{turn}.\n\nDefinition after : body :=\n{after}.\n\n")
        + &format!("Definition the_loop : loop := Loop {count} {index} {state} {first} turn {gives} {results}.\n\n")
        + &format!("Definition the_program : looped := Looped {:#x} f{last} the_loop after.", flow.modulus)
}

fn sum(sum: &Sum) -> String {
    list(sum.terms().iter().map(|&(atom, factor)| format!("({}%positive, {factor:#x})", name(atom))), ROW_ITEMS)
}

fn atoms(atoms: &[Atom]) -> String {
    format!("{}%positive", list(atoms.iter().map(|&atom| name(atom)), ROW_ITEMS))
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::SizeIs(size) => format!("(CSize {size:#x})"),
        Condition::NotBelow(atom) => format!("(CNotBelow {})", name(*atom)),
        Condition::Above(atom, bits) => format!("(CAbove {} {bits})", name(*atom)),
        Condition::Zero(zero) => format!("(CZero {})", sum(zero)),
        Condition::Nothing(all) => format!("(CNone {})", atoms(all)),
        Condition::Not(inner, _) => format!("(CNot {})", condition(inner)),
        Condition::Both(one, other, _) => format!("(CAnd {} {})", condition(one), condition(other)),
    }
}

fn symbol(of: &Symbol) -> String {
    match of {
        Symbol::Sum { sum: inner, least, most } => format!("(SW {} {least:#x} {most:#x})", sum(inner)),
        Symbol::Parsed(atom) => format!("(SRaw {})", name(*atom)),
        Symbol::Size => "SSize".to_owned(),
        Symbol::Truth(holds) => format!("(SB {})", condition(holds)),
        Symbol::Or(all, bits) => format!("(SOr {} {bits})", atoms(all)),
        Symbol::Part(of, parts) => format!("(SPart {} {})", sum(of), list(parts.iter(), ROW_ITEMS)),
    }
}

fn place(of: &Place) -> String {
    match of {
        Place::Kept(kept) => format!("(Kept {})", symbol(kept)),
        Place::Carried(number) => format!("(Carried {number})"),
        Place::Counter => "Counter".to_owned(),
        Place::Any => "Any".to_owned(),
    }
}

/// A label with the gas from there on.
fn label(turn: &Turn, gas: u64) -> String {
    let stack = list(turn.stack.iter().map(place), 1);
    // Keys of memory are numbers of words, from 1.
    let memory = turn.memory.iter().map(|(number, of)| format!("({}%positive, {})", u64::from(*number) + 1, place(of)));
    let values = turn.values.iter().map(|(&known, &of)| format!("({}%positive, {})", value(known), read(of)));
    let words = turn.words.iter().map(|(&known, of)| format!("({}%positive, {})", word(known), symbol(of)));
    let facts = turn.facts.0.iter().map(|(fact, holds)| format!("({}, {holds})", condition(fact)));
    let (width, slots) = turn.slots.as_ref().map_or((0, &[][..]), |(width, slots)| (*width, slots));
    let slots = list(slots.iter().map(place), 1);
    let [memory, values, words, facts] = [list(memory, 1), list(values, ROW_ITEMS), list(words, 1), list(facts, 1)];
    format!(
        "(Label {} {} {stack}\n  {memory}\n  {width} {slots}\n  {values}\n  {words}\n  {facts} {gas})",
        turn.place, turn.memory_words
    )
}

/// Hints of a part as a term of Coq's, without the words of other parts.
fn part_hints(Judged { program, aliases, steps }: &Judged, words: usize, witness: &Witness, more: usize) -> String {
    let (words, same) = (list(program.words[words..].iter().map(named_word), 1), aliased(aliases));
    format!("(Part {words} {}\n  {same}\n  ({}))", steps + more, hints(witness))
}

/// Hints of a program with a loop as a term of Coq's, with the gas of this code, which may have `more` instructions than on the way that was gone;
/// `None` of another program, and of code that is refused.
pub fn hints_of_loop(certificate: &Certificate, code: &[u8], more: usize) -> Option<String> {
    let Certificate { program: Source::Loop(looping), semantics, witness, turns, .. } = certificate else {
        return None;
    };
    let verdict = looping.judge(*semantics, code, witness, turns).ok()?;
    let program = &verdict.first.program;
    let first = part_hints(&verdict.first, 0, witness, more);
    let labels = verdict.turns.iter().zip(turns).map(|((turn, gas, judged), hints)| {
        format!("({}, {})", label(turn, *gas), part_hints(judged, program.words.len(), &hints.witness, more))
    });
    let (count, turn_gas, labels) = (symbol(&looping.parts.count), verdict.turn_gas, list(labels, 1));
    Some(format!("Loops {} {count} {turn_gas}\n  {first}\n  {labels}", parses(program)))
}

/// Definitions and hints of a theorem.
struct Stated {
    /// The program.
    program: String,
    /// Its meaning.
    meaning: String,
    /// Type of the hints, and the hints.
    kind: &'static str,
    hints: String,
    /// The checker.
    check: String,
    /// Its proof, which is given program, hints, code and gas.
    sound: String,
    /// A run of code.
    eval: String,
    /// Gas with which code ends rightly, as Coq and as a comment have it.
    gas: String,
    said: String,
    /// Functions and what is assumed of them, before calldata.
    assumed: &'static str,
    /// Turns with which the program ends, and its outcome, after calldata.
    ends: &'static str,
}

fn stated(certificate: &Certificate, name: &str) -> Stated {
    let Certificate { program, semantics, gas, turn_gas, witness, .. } = certificate;
    let (program, meaning, kind, hints) = match program {
        Source::Straight(straight) => {
            let program = format!("Definition the_program : program := {}.", self::program(straight));
            (program, "meaning", "witness", hints(witness))
        }
        Source::Flow(branching) => {
            let hints = hints_of_flow(certificate, 0).unwrap_or_default();
            (self::branching(&branching.flow), "flow_meaning", "hints_of_flow", hints)
        }
        Source::Bytes(program) => return bytes::stated(program, certificate),
        Source::Loop(looping) => {
            let hints = hints_of_loop(certificate, &certificate.code, 0).unwrap_or_default();
            (self::looping(looping), "looped_meaning", "loop_hints", hints)
        }
    };
    let (check, sound, eval) = match semantics {
        Semantics::Evm => (name.to_owned(), format!("{name}_sound"), "Eval code calldata (start g)".to_owned()),
        Semantics::Slots | Semantics::Next => {
            let next = *semantics == Semantics::Next;
            let eval = format!("FEval {next} code calldata (start g) none");
            (format!("{name} {next}"), format!("{name}_sound {next}"), eval)
        }
    };
    let (gas, said) = match turn_gas {
        Some(turn) => {
            (format!("{gas} + {turn} * turns_of the_program calldata"), format!("{gas} gas or more, and {turn} a turn"))
        }
        None => (gas.to_string(), format!("{gas} gas or more")),
    };
    let meaning = format!("{meaning} the_program calldata");
    Stated { program, meaning, kind, hints, check, sound, eval, gas, said, assumed: "", ends: "" }
}

/// The theorem of a certificate, as a source for Coq: the code ends as the program does, with any gas from the stated amount on.
pub fn theorem(certificate: &Certificate) -> String {
    let (name, beside) = judge(certificate);
    let Stated { program, meaning, kind, hints, check, sound, eval, gas, said, assumed, ends } =
        stated(certificate, name);
    let files: String = beside.iter().map(|file| format!(" {file}")).collect();
    let (program_hash, code_hash) = (certificate.program_hash(), certificate.code_hash());
    let (code, least) = (bytes(&certificate.code), certificate.gas);
    format!(
        "(* The program of SHA-256 {program_hash},
   the code of SHA-256 {code_hash}. Written by `residue prove`. *)
From Coq Require Import ZArith List.
From Residue Require Import Evm Words Program Check Sound{files}.
Import ListNotations.
Open Scope Z_scope.

{program}

Definition code : list Z := {code}.

Definition the_hints : {kind} := {hints}.

Lemma accepted : {check} the_program the_hints code = Some {least}.
Proof. vm_cast_no_check (eq_refl (Some {least})). Qed.

(* For all calldata, with {said}, the code ends as the program does: with its bytes, or with a failure. *)
Theorem right : {assumed}forall calldata, Forall is_byte calldata -> Z.of_nat (length calldata) < W ->
  {ends}forall g, {gas} <= g -> {eval} ({meaning}).
Proof. exact ({sound} the_program the_hints code {least} accepted). Qed.
Print Assumptions right.
"
    )
}
