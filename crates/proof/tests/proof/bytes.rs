//! Programs of words: hash-based signatures, their certificates, and what is refused of them.

use crate::compiled;
use crate::mutants::{engine, inputs};
use residue_engine::Halt;
use residue_ir::evaluate::evaluate;
use residue_ir::{Outcome, text};
use residue_proof::{Certificate, Semantics};

/// Contracts of words and scratch memory.
pub const WORDS: [&str; 15] = [
    "hashes/blake2f",
    "hashes/ripemd160",
    "hashes/sha1",
    "hashes/sha256",
    "hashes/sha512",
    "modexp/word",
    "wots/keccak_128",
    "wots/keccak_256",
    "xmss/keccak_10_128",
    "xmss/keccak_10_256",
    "sphincs/c7",
    "sphincs/c11",
    "sphincs/c13",
    "sphincs/c13_rolled",
    "slh_dsa/keccak_128_24",
];

/// Turns of a loop: blocks of a message, to which a byte and its length are added (FIPS 180-4, section 5.1), or tens of rounds (EIP-152).
fn turns(name: &str, input: &[u8]) -> u64 {
    if name == "hashes/blake2f" {
        return input.first_chunk().map_or(0, |rounds| u64::from(u32::from_be_bytes(*rounds) / 10));
    }
    let [block, length] = if name.ends_with("sha512") { [128, 16] } else { [64, 8] };
    (input.len() as u64 + length) / block + 1 // usize to u64 widens
}

#[test]
fn contracts_of_words_have_certificates_with_gas_for_the_longest_way_and_each_block() {
    let engine = engine(Semantics::Evm);
    for name in WORDS {
        let (program, code) = compiled(name, Semantics::Evm);
        let text = Certificate::new(&program, Semantics::Evm, &code).unwrap().print();
        let certificate = Certificate::read(&text).unwrap();
        certificate.check().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.print(), text, "{name}");
        let mut messages = inputs(name, &program);
        messages.extend(
            certificate.turn_gas.into_iter().flat_map(|_| [0, 55, 56, 111, 112, 640].map(|size| vec![0x80; size])),
        );
        for input in messages {
            let turns = certificate.turn_gas.map(|gas| gas * turns(name, &input)).filter(|&gas| gas < 1 << 24);
            if turns.is_none() && certificate.turn_gas.is_some() {
                continue;
            }
            let run = engine.run_code(&code, &input, certificate.gas + turns.unwrap_or(0));
            // After the last ten rounds of BLAKE2b there are up to nine.
            if let Some(turns) = turns.filter(|_| name != "hashes/blake2f") {
                assert_eq!(run.gas_used, certificate.gas + turns, "{name}: {} bytes", input.len());
            }
            let found = if run.halt == Halt::Return { Outcome::Returned(run.output.to_vec()) } else { Outcome::Failed };
            assert_eq!(found, evaluate(&program, &input), "{name}: {}", hex::encode(&input));
        }
    }
}

#[test]
fn gas_of_a_program_of_words_is_that_of_all_turns() {
    let (program, code) = compiled("wots/keccak_128", Semantics::Evm);
    let certificate = Certificate::new(&program, Semantics::Evm, &code).unwrap();
    let changed = certificate.print().replacen(&format!("gas {}", certificate.gas), "gas 1", 1);
    let error = Certificate::read(&changed).unwrap().check().unwrap_err();
    let line = changed.lines().position(|line| line == "gas 1").unwrap() + 1;
    assert_eq!(error.line, line, "{error}");
    assert!(error.what.starts_with("gas 1 is stated, and the code takes "), "{error}");
}

/// The fault of code for a program of words, if there is one.
fn fault(body: &str, words: &str, code: &str) -> Option<String> {
    let variables = (0..3).map(|number| format!("variable x{number} \"x{number}\"\n")).collect::<String>();
    let text = format!(
        "program \"p\"\nmodulus 0x3\n{variables}function f0 \"start\" () -> () values 0 {{\n{words}\n{body}\n}}"
    );
    let program = text::read(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
    Certificate::new(&program, Semantics::Evm, &hex::decode(code).unwrap()).err().map(|error| error.to_string())
}

#[test]
fn writes_and_hashes_of_a_program_of_words_are_those_of_the_code() {
    let words = "word w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w0\nword w3 = defined";
    let body = "scratch bytes 64 set_scratch w1 w2 keccak256_scratch w0 bytes w1 -> w3 return_word w3";
    for (code, expected) in [
        // CALLDATALOAD(0) to 32, the hash of 32 bytes from 0 on, returned from 64.
        ("5f356020526020 5f20604052602060 40f3", ""),
        // To 0 in place of 32; the size of calldata in place of the word; 31 bytes hashed; another word returned.
        ("5f355f526020 5f20604052602060 40f3", "a MSTORE of the same words"),
        ("366020526020 5f20604052602060 40f3", "a MSTORE of the same words"),
        ("5f35602052601f 5f20604052602060 40f3", "a RETURN of them is expected"),
        ("5f356020526020 5f20604052602060 20f3", "a RETURN of them is expected"),
        // Hashed before it is written.
        ("5f35 60205f20 90 602052 604052602060 40f3", "a RETURN of them is expected"),
        // The hash reaches beyond scratch memory.
        ("5f356020526060 5f20604052602060 40f3", "RETURN of them is expected"),
    ] {
        let found = fault(body, words, &code.replace(' ', "")).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{code}: {found}");
    }
}

#[test]
fn turns_of_a_loop_leave_code_as_the_next_one_needs_it() {
    let words = "word w0 = 0x0\nword w1 = calldata_size\nword w2 = defined\nword w3 = defined\nword w4 = add w3 w2\nword w5 = defined";
    let turn = "get x0 -> w3 set x0 w4 give ()";
    let counted = format!("set x0 w0 repeat w1 index w2 () = () {{ {turn} }} -> () get x0 -> w5 return_word w5");
    // The sum of all numbers below the size of calldata, kept at 0.
    let [start, sum, end] =
        ["5f5f52 36", "80 15 601b 57 5f 5b 80 5f51 01 5f52 600101 80 82 11 600a 57 50 5b 50", "60205ff3"];
    let unlike = "does not leave stack and memory as the next one needs them";
    for (from, to, expected) in [
        ("", "", ""),
        // By two; up to the size; no turn where there is one; from another number on.
        ("600101", "600201", "branches under another condition"),
        ("82 11", "82 10", "branches under another condition"),
        ("80 15", "80 19", "branches under another condition"),
        ("57 5f 5b", "57 58 5b", "a loop is expected"),
        // A word more on the stack after each turn; another sum; a sum that is not kept.
        ("601b 57 5f 5b 80 5f51 01 5f52", "601d 57 5f 5b 80 5f51 01 5f52 3690", unlike),
        ("5f51 01 5f52", "5f51 03 5f52", "a RETURN of them is expected"),
        ("5f51 01 5f52", "5f51 01 505b", "a RETURN of them is expected"),
        // Back to the end of the loop, and to its second instruction.
        ("600a 57", "601b 57", "no JUMPDEST that code jumps back to is found"),
        ("600a 57", "600b 57", "no JUMPDEST that code jumps back to is found"),
    ] {
        let code = [start, &sum.replacen(from, to, 1), end].concat().replace(' ', "");
        let found = fault(&counted, words, &code).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{code}: {found}");
    }
    // Three turns, whose gas is known; and four in code.
    let numbered = counted.replace("repeat w1", "repeat w6");
    let words = format!("{words}\nword w6 = 0x3");
    for (turns, expected) in [("03", ""), ("04", "branches under another condition")] {
        let code = format!("5f5f52 5f 5b 80 5f51 01 5f52 600101 80 60{turns} 11 6004 57 50 60205ff3").replace(' ', "");
        let found = fault(&numbered, &words, &code).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{code}: {found}");
    }
    // Two words that are the same before the loop and after its first turn, and no longer: the first one is twice taken for both.
    let words_of_two = format!(
        "{words}\nword w7 = defined\nword w8 = add w3 w1\nword w9 = add w7 w3\nword w10 = add w9 w1\nword w11 = defined"
    );
    let two = "set x0 w0 set x1 w0 repeat w6 index w2 () = () { get x0 -> w3 get x1 -> w7 set x0 w8 set x1 w10 give () } -> () get x1 -> w11 return_word w11";
    for (second, is_right) in [("602051 01", true), ("80 01 5b5b", false)] {
        let code = format!(
            "5f5f52 5f602052 5f 5b 5f51 80 {second} 36 01 602052 36 01 5f52 600101 80 6003 11 6008 57 50 60206020f3"
        );
        assert_eq!(fault(two, &words_of_two, &code.replace(' ', "")).is_none(), is_right, "{second}");
    }
    // 2³² − 1 turns.
    let many = format!("{words}\nword w7 = 0xffffffff");
    let code = "5f5f52 5f 5b 80 5f51 01 5f52 600101 80 63ffffffff 11 6004 57 50 60205ff3".replace(' ', "");
    let most = |body: &str| fault(&body.replace("repeat w6", "repeat w7"), &many, &code);
    assert_eq!(most(&numbered), None);
    let twice = numbered
        .replace("get x0 -> w3 set x0 w4", "repeat w7 index w8 () = () { get x0 -> w3 set x0 w9 give () } -> ()");
    let inner = "5f 5b 80 5f51 01 5f52 600101 80 63ffffffff 11 6006 57 50";
    let code = format!("5f5f52 5f 5b {inner} 600101 80 63ffffffff 11 6004 57 50 60205ff3").replace(' ', "");
    let found = fault(
        &twice.replace("repeat w6", "repeat w7"),
        &format!("{many}\nword w8 = defined\nword w9 = add w3 w8"),
        &code,
    )
    .unwrap_or_default();
    assert!(found.contains("take too much gas"), "{found}");
    // Three turns of three, where a turn begins with the inner loop.
    let few = |inner: &str| {
        format!(
            "5f5f52 5f 5b 5f 5b 80 5f51 01 5f52 600101 80 60{inner} 11 6006 57 50 600101 80 6003 11 6004 57 50 60205ff3"
        )
    };
    for (turns, is_right) in [("03", true), ("04", false)] {
        let body = twice.replace("repeat w7", "repeat w6");
        let found = fault(
            &body,
            &format!("{words}\nword w7 = defined\nword w8 = defined\nword w9 = add w3 w8"),
            &few(turns).replace(' ', ""),
        );
        assert_eq!(found.is_none(), is_right, "{found:?}");
    }
    let none = numbered.replace("repeat w6", "repeat w0");
    assert!(fault(&none, &words, "5f5f5260205ff3").unwrap_or_default().contains("a loop without turns"));
}

/// A return of the word on top of the stack, whose code is 6 bytes: from 64 on, after scratch memory.
const RETURN: &str = "604052602060 40f3";

/// Asserts of each code that it is accepted, or why not.
fn assert_faults(body: &str, words: &str, codes: &[(&str, &str)]) {
    for (code, expected) in codes {
        let found = fault(body, words, &code.replace(' ', "")).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{body}: {code}: {found}");
    }
}

const NOT_IT: &str = "a RETURN of them is expected";

#[test]
fn a_read_across_two_words_is_that_of_their_variables() {
    let words =
        "word w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w0\nword w3 = calldata_word w1\nword w4 = defined";
    let body = "set x0 w2 set x1 w3 get_across x0 from 4 -> w4 return_word w4";
    let end = |code: &str| format!("{code} 6080 52 6020 6080 f3");
    for (code, expected) in [
        // Words at 32 and 64, read from 36 on; the same by shifts.
        ("5f35 602052 602035 604052 602451", ""),
        ("5f35 60201b 602035 60e01c 17", ""),
        // Read from 35 on; from 68 on; the first word alone; shifted otherwise.
        ("5f35 602052 602035 604052 602351", NOT_IT),
        ("5f35 602052 602035 604052 604451", NOT_IT),
        ("5f35 602052 602035 604052 602051", NOT_IT),
        ("5f35 60201b 602035 60d01c 17", NOT_IT),
        // The words exchanged, apart by a byte, and of another place; the second one is missing.
        ("5f35 604052 602035 602052 602451", NOT_IT),
        ("5f35 602052 602035 604152 602451", NOT_IT),
        ("604035 602052 602035 604052 602451", NOT_IT),
        ("5f35 602052 602451", NOT_IT),
    ] {
        assert_faults(body, words, &[(&end(code), expected)]);
    }
    // Of three words in a row those in the middle.
    let body = "set x0 w1 set x1 w2 set x2 w3 get_across x1 from 31 -> w4 return_word w4";
    let stores = "6020 602052 5f35 604052 602035 606052";
    assert_faults(body, words, &[(&end(&format!("{stores} 605f51")), ""), (&end(&format!("{stores} 603f51")), NOT_IT)]);
}

#[test]
fn words_that_are_returned_stand_in_a_row() {
    let words = "word w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w0\nword w3 = calldata_word w1\nword w4 = 0x40";
    let stores = "602035 608052 5f35 606052";
    for (code, expected) in [
        ("6040 6060 f3", ""),
        // A word alone; another place; three words.
        ("6020 6060 f3", NOT_IT),
        ("6040 6080 f3", NOT_IT),
        ("6060 6060 f3", NOT_IT),
    ] {
        assert_faults("return_words (w2 w3) bytes w4", words, &[(&format!("{stores}{code}"), expected)]);
    }
    for (code, expected) in [
        ("5f35 608052 602035 606052 6040 6060 f3", NOT_IT),
        ("602035 608152 5f35 606052 6040 6060 f3", NOT_IT),
        ("5f35 606052 6040 6060 f3", NOT_IT),
    ] {
        assert_faults("return_words (w2 w3) bytes w4", words, &[(code, expected)]);
    }
    assert_faults("return_words (w2 w3) bytes w1", words, &[(stores, "other bytes than those of its words")]);
}

#[test]
fn bytes_up_to_an_end_are_within_scratch_memory_by_what_is_required() {
    const BEYOND: &str = "bytes beyond scratch memory";
    const UNKNOWN: &str = "a known number is expected";
    // So many bytes before the end, below a bound; scratch memory has so much room, and 32 bytes are paid for.
    for (bound, end, room, expected) in [
        (0x21, 0x20, 32, ""),
        (0x20, 0x20, 32, ""),
        (0x21, 0x20, 64, ""),
        (0x22, 0x20, 32, UNKNOWN),
        (0x41, 0x40, 32, BEYOND),
        (0x41, 0x40, 64, BEYOND),
    ] {
        let words = format!(
            "word w0 = 0x0\nword w1 = {end:#x}\nword w2 = calldata_word w0\nword w3 = 0x40\nword w4 = calldata_word w3\n\
             word w5 = sub w1 w4\nword w6 = {bound:#x}\nword w7 = lt w4 w6\nword w8 = lt w2 w3\nword w9 = and w8 w7"
        );
        let begin = "5f35 5f52 60";
        let ends = format!("604035 80 60{end:02x} 03 f3 5b fe");
        let body = |condition| {
            format!("scratch bytes {room} set_scratch w0 w2 require {condition} return_scratch w5 bytes w4")
        };
        let code = format!("{begin}{bound:02x} 604035 10 15 6016 57 {ends}");
        assert_faults(&body("w7"), &words, &[(&code, expected)]);
        // The same as a part of a condition.
        let code = format!("{begin}{bound:02x} 604035 10 6040 5f35 10 16 15 601c 57 {ends}");
        assert_faults(&body("w9"), &words, &[(&code, expected)]);
        // Other bytes; the bound of another word.
        let other = format!("{begin}{bound:02x} 604035 10 15 6015 57 5f35 80 60{end:02x} 03 f3 5b fe");
        assert_faults(&body("w7"), &words, &[(&other, "a RETURN of it is expected")]);
        let other = format!("{begin}40 5f35 10 15 6015 57 {ends}");
        assert_faults(&body("w8"), &words, &[(&other, UNKNOWN)]);
    }
}

#[test]
fn branches_that_meet_again_have_what_comes_after_in_both_arms() {
    let words = "word w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w0\nword w3 = defined";
    let body = "branch w2 { set x0 w1 give () } else { set x0 w0 give () } -> () get x0 -> w3 return_word w3";
    let end = "5b 6040 52 6020 6040 f3";
    for (code, expected) in [
        ("5f35 6009 57 5f 600c 56 5b 6020", ""),
        ("5f3515 600b 57 6020 600d 56 5b 5f", ""),
        // The arms exchanged; one of them for both.
        ("5f35 600a 57 6020 600c 56 5b 5f", NOT_IT),
        ("5f35 600a 57 6020 600d 56 5b 6020", NOT_IT),
    ] {
        assert_faults(body, words, &[(&format!("{code} {end}"), expected)]);
    }
    let many = "branch w2 { give () } else { give () } -> ()\n".repeat(20);
    assert_faults(&format!("{many} return_word w2"), words, &[("00", "65536 steps")]);
}

#[test]
fn ways_that_fail_have_their_own_gas() {
    let text = "program \"p\"\nmodulus 0x3\nfunction f0 \"start\" () -> () values 0 {\nword w0 = 0x0\nword w1 = calldata_word w0\n\
                require w1 return_word w1\n}";
    let program = text::read(text).unwrap();
    // CALLDATALOAD, JUMPI with ISZERO, and 2 for PUSH0; a JUMPDEST is only where it fails.
    let code = hex::decode("5f358015600d575f5260205ff35b5b5bfe").unwrap();
    let certificate = Certificate::new(&program, Semantics::Evm, &code).unwrap();
    let returns = 2 + 3 + 3 + 3 + 3 + 10 + 2 + (3 + 3) + 3 + 2;
    assert_eq!(certificate.gas, returns);
}

#[test]
fn factors_and_terms_modulo_a_word_may_be_exchanged() {
    let words = "word w0 = 0x0\nword w1 = 0x20\nword w2 = 0x40\nword w3 = calldata_word w0\nword w4 = calldata_word w1\n\
                 word w5 = calldata_word w2\nword w6 = mulmod w3 w4 w5\nword w7 = addmod w6 w4 w5";
    let end = "6040 52 6020 6040 f3";
    for (code, expected) in [
        ("602035 604035 90 604035 602035 5f35 09 08", ""),
        ("604035 602035 604035 5f35 602035 09 08", ""),
        ("604035 604035 5f35 602035 09 602035 08", ""),
        // The modulus in place of a factor; a sum in place of the product; of another word.
        ("604035 602035 602035 604035 5f35 09 08", NOT_IT),
        ("604035 602035 604035 602035 5f35 08 08", NOT_IT),
        ("604035 5f35 604035 602035 5f35 09 08", NOT_IT),
    ] {
        assert_faults("return_word w7", words, &[(&format!("{code} {end}"), expected)]);
    }
}

#[test]
fn conditions_of_a_program_of_words_are_those_of_the_code() {
    let words = "word w0 = 0x0\nword w1 = calldata_word w0\nword w2 = calldata_size";
    let body = "require w1 return_word w2";
    // The word, or the size of calldata; the code fails where it is 0, or where it is not.
    for (condition, expected) in [("5f3515", ""), ("3615", "under another condition"), ("5f35", "INVALID is expected")]
    {
        let end = format!("36{RETURN}").replace(' ', "");
        let fails = condition.len() / 2 + 3 + end.len() / 2;
        let found = fault(body, words, &format!("{condition}60{fails:02x}57{end}5bfe")).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{condition}: {found}");
    }
}

#[test]
fn counts_and_bytes_beyond_a_program_of_words_are_refused() {
    let words = "word w0 = 0x0\nword w1 = 0x20\nword w2 = calldata_word w0\nword w3 = defined\nword w4 = 0x40";
    for (body, code, expected) in [
        ("countdown w2 () { turn () { give () } } -> () return_word w2", "5f3556", "more turns than there are"),
        (
            "scratch bytes 32 set_scratch w0 w2 keccak256_scratch w0 bytes w4 -> w3 return_word w3",
            "5f355f5260405f20604052602060 40f3",
            "hash bytes beyond scratch memory",
        ),
        (
            "scratch bytes 32 set_scratch w2 w2 return_word w2",
            "5f35808052604052602060 40f3",
            "write beyond scratch memory",
        ),
        // Code keeps the word at 32, which is scratch memory from there on.
        (
            "require w2 scratch bytes 64 set_scratch w1 w2 return_word w2",
            "5f358060205215600b57005bfe",
            "a place where scratch memory begins",
        ),
        (
            "scratch bytes 64 set_scratch w1 w2 return_scratch w1 bytes w4",
            "5f356020526040 6020f3",
            "bytes beyond scratch memory",
        ),
    ] {
        let found = fault(body, words, &code.replace(' ', "")).unwrap_or_default();
        assert!(found.contains(expected), "{body}: {found}");
    }
}
