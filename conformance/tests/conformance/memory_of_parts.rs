//! Memory after that of fixed size, shared by a program and its subprograms: none overwrites data that another one
//! still reads, nor assumes zero where another one left data.

use residue_compiler::compile;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{Outcome, evaluate, text, verify};
use residue_isa::{GasSchedule, Revision};

/// Hashes as many bytes as calldata says, after all memory that is used.
const HASHES: &str = "subprogram p0 \"hashes\" modulus 0x65 {
  function f0 \"start\" () -> () values 0 {
    word w0 = 0x0
    word w1 = calldata_word w0
    word w2 = calldata_size
    word w3 = defined
    keccak256 (word w1 bytes w2) -> w3
    set x0 w3
  }
}";

/// Shifts values after memory of fixed size.
const SHIFTS: &str =
    "subprogram p0 \"shifts\" modulus 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001 {
  constant c0 = 0x10000000000000000000000000000000000000000
  function f0 \"start\" () -> () values 2 {
    word w0 = defined
    high c0 from 64 -> v0
    high v0 from 8 -> v1
    word_of v1 from 0 -> w0
    set x0 w0
  }
}";

/// Has a modulus of 3840 bits, which is set up after memory of fixed size.
fn wide() -> String {
    format!(
        "subprogram p0 \"wide\" modulus given limbs 60 {{
  function f0 \"start\" () -> () values 1 {{
    word w0 = 0x7
    word w1 = 0x0
    word w2 = defined
    element_of ({}w0) -> v0
    word_of v0 from 0 -> w2
    set x0 w2
  }}
}}",
        "w1 ".repeat(14)
    )
}

/// Ends the program with a word after zeros.
const ENDS: &str = "subprogram p0 \"ends\" modulus 0x65 {
  function f0 \"start\" () -> () values 0 {
    word w0 = 0x0
    word w1 = calldata_word w0
    word w2 = 0x5b
    return_words (w1) bytes w2
  }
}";

/// Stores eight elements in an array without a capacity, enters the subprogram with these words as its modulus and returns the first element.
fn around(subprogram: &str, modulus: &str) -> String {
    let variables: String = (0..12).map(|number| format!("variable x{number} \"variable {number}\"\n")).collect();
    format!(
        "program \"around\"
modulus 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47
{variables}{subprogram}
constant c0 = 0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef
array a0 \"array\" values 1 capacity unbounded
function f0 \"start\" () -> () values 1 {{
  word w0 = 0x8
  word w1 = defined
  word w2 = 0x0
  word w3 = 0x8000000000000000000000000000000000000000000000000000000000000001
  reserve a0 w0
  repeat w0 index w1 () = () {{
    store a0 w1 (c0)
    give ()
  }} -> ()
  enter p0 ({modulus})
  load a0 w2 -> (v0)
  return_elements (v0) bytes 32
}}
"
    )
}

#[track_caller]
fn check(text: &str, revisions_min: usize) {
    let program = text::parse(text).unwrap();
    verify(&program).unwrap();
    let calldata = [0x11, 0x22, 0x33, 0x44, 0x55];
    let Outcome::Returned(expected) = evaluate(&program, &calldata) else { panic!("it returns") };
    let mut revisions = 0;
    for revision in Revision::every() {
        let compiled = match compile(&program, revision, &GasSchedule::default_for(revision).unwrap()) {
            Ok(compiled) => compiled,
            Err(error) if error.is_inexpressible() => continue,
            Err(error) => panic!("{revision}: {error}"),
        };
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        let found = engine.run_code(&compiled.code, &calldata, 10_000_000);
        assert_eq!((found.halt, &found.output), (Halt::Return, &expected), "{revision}");
        revisions += 1;
    }
    assert!(revisions >= revisions_min, "{revisions}");
}

#[test]
fn subprograms_leave_arrays_of_the_program_as_they_are() {
    check(&around(HASHES, ""), 10);
    check(&around(SHIFTS, ""), 10);
    check(&around(&wide(), &["w3"; 15].join(" ")), 2);
}

#[test]
fn zeros_are_none_of_what_the_program_left() {
    check(&around(ENDS, ""), 10);
}
