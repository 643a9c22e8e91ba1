//! Certificates as theorems that Coq's kernel checks: the sources of the checker with its proof, and a file for each certificate.

use crate::certificate::Certificate;
use crate::semantics::Semantics;
use crate::straight::{Operation, Read, Straight};
use crate::sum::Atom;
use crate::witness::Witness;
use residue_ir::{FieldOp, Value};
use ruint::aliases::U256;
use std::fmt::Display;

/// The name under which Coq knows the sources: `coqc -Q FOLDER Residue`.
pub const LIBRARY: &str = "Residue";

/// Bytes of code on a line.
const ROW_BYTES: usize = 32;
/// Items of a list on a line.
const ROW_ITEMS: usize = 16;

/// The sources that theorems stand on, each with its name, in the order in which they are compiled.
pub const SOURCES: [(&str, &str); 10] = [
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
];
/// Those of a theorem of code for today's EVM: the first ones.
const SOURCES_OF_EVM: usize = 6;

/// The sources that a theorem of code stands on.
pub fn sources(semantics: Semantics) -> &'static [(&'static str, &'static str)] {
    match semantics {
        Semantics::Evm => &SOURCES[..SOURCES_OF_EVM],
        Semantics::Slots | Semantics::Next => &SOURCES,
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

fn operation(&Operation { value: defined, kind, x, y }: &Operation) -> String {
    let kind = match kind {
        FieldOp::Add => "KAdd",
        FieldOp::Sub => "KSub",
        FieldOp::Mul => "KMul",
    };
    let [x, y] = [x, y].map(|read| match read {
        Read::Value(read) => format!("(V {})", value(read)),
        Read::Number(number) => format!("(C {number:#x})"),
    });
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
    let Straight { modulus, calldata_bytes, parses, operations, results } = straight;
    let parses =
        list(parses.iter().map(|&(parsed, offset)| format!("({}%positive, {offset})", value(parsed))), ROW_ITEMS);
    let operations = list(operations.iter().map(operation), 1);
    let results = list(results.iter().map(|&result| value(result)), ROW_ITEMS);
    format!("Program {modulus:#x} {calldata_bytes}\n  {parses}\n  {operations}\n  {results}%positive")
}

/// A witness as a term of Coq's.
pub fn hints(Witness { values, names }: &Witness) -> String {
    let values = list(values.iter().map(|&atom| name(atom)), ROW_ITEMS);
    let spelled = |named: &Option<Atom>| named.map_or_else(|| "None".to_owned(), |atom| format!("Some {}", name(atom)));
    format!("Witness\n  {values}%positive\n  {}%positive", list(names.iter().map(spelled), ROW_ITEMS))
}

/// The theorem of a certificate, as a source for Coq: the code ends as the program does, with any gas from the stated amount on.
pub fn theorem(certificate: &Certificate) -> String {
    let Certificate { program, semantics, code, gas, witness, .. } = certificate;
    // What a theorem needs beside the files of today's EVM, checker and its proof, and a run.
    let slots = " Slots CheckSlots SoundSlots";
    let (files, check, sound, eval) = match semantics {
        Semantics::Evm => ("", "check", "check_sound", "Eval code calldata (start g)"),
        Semantics::Slots => {
            (slots, "check_slots false", "check_slots_sound false", "FEval false code calldata (start g) none")
        }
        Semantics::Next => {
            (slots, "check_slots true", "check_slots_sound true", "FEval true code calldata (start g) none")
        }
    };
    let (program_hash, code_hash) = (certificate.program_hash(), certificate.code_hash());
    let (program, code, witness) = (self::program(program), bytes(code), hints(witness));
    format!(
        "(* The program of SHA-256 {program_hash},
   the code of SHA-256 {code_hash}. Written by `residue prove`. *)
From Coq Require Import ZArith List.
From Residue Require Import Evm Words Program Check Sound{files}.
Import ListNotations.
Open Scope Z_scope.

Definition the_program : program := {program}.

Definition code : list Z := {code}.

Definition the_witness : witness := {witness}.

Lemma accepted : {check} the_program the_witness code = Some {gas}.
Proof. vm_cast_no_check (eq_refl (Some {gas})). Qed.

(* For all calldata, with {gas} gas or more, the code ends as the program does: with its bytes, or with a failure. *)
Theorem right : forall calldata, Forall is_byte calldata -> Z.of_nat (length calldata) < W ->
  forall g, {gas} <= g -> {eval} (meaning the_program calldata).
Proof. exact ({sound} the_program the_witness code {gas} accepted). Qed.
Print Assumptions right.
"
    )
}
