//! Texts that are no certificates, or no proof: each is refused with its line and what would be right.

use crate::compiled;
use crate::mutants::engine;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_engine::Halt;
use residue_extent::{cases, seed};
use residue_ir::text;
use residue_proof::{Certificate, Semantics};
use sha2::{Digest, Sha256};

const NAME: &str = "poseidon2/bn254_t2";

fn certificate() -> String {
    certificate_of(Semantics::Evm)
}

fn certificate_of(semantics: Semantics) -> String {
    let (program, code) = compiled(NAME, semantics);
    Certificate::new(&program, semantics, &code).unwrap().print()
}

/// The line, and the fault, of a text with a part replaced where it stands first.
#[track_caller]
fn refused(text: &str, part: &str, other: &str) -> (usize, String) {
    assert!(text.contains(part), "{part:?}");
    let changed = text.replacen(part, other, 1);
    let error = Certificate::read(&changed).and_then(|read| read.check()).expect_err("it is refused");
    (error.line, error.what)
}

#[test]
fn a_changed_text_is_refused_with_its_line() {
    let text = certificate();
    let line_of = |part: &str| text[..text.find(part).expect("it is there")].matches('\n').count() + 1;
    let code = text.lines().nth(line_of("code sha256")).unwrap();
    let first_names = format!("\n{}", text.lines().find(|line| line.starts_with("names")).unwrap());
    for (part, other, at, expected) in [
        ("residue-certificate 1", "residue-certificate 2", "residue-certificate", "version \"2\""),
        (
            "residue-certificate 1",
            "residue-certificate +1",
            "residue-certificate",
            "begins with `residue-certificate 1`",
        ),
        ("residue-certificate 1", "residue-certificate1", "residue-certificate", "begins with `residue-certificate 1`"),
        ("residue-certificate 1", "residue", "residue-certificate", "begins with `residue-certificate 1`"),
        (
            "revision evm",
            "revision x-codex",
            "revision",
            "one of evm, eip6690-2024, evmmax-next is expected, found \"x-codex\"",
        ),
        ("\ncode sha256", "\ncodes sha256", "code sha256", "did you mean code?"),
        (" = add v", " = sub v", "program sha256", "another program, or damaged"),
        (code, &code.replacen('6', "7", 1), "code sha256", "other code, or damaged"),
        (code, &code[2..], code, "64 hexadecimal digits of code"),
        ("\ngas 6199", "\ngas 6198", "\ngas 6199", "gas 6198 is stated, and the code takes 6199"),
        ("\ngas 6199", "\ngas much", "\ngas 6199", "an amount of gas is expected, found \"much\""),
        ("\nvalues v0 v1 ", "\nvalues v1 v0 ", code, "the program does not parse at byte 0"),
        ("\nvalues v0 v1 ", "\nvalues v0 v1 v31 ", code, "the witness has v31 here, the product of"),
        ("\nvalues v0 ", "\nvalues v0 x ", "values v0", "a value such as v12 is expected, found \"x\""),
        ("\nvalues v0 ", "\nvalues - ", "values v0", "none `-`"),
        (&first_names, "\nnames v30", code, "which is no sum of the program"),
        ("\nend", "", "end", "`end` is missing"),
        ("\nend", "\nend\nmore", "end", "ended before this line"),
    ] {
        let (line, what) = refused(&text, part, other);
        assert!(what.contains(expected), "{part:?}, {other:?}: {what}");
        let near = line_of(at.trim_start());
        // Faults of code stand at their row.
        assert!(
            line == near || (at == code && line > near) || at == "end",
            "{part:?}: line {line}, not {near}: {what}"
        );
    }
}

#[test]
fn a_certificate_cut_anywhere_is_refused() {
    let text = certificate();
    let lines: Vec<&str> = text.lines().collect();
    for count in (0..lines.len()).step_by(7) {
        let cut = lines[..count].join("\n");
        let error = Certificate::read(&cut).expect_err("the end is missing");
        assert!(error.line <= count.max(1), "{count} lines: {error}");
    }
}

#[test]
fn a_damaged_certificate_is_refused_or_of_the_same_code() {
    let text = certificate();
    let whole = Certificate::read(&text).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    for _ in 0..cases(300) {
        let mut bytes = text.clone().into_bytes();
        let at = rng.random_range(0..bytes.len());
        bytes[at] = *b" -v0x9z\n".choose(&mut rng).unwrap();
        let damaged = String::from_utf8(bytes).unwrap();
        let Ok(read) = Certificate::read(&damaged) else { continue };
        assert!(read.check().is_err() || (read.code == whole.code && read.program == whole.program), "byte {at}");
    }
}

#[test]
fn constructs_that_certificates_do_not_know_are_named() {
    let text = |body: &str| {
        let values = ["v0", "v1"].iter().filter(|value| body.contains(**value)).count();
        format!(
            "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values {values} {{\n\
             word w0 = 0x20\nword w1 = calldata_size\nword w2 = eq w1 w0\nword w3 = 0x0\n{body}\n}}"
        )
    };
    for (body, expected) in [
        ("require w2 parse w3 bytes 32 -> v0 block { v1 = add v0 v0 } return_elements (v1) bytes 32", ""),
        (
            "require w2 parse w3 bytes 31 -> v0 block { v1 = add v0 v0 } return_elements (v1) bytes 32",
            "a parse of 31 bytes",
        ),
        (
            "require w2 parse w3 bytes 32 -> v0 block { v1 = add v0 v0 } return_elements (v1) bytes 1",
            "return_elements of 1 bytes",
        ),
        ("require w2 parse w3 bytes 32 -> v0 return_elements (v0) bytes 32", "a return of v0, which is parsed"),
        ("parse w3 bytes 32 -> v0 block { v1 = add v0 v0 } return_elements (v1) bytes 32", "calldata of any size"),
        ("require w1 return_word w1", "a requirement other than calldata's size"),
        ("require w2 return_word w1", "`return_word`"),
        ("require w2", "a program that returns nothing"),
    ] {
        let program = text::read(&text(body)).unwrap_or_else(|error| panic!("{body}: {error}"));
        match residue_proof::Straight::of(&program) {
            Ok(_) => assert_eq!(expected, "", "{body}"),
            Err(error) => assert!(!expected.is_empty() && error.0.starts_with(expected), "{body}: {error}"),
        }
    }
}

/// The certificate of a program of one parsed element and these operations, and of this code.
fn made(semantics: Semantics, values: usize, operations: &str, returned: usize, code: &[u8], hints: &str) -> String {
    let program = format!(
        "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values {values} {{\n\
         word w0 = 0x20\nword w1 = calldata_size\nword w2 = eq w1 w0\nword w3 = 0x0\nrequire w2 parse w3 bytes 32 -> v0\n\
         block {{\n{operations}}}\nreturn_elements (v{returned}) bytes 32\n}}\n"
    );
    of_program(semantics, &program, code, hints)
}

/// The certificate of a program's text and of this code, with 1 gas.
fn of_program(semantics: Semantics, program: &str, code: &[u8], hints: &str) -> String {
    let hash = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    let rows: String = code.chunks(32).map(|row| hex::encode(row) + "\n").collect();
    format!(
        "residue-certificate 1\nrevision {}\nprogram sha256 {} lines {}\n{program}code sha256 {} bytes {}\n{rows}gas 1\n{hints}end\n",
        semantics.revision(),
        hash(program.as_bytes()),
        program.lines().count(),
        hash(code),
        code.len()
    )
}

/// Conditions and sums that would fill stack or memory of the checker, were they without a limit.
#[test]
fn hostile_certificates_are_refused_in_little_room() {
    use std::fmt::Write as _;
    let fault = |text: &str| Certificate::read(text).and_then(|read| read.check()).expect_err("it is refused").what;
    // A condition is negated two million times: CALLDATASIZE, 32, EQ, then ISZERO.
    let mut negations = vec![0x36, 0x60, 0x20, 0x14];
    negations.resize(2_000_000, 0x15);
    let what = fault(&made(Semantics::Evm, 2, "v1 = add v0 v0\n", 1, &negations, ""));
    assert!(what.contains("a condition has more than 256 parts"), "{what}");
    // Sums of all products so far, without names.
    let mut operations = String::new();
    for value in (1..60_000).step_by(2) {
        let before = value - 1;
        writeln!(operations, "v{value} = mul v{before} v0\nv{} = add v{value} v{before}", value + 1).unwrap();
    }
    let what = fault(&made(Semantics::Evm, 60_001, &operations, 60_000, &[0x5b], ""));
    assert!(what.contains("more than 4194304 terms in all"), "{what}");
    // The same in code: powers of the element, and the sum of all so far in each step.
    const STEPS: usize = 3000;
    let powers: String = (1..=STEPS).map(|value| format!("v{value} = mul v{} v0\n", value - 1)).collect();
    let target = u16::try_from(12 + 12 * STEPS).unwrap().to_be_bytes();
    let parse = [0x5f, 0x35, 0x60, 0x64, 0x81, 0x11, 0x61, target[0], target[1], 0x57, 0x80, 0x80];
    let step = [0x60, 0x65, 0x90, 0x83, 0x09, 0x80, 0x91, 0x60, 0x65, 0x91, 0x08, 0x90];
    let code = [&parse[..], &step.repeat(STEPS), &[0x5b, 0xfe]].concat();
    let values: String = (0..=STEPS).map(|value| format!("values v{value}\n")).collect();
    let what = fault(&made(Semantics::Evm, STEPS + 1, &powers, STEPS, &code, &values));
    assert!(what.contains("(ADDMOD)") && what.contains("more than 4194304 terms in all"), "{what}");
    // And in slots: the element in slots 0 and 1, its powers in slot 1, and their sum in slot 2.
    let step = [0xc5, 1, 1, 1, 1, 0, 1, 1, 0xc3, 2, 1, 2, 1, 1, 1, 1];
    let code = [&context(3)[..], STORE, &step.repeat(STEPS)].concat();
    let values: String = (1..=STEPS).map(|value| format!("values v{value}\n")).collect();
    let what = fault(&made(Semantics::Slots, STEPS + 1, &powers, STEPS, &code, &values));
    assert!(what.contains("(ADDMODX)") && what.contains("more than 4194304 terms in all"), "{what}");
    // Many long copies: PUSH3, PUSH0, PUSH0, CODECOPY.
    let what = fault(&made(
        Semantics::Slots,
        2,
        "v1 = add v0 v0\n",
        1,
        &[0x62, 15, 255, 224, 0x5f, 0x5f, 0x39].repeat(20),
        "",
    ));
    assert!(what.contains("more than 4194304 terms in all"), "{what}");
    // Counts and numbers beyond all.
    let text = certificate();
    for (part, huge) in
        [("bytes 4037", "bytes 18446744073709551615"), ("lines ", "lines 9"), ("gas ", "gas 99999999999999999999")]
    {
        let (_, what) = refused(&text, part, huge);
        assert!(what.contains("is missing") || what.contains("expected"), "{huge}: {what}");
    }
}

/// Calldata's element in slots 0 and 1: copied to word 1 of memory, and stored twice.
const STORE: &[u8] = &[0x60, 32, 0x5f, 0x60, 32, 0x37, 0x60, 1, 0x60, 32, 0x5f, 0xc2, 0x60, 1, 0x60, 32, 0x60, 1, 0xc2];

/// The modulus 0x65 in word 0 of memory, and a context of so many slots: PUSH1, PUSH0, MSTORE, then slots, 32, 0, 0, SETMODX.
fn context(slots: u8) -> [u8; 11] {
    [0x60, 0x65, 0x5f, 0x52, 0x60, slots, 0x60, 32, 0x5f, 0x5f, 0xc0]
}

/// Code whose context or transfer is refused, with what is said of it.
fn contexts_and_transfers() -> Vec<(Vec<u8>, &'static str)> {
    vec![
        // The context: of another modulus, size, name or number of slots, without one in memory, and a second one.
        (
            vec![0x60, 0x67, 0x5f, 0x52, 0x60, 3, 0x60, 32, 0x5f, 0x5f, 0xc0],
            "SETMODX): the modulus 0x65 is expected, found 0x67",
        ),
        (
            vec![0x60, 0x65, 0x5f, 0x52, 0x60, 3, 0x60, 31, 0x5f, 0x5f, 0xc0],
            "SETMODX): the modulus 0x65 is expected, found 0x0",
        ),
        (vec![0x60, 0x65, 0x5f, 0x52, 0x60, 3, 0x5f, 0x5f, 0x5f, 0xc0], "SETMODX): a modulus of 1 to 96 bytes"),
        (vec![0x36, 0x5f, 0x52, 0x60, 3, 0x60, 32, 0x5f, 0x5f, 0xc0], "SETMODX): no number is in memory there"),
        (
            vec![0x60, 0x65, 0x5f, 0x52, 0x60, 3, 0x60, 32, 0x5f, 0x61, 1, 1, 0xc0],
            "SETMODX): a context is named by at most 256",
        ),
        (context(0).to_vec(), "SETMODX): 1 to 256 slots"),
        (vec![0x60, 3, 0x60, 32, 0x5f, 0x5f, 0xc0], "SETMODX): memory has 0 bytes, and 32 from 0 on"),
        ([context(3), context(3)].concat(), "SETMODX): the code has a context already"),
        // Transfers: without a context, of no slot, beyond the slots, beyond memory, and of what is no element.
        (vec![0x60, 1, 0x5f, 0x5f, 0xc2], "STOREX): the code has no context here"),
        (vec![0x60, 1, 0x5f, 0x5f, 0xc1], "LOADX): the code has no context here"),
        ([&context(3)[..], &[0x5f, 0x5f, 0x5f, 0xc2]].concat(), "STOREX): 1 or more of 3 slots"),
        ([&context(3)[..], &[0x60, 1, 0x60, 3, 0x5f, 0xc1]].concat(), "LOADX): 1 or more of 3 slots"),
        ([&context(3)[..], &[0x60, 2, 0x5f, 0x5f, 0xc1]].concat(), "LOADX): memory has 32 bytes, and 64 from 0 on"),
        (
            [&context(3)[..], &[0x60, 32, 0x51, 0x50, 0x60, 1, 0x60, 1, 0x5f, 0xc2]].concat(),
            "STOREX): an address of a whole word",
        ),
        (
            [&context(3)[..], &[0x60, 1, 0x5f, 0x5f, 0xc2]].concat(),
            "STOREX): slot 0 is to hold (0), which may be p or more",
        ),
        (
            [&context(3)[..], &[0x36, 0x5f, 0x52, 0x60, 1, 0x5f, 0x5f, 0xc2]].concat(),
            "STOREX): slot 0 is to hold an element",
        ),
    ]
}

/// The same of lanes, copies and products.
fn lanes_and_copies() -> Vec<(Vec<u8>, &'static str)> {
    vec![
        // Lanes: without a context, cut off, none, one result upon the other, and beyond the slots.
        (vec![0xc3, 0, 1, 0, 1, 0, 1, 1], "ADDMODX): the code has no context here"),
        ([&context(3)[..], &[0xc5, 0, 1, 0, 1]].concat(), "MULMODX): the code ends within the instruction"),
        ([&context(3)[..], &[0xc3, 0, 1, 0, 1, 0, 1, 0]].concat(), "ADDMODX): 0 lanes"),
        ([&context(3)[..], &[0xc3, 0, 0, 0, 1, 0, 1, 2]].concat(), "ADDMODX): 2 lanes"),
        ([&context(3)[..], &[0xc4, 0, 1, 0, 1, 2, 1, 2]].concat(), "SUBMODX): 2 lanes up to slots 1, 1 and 3"),
        // Copies: of a part of a word, of calldata that is not parsed, and to a part of one.
        (vec![0x60, 31, 0x5f, 0x5f, 0x37], "CALLDATACOPY): a copy of whole words"),
        (
            vec![0x60, 32, 0x5f, 0x5f, 0x37, 0x60, 31, 0x5f, 0x5f, 0x39],
            "CODECOPY): the last word of the copy has bytes after it that are no number",
        ),
        (vec![0x60, 64, 0x5f, 0x5f, 0x37], "CALLDATACOPY): the program parses nothing at byte 32"),
        (vec![0x60, 32, 0x5f, 0x60, 1, 0x39], "CODECOPY): an address of a whole word"),
        (vec![0x62, 16, 0, 0, 0x5f, 0x5f, 0x39], "CODECOPY): a copy of whole words, below 1048576 bytes"),
        (vec![0x60, 32, 0x60, 9, 0x5f, 0x39], "CODECOPY): a copy from byte 9 on"),
        // A product that the program has not.
        ([&context(3)[..], STORE, &[0xc5, 2, 1, 0, 1, 1, 1, 1]].concat(), "MULMODX): the witness has no more values"),
        (vec![0xc6], "no opcode): certificates know no such instruction"),
    ]
}

#[test]
fn code_with_slots_is_refused_with_the_instruction() {
    for (code, expected) in contexts_and_transfers().into_iter().chain(lanes_and_copies()) {
        let text = made(Semantics::Slots, 2, "v1 = add v0 v0\n", 1, &code, "");
        let what = Certificate::read(&text).and_then(|read| read.check()).expect_err("it is refused").what;
        assert!(what.contains(expected), "{}: {what}", hex::encode(&code));
        let text = made(Semantics::Evm, 2, "v1 = add v0 v0\n", 1, &code, "");
        let what = Certificate::read(&text).and_then(|read| read.check()).expect_err("it is refused").what;
        assert!(what.contains("certificates know no such instruction"), "{}: {what}", hex::encode(&code));
    }
    // With all of it the code is right: 2·x.
    let end = [0xc3, 2, 1, 0, 1, 1, 1, 1, 0x60, 1, 0x60, 2, 0x5f, 0xc1, 0x60, 32, 0x5f, 0xf3];
    let failure = u8::try_from(context(3).len() + STORE.len() + SIZE.len() + end.len()).unwrap();
    let size = [&SIZE[..6], &[failure], &SIZE[7..]].concat();
    let code = [&context(3)[..], &size, STORE, &end, &[0x5b, 0xfe]].concat();
    let text = made(Semantics::Slots, 2, "v1 = add v0 v0\n", 1, &code, "").replacen("\ngas 1\n", "\ngas 144\n", 1);
    Certificate::read(&text).unwrap().check().unwrap();
    let calldata = [&[0; 31][..], &[7]].concat();
    let run = |gas| engine(Semantics::Slots).run_code(&code, &calldata, gas);
    assert_eq!((run(144).output.last(), run(143).halt), (Some(&14), Halt::OutOfGas));
}

/// A context of one byte and 3 slots, whose modulus 0x65 is byte 1 of the code: SETMODCX, and a word of memory.
const IN_CODE: &[u8] = &[0x60, 0x65, 0x50, 0x60, 3, 0x60, 1, 0x60, 1, 0x5f, 0xd1, 0x5f, 0x51, 0x50];

#[test]
fn code_with_values_in_code_is_refused_with_the_instruction() {
    let after = |rest: &[u8]| [IN_CODE, rest].concat();
    for (code, expected) in [
        // The context: another modulus, none of the code, none and too many bytes, more than 256 bits, and no slots.
        (vec![0x60, 3, 0x60, 1, 0x5f, 0x5f, 0xd1], "SETMODCX): the modulus 0x65 is expected, found 0x60"),
        (vec![0x60, 3, 0x60, 2, 0x60, 7, 0x5f, 0xd1], "SETMODCX): 2 bytes from 7 on do not lie inside the code of 8"),
        (vec![0x60, 3, 0x5f, 0x5f, 0x5f, 0xd1], "SETMODCX): a modulus of 1 to 96 bytes"),
        (vec![0x60, 3, 0x60, 97, 0x5f, 0x5f, 0xd1], "SETMODCX): a modulus of 1 to 96 bytes"),
        (
            [&[0x60, 3, 0x60, 33, 0x5f, 0x5f, 0xd1][..], &[0; 40]].concat(),
            "SETMODCX): the modulus has more than 256 bits",
        ),
        (vec![0x60, 0x65, 0x50, 0x5f, 0x60, 1, 0x60, 1, 0x5f, 0xd1], "SETMODCX): 1 to 256 slots"),
        // Values from code: without a context, outside of it, and not below the modulus.
        (vec![0x60, 1, 0x5f, 0x5f, 0xd2], "STORECX): the code has no context here"),
        (after(&[0x60, 2, 0x60, 10, 0x5f, 0xd2]), "STORECX): 16 bytes from 10 on do not lie inside the code of 20"),
        (after(&[0x60, 1, 0x5f, 0x5f, 0xd2]), "STORECX): slot 0 is to hold 0x6065506003600160, which is p or more"),
        (after(&[0x60, 1, 0x5f, 0x60, 3, 0xd2]), "STORECX): 1 or more of 3 slots"),
        // Values in memory that are no words.
        (
            after(&[0x60, 1, 0x5f, 0x5f, 0xc1]),
            "LOADX): one value at the end of a word that is zero is expected, not at 0x0",
        ),
        (after(&[0x60, 1, 0x5f, 0x5f, 0xcf, 31]), "LOADPX): values of 32 bytes are expected in memory, found 31"),
        (after(&[0x60, 1, 0x5f, 0x5f, 0xd0, 40]), "STOREPX): values of 32 bytes are expected in memory, found 40"),
        (after(&[0x60, 1, 0x5f, 0x5f, 0xd0]), "STOREPX): the code ends within the instruction"),
        (after(&[0x60, 2, 0x5f, 0x5f, 0xcf, 32]), "LOADPX): memory has 32 bytes, and 64 from 0 on"),
        // What is known is accepted, up to the end.
        (after(&[0x60, 1, 0x5f, 0x5f, 0xd0, 32, 0x60, 1, 0x5f, 0x5f, 0xcf, 32]), "the end of the code): it ends here"),
        (after(&[0xc6, 0, 1, 0, 1, 1]), "INVMODX): certificates know no such instruction"),
    ] {
        let fault = |semantics| {
            let text = made(semantics, 2, "v1 = add v0 v0\n", 1, &code, "");
            Certificate::read(&text).and_then(|read| read.check()).expect_err("it is refused").what
        };
        let (next, slots) = (fault(Semantics::Next), fault(Semantics::Slots));
        assert!(next.contains(expected), "{}: {next}", hex::encode(&code));
        assert!(slots.contains("no opcode): certificates know no such"), "{}: {slots}", hex::encode(&code));
    }
}

/// The modulus in memory, and a context of one byte whose values are packed in memory.
const PACKED: &[u8] = &[0x60, 0x65, 0x5f, 0x52, 0x60, 3, 0x60, 1, 0x60, 31, 0x5f, 0xc0];

#[test]
fn code_with_values_packed_in_memory_is_refused_with_the_instruction() {
    // The element of calldata in word 1 of memory.
    let copied = [PACKED, &[0x60, 32, 0x5f, 0x60, 32, 0x37]].concat();
    let after = |rest: &[u8]| [&copied, rest].concat();
    // Bits of the element from one on, a jump to the failure, and what comes after it.
    let held = |bits: u8, rest: &[u8]| {
        let failure = u8::try_from(copied.len() + 9 + rest.len()).unwrap();
        [&copied[..], &[0x60, 32, 0x51, 0x60, bits, 0x1c, 0x60, failure, 0x57], rest, &[0x5b, 0xfe]].concat()
    };
    for (code, expected) in [
        // Values that are the end of no word, of one that is not held to their bits, and no elements.
        (
            after(&[0x60, 1, 0x60, 55, 0x5f, 0xc2]),
            "STOREX): slot 0 is to hold the last 8 bytes of a number that is parsed",
        ),
        (after(&[0x60, 1, 0x60, 56, 0x5f, 0xc2]), "STOREX): v0 has not been held to 64 bits"),
        (after(&[0x60, 1, 0x60, 24, 0x5f, 0xc2]), "STOREX): slot 0 is to hold 0x0000000000000065, which is p or more"),
        (after(&[0x60, 1, 0x60, 60, 0x5f, 0xc2]), "STOREX): memory has 64 bytes, and 8 from 60 on"),
        // Loads into a word that is not zero, and not at its end.
        (
            after(&[0x60, 1, 0x5f, 0x60, 24, 0xc1]),
            "LOADX): one value at the end of a word that is zero is expected, not at 0x18",
        ),
        (after(&[0x60, 2, 0x5f, 0x60, 16, 0xc1]), "LOADX): one value at the end"),
        // Jumps: for numbers below the modulus, of what is no parsed number, and shifts beyond a word.
        (held(6, &[]), "JUMPI): the code fails for numbers from 2^6 on, which may be below p"),
        (after(&[0x60, 1, 0x60, 2, 0x17]), "OR): a parsed number is expected, found (0x2)"),
        (after(&[0x60, 32, 0x51, 0x61, 1, 0, 0x1c]), "SHR): a shift by less than 256 bits"),
        (after(&[0x60, 32, 0x51, 0x60, 9, 0x1c, 0x60, 32, 0x51, 0x17]), "OR): a parsed number is expected"),
        // Other bits do not hold it to these.
        (held(65, &[0x60, 1, 0x60, 56, 0x5f, 0xc2]), "STOREX): v0 has not been held to 64 bits"),
        // And what is right.
        (held(64, &[0x60, 1, 0x60, 56, 0x5f, 0xc2]), "INVALID): certificates know no such instruction"),
    ] {
        let text = made(Semantics::Slots, 2, "v1 = add v0 v0\n", 1, &code, "");
        let what = Certificate::read(&text).and_then(|read| read.check()).expect_err("it is refused").what;
        assert!(what.contains(expected), "{}: {what}", hex::encode(&code));
    }
    // Lists of the same number grow no further than sums may.
    let doubled = after(&[&[0x60, 32, 0x51][..], &[0x80, 0x17].repeat(40)].concat());
    let text = made(Semantics::Slots, 2, "v1 = add v0 v0\n", 1, &doubled, "");
    let what = Certificate::read(&text).and_then(|read| read.check()).expect_err("it is refused").what;
    assert!(what.contains("more than 4194304 terms in all"), "{what}");
}

/// The second element is in no operation, and the program fails for it: so must the code, which stores both or the first one alone.
#[test]
fn an_element_that_is_never_stored_may_be_beyond_the_modulus() {
    let program = "program \"p\"\nmodulus 0x65\nfunction f0 \"start\" () -> () values 3 {\nword w0 = 0x40\nword w1 = calldata_size\n\
        word w2 = eq w1 w0\nword w3 = 0x0\nword w4 = 0x20\nrequire w2 parse w3 bytes 32 -> v0 parse w4 bytes 32 -> v1\n\
        block { v2 = add v0 v0 } return_elements (v2) bytes 32\n}\n";
    for (stored, expected) in [(2, "gas 1 is stated, and the code takes"), (1, "v1 has not been compared with p")] {
        let failure = 49;
        let code = [
            &context(3)[..],
            &[0x60, 64, 0x36, 0x14, 0x15, 0x60, failure, 0x57],
            // Calldata to words 1 and 2 of memory, elements to slots, and the sum in slot 2.
            &[0x60, 64, 0x5f, 0x60, 32, 0x37, 0x60, stored, 0x60, 32, 0x5f, 0xc2, 0xc3, 2, 1, 0, 1, 0, 1, 1],
            // Its load, the return, and the failure.
            &[0x60, 1, 0x60, 2, 0x5f, 0xc1, 0x60, 32, 0x5f, 0xf3, 0x5b, 0xfe],
        ]
        .concat();
        let text = of_program(Semantics::Slots, program, &code, "");
        let what = Certificate::read(&text).unwrap().check().expect_err("gas is another").what;
        assert!(what.contains(expected), "{stored} stored: {what}");
    }
}

/// A jump to a failure if calldata has not 32 bytes: the target is byte 6.
const SIZE: [u8; 8] = [0x60, 32, 0x36, 0x14, 0x15, 0x60, 0, 0x57];
