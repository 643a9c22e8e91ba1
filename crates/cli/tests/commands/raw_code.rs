//! Bytecode by hand for every revision, through `residue run`: (p − 1)² of BLS12-381, output and gas reckoned by hand.
//!
//! Each code copies its calldata to memory and multiplies; in Montgomery form (p − 1)·(p − 1)·R⁻¹ = R⁻¹, in slots 1. The gas
//! is that of `docs/revisions` under each revision's own schedule: version 7's, for instance, is 25 for copying 152 bytes,
//! 3 for PUSH16, 24 for the multiplication, 21 for seven words of memory, 6 for the last pushes.

use crate::support::{directory, file, residue};

const P: &str = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
const P_MINUS_ONE: &str =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaaa";
/// R⁻¹ mod p with R = 2³⁸⁴.
const R_INVERSE: &str =
    "14fec701e8fb0ce9ed5e64273c4f538b1797ab1458a88de9343ea97914956dc87fe11274d898fafbf4d38259380b4820";
/// −p⁻¹ mod 2⁶⁴.
const R_INV: &str = "89f3fffcfffcfffd";

/// Revision, code, gas.
const CODES: &[(&str, &str, u64)] = &[
    ("evm384-v0", "6080356060356050356030356020355f35c25f5260205260305ff3", 81),
    ("evm384-v1", "60985f5f376789f3fffcfffcfffd606060305fc260305ff3", 80),
    ("evm384-v2", "60985f5f376789f3fffcfffcfffd606060305f60a0c2603060a0f3", 90),
    ("evm384-v3", "60985f5f3760b051506789f3fffcfffcfffd606060305f60a0c2603060a0f3", 98),
    ("evm384-v4", "60985f5f3760305f60a0c2603060a0f3", 84),
    ("evm384-v5", "60985f5f3760b0515060305f60a0c2603060a0f3", 92),
    ("evm384-v6", "60605f5f37603860606130003762030001c260306090f3", 1519),
    ("evm384-v7", "60985f5f376f000000a0000000000000003000000060c2603060a0f3", 79),
    ("evm384-v8", "60985f5f376f000000a0000000000000003000000060c2603060a0f3", 79),
    ("evm384-v9", "60985f5f37c2a0000000000000003000000060000000603060a0f3", 76),
    ("evm384-v10", "60985f5f3761010051506604000000010002c2603060c0f3", 76),
    ("evm384-v12", "60985f5f3760306060c3c265a00000003000603060a0f3", 203),
    ("eip5843", "60985f5f3761010051505f60066060212403000160306090f3", 176),
    ("geth5843", "60985f5f3761010051505f60066060212403000160306090f3", 176),
    ("eip6601", "60905f5f37600360306060210760025f5f2624020001600160025f2560305ff3", 101),
    ("geth6601", "60905f5f3760036030606060072160025f5f60072624020001600160025f60072560305ff3", 83),
    ("geth6601-push3", "60905f5f3760036030606060072160025f5f6007262462020001600160025f60072560305ff3", 83),
    ("eip6690-2023", "60905f5f3760036030606060072160025f5f2624020001600160025f2560305ff3", 104),
    ("evmone-2023", "60905f5f376003603060602160025f5f2624020001600160025f2560305ff3", 120),
    ("eip7747", "60905f5f376003603060606007c060025f5fc2c5020001600160025fc160305ff3", 156),
    ("eip6690-2024", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("evmone-2025", "60905f5f37600360306060c060025f5fc2c502000000010001600160025fc160305ff3", 114),
    ("evmone-bits", "60905f5f37600361017d6060c060025f5fc2c502000000010001600160025fc160305ff3", 94),
    ("x-invmodx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-iszerox", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-sumx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-arrayx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-padx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-widex", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-codex", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-vectorx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-fp2x", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-movx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-fp6x", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-selectx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-cmpx", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-squarex", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-callsub", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
    ("x-extx", "60905f5f376003603060606007aec060025f5faec2aec502010000010001600160025faec160305ff3", 141),
    ("x-383", "60985f5f37c2a0000000000000003000000060000000603060a0f3", 76),
    ("evmmax-next", "60905f5f376003603060606007c060025f5fc2c502010000010001600160025fc160305ff3", 141),
];

/// Hexadecimal digits with their bytes in the other order.
fn reversed(digits: &str) -> String {
    let bytes = hex::decode(digits).unwrap();
    hex::encode(bytes.into_iter().rev().collect::<Vec<_>>())
}

#[test]
fn code_by_hand_gives_the_output_and_the_gas_of_its_revision() {
    let listed = residue(&["list", "revisions", "--json"]).json(0);
    let listed = listed["revisions"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
    // They have no field instruction.
    let listed: Vec<&str> = listed.filter(|name| !["evm", "evm-callsub"].contains(name)).collect();
    assert_eq!(CODES.iter().map(|(revision, ..)| *revision).collect::<Vec<_>>(), listed);
    let big_endian = [P_MINUS_ONE, P_MINUS_ONE, P, R_INV].concat();
    let little_endian = [P_MINUS_ONE, P_MINUS_ONE, P, R_INV].map(reversed).concat();
    let directory = directory("raw_code");
    for &(revision, code, gas) in CODES {
        let is_evm384 = revision.starts_with("evm384") || revision == "x-383";
        let is_little_endian = is_evm384 && revision != "evm384-v8";
        let input = if is_little_endian { &little_endian } else { &big_endian };
        let expected = match (is_little_endian, is_evm384 || revision.ends_with("5843")) {
            (true, _) => reversed(R_INVERSE),
            (false, true) => R_INVERSE.to_owned(),
            (false, false) => format!("{:096x}", 1),
        };
        // After the code as many zeros as make 64 KiB.
        let long = code.to_owned() + &"0".repeat(2 * 0x1_0000 - code.len());
        for code in [code, &long] {
            let path = file(&directory, "code.hex", code);
            for engine in ["batch", "plain", "spec"] {
                let args = ["run", &path, "--revision", revision, "--input", input, "--no-time", "--json"];
                let object = residue(&[&args[..], &["--engine", engine]].concat()).json(0);
                let found = (object["output"].as_str().unwrap(), object["gas_used"].as_u64());
                assert_eq!(found, (format!("0x{expected}").as_str(), Some(gas)), "{revision}, {engine}");
            }
        }
    }
}
