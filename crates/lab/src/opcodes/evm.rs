//! The EVM's own opcodes: for each a body of many executions on fresh operands, and the list of those that cannot be
//! measured so.

use num_bigint::BigUint;
use residue_engine::Engine;
use residue_isa::opcode::evm as op;
use residue_isa::opcode::{OpcodeRow, evm::OPCODES};
use residue_isa::{Assembly, Revision};

use super::pair::{Pair, bytes, looped, ops};
use super::values::random;
use super::{EVM_LAYER, MeasureEffort, frames};
use crate::error::LabError;

/// Executions in a turn of the loop.
const BODY: usize = 48;
/// Executions in a turn with distant operands: together they touch more lines than caches near the core hold.
const FAR_BODY: usize = 8192;
const FAR_TURNS: usize = 3;
/// Memory that programs with distant operands reach.
const FAR_BYTES: u64 = 8 << 20;
/// Storage keys and accounts that are cold once a run.
const COLD: usize = 96;
/// The bytecode is the same under every revision; this one is the engine's.
const REVISION: Revision = Revision::Eip6690_2024;

/// Opcodes that have no pair, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("STOP", "a frame has to end somehow: what else ends one is measured beside it"),
    ("POP", "measured apart"),
    ("KECCAK256", "measured apart"),
];

/// Opcodes that end a frame by something else than STOP.
pub(super) const ENDINGS: [u8; 4] = [op::RETURN, op::REVERT, op::INVALID, op::SELFDESTRUCT];

/// One way to give an opcode operands: for execution `i` the words it takes, top first.
struct Case {
    class: &'static str,
    words: Box<dyn Fn(usize) -> Vec<BigUint>>,
    /// All keys or accounts are touched for the first time in a run.
    is_cold: bool,
}

/// The pairs of all opcodes, and what is left out with reasons.
pub(super) fn pairs(_: &Engine, effort: &MeasureEffort) -> Result<(Vec<Pair>, Vec<String>), LabError> {
    let mut pairs = Vec::new();
    let mut reasons = Vec::new();
    for row in OPCODES {
        if let Some((_, reason)) = LEFT_OUT.iter().find(|(mnemonic, _)| *mnemonic == row.mnemonic) {
            if *reason != "measured apart" {
                reasons.push(format!("{EVM_LAYER}/{}: {reason}", row.mnemonic));
            }
            continue;
        }
        pairs.extend(match row.byte {
            op::JUMP | op::JUMPI => jumps(row),
            byte if ENDINGS.contains(&byte) => frames::pairs(row),
            _ => cases(row, effort).into_iter().map(|case| pair(row, case)).collect(),
        });
    }
    Ok((pairs, reasons))
}

fn pair(row: &'static OpcodeRow, case: Case) -> Pair {
    let Case { class, words, is_cold } = case;
    let reaches_far = class == "far";
    let count = match (is_cold, reaches_far) {
        (true, _) => COLD,
        (_, true) => FAR_BODY,
        _ => BODY,
    };
    let (pops, pushes) = (i32::from(row.pops), i32::from(row.pushes));
    let program = move |with: bool, turns: usize| {
        let body = |code: &mut Assembly| {
            for i in 0..count {
                for word in words(i).into_iter().rev() {
                    code.push(word);
                }
                let left = match with {
                    true => {
                        let immediate = (0..row.immediate_bytes).map(|byte| byte.wrapping_mul(37).wrapping_add(1));
                        code.data([row.byte].into_iter().chain(immediate).collect::<Vec<_>>());
                        row.pushes
                    }
                    false => row.pops,
                };
                (0..left).for_each(|_| ops(code, &[op::POP]));
            }
        };
        let before = |code: &mut Assembly| {
            if reaches_far {
                code.push(0_u8).push(FAR_BYTES).op(op::MSTORE);
            }
        };
        bytes(&looped(turns, before, body, |code| ops(code, &[op::STOP])), REVISION)
    };
    Pair {
        name: format!("{EVM_LAYER}/{}/256/{class}", row.mnemonic),
        mnemonic: row.mnemonic,
        count,
        pops: pops - pushes,
        program: Box::new(program),
        input: (0..=255).collect(),
        expected: None,
        turns: if reaches_far { Some(FAR_TURNS) } else { is_cold.then_some(1) },
        is_cold_measured: false,
    }
}

/// Jumps to the next instruction; conditional ones that are taken, not taken, and both in an order that is not a pattern.
fn jumps(row: &'static OpcodeRow) -> Vec<Pair> {
    let classes: &[&str] = if row.byte == op::JUMP { &["plain"] } else { &["taken", "untaken", "alternating"] };
    let one = |class: &'static str| {
        let program = move |with: bool, turns: usize| {
            let body = |code: &mut Assembly| {
                for i in 0..BODY {
                    let target = code.new_label();
                    if row.byte == op::JUMPI {
                        let mixed = random(&BigUint::from(2u8), i as u64); // A small number.
                        code.push(match class {
                            "taken" => BigUint::from(1u8),
                            "untaken" => BigUint::ZERO,
                            _ => mixed,
                        });
                    }
                    code.push_label(target);
                    match with {
                        true => ops(code, &[row.byte]),
                        false => (0..row.pops).for_each(|_| ops(code, &[op::POP])),
                    }
                    code.label(target);
                }
            };
            bytes(&looped(turns, |_| (), body, |code| ops(code, &[op::STOP])), REVISION)
        };
        Pair {
            name: format!("{EVM_LAYER}/{}/256/{class}", row.mnemonic),
            mnemonic: row.mnemonic,
            count: BODY,
            pops: i32::from(row.pops),
            program: Box::new(program),
            input: Vec::new(),
            expected: None,
            turns: None,
            is_cold_measured: false,
        }
    };
    classes.iter().map(|class| one(class)).collect()
}

fn warm(class: &'static str, words: impl Fn(usize) -> Vec<BigUint> + 'static) -> Case {
    Case { class, words: Box::new(words), is_cold: false }
}

fn cold(words: impl Fn(usize) -> Vec<BigUint> + 'static) -> Case {
    Case { class: "cold", words: Box::new(words), is_cold: true }
}

fn numbers<const N: usize>(numbers: [u64; N]) -> Vec<BigUint> {
    numbers.map(BigUint::from).to_vec()
}

/// The ways to give an opcode operands.
fn cases(row: &'static OpcodeRow, effort: &MeasureEffort) -> Vec<Case> {
    let pops = usize::from(row.pops);
    match row.byte {
        op::ADD..=op::SIGNEXTEND | op::LT..=op::CLZ => arithmetic(row.byte, pops),
        op::MLOAD => places(|at| numbers([at])),
        op::MSTORE | op::MSTORE8 => places(|at| numbers([at, 7])),
        op::MCOPY => vec![
            warm("32", |i| numbers([64 * (i as u64 % 8), 2048, 32])), // Small numbers.
            warm("1024", |i| numbers([64 * (i as u64 % 8), 2048, 1024])),
        ],
        op::CALLDATALOAD => vec![warm("plain", |i| numbers([i as u64 * 4]))],
        op::CALLDATACOPY | op::CODECOPY => {
            vec![warm("32", |_| numbers([0, 16, 32])), warm("1024", |_| numbers([0, 16, 1024]))]
        }
        op::RETURNDATACOPY => vec![warm("0", |_| numbers([0, 0, 0]))],
        op::EXTCODECOPY => {
            vec![warm("warm", |_| numbers([0xbeef, 0, 0, 32])), cold(|i| numbers([0xbeef + i as u64, 0, 0, 32]))]
        }
        op::BALANCE | op::EXTCODESIZE | op::EXTCODEHASH => {
            vec![warm("warm", |_| numbers([0xbeef])), cold(|i| numbers([0xbeef + i as u64]))]
        }
        op::SLOAD => vec![warm("warm", |_| numbers([1])), cold(|i| numbers([i as u64]))],
        op::SSTORE => vec![warm("warm", |i| numbers([1, i as u64])), cold(|i| numbers([i as u64, 5]))],
        op::TLOAD => vec![warm("warm", |_| numbers([1])), cold(|i| numbers([i as u64]))],
        op::TSTORE => vec![warm("warm", |i| numbers([1, i as u64])), cold(|i| numbers([i as u64, 5]))],
        op::BLOCKHASH | op::BLOBHASH => vec![warm("plain", |_| numbers([0]))],
        op::LOG0..=op::LOG4 => vec![warm("0", move |i| {
            let topics = (2..pops).map(|topic| BigUint::from(topic + i));
            numbers([0, 0]).into_iter().chain(topics).collect()
        })],
        op::CALL | op::CALLCODE => vec![
            warm("warm", |_| numbers([0, 0xbeef, 0, 0, 0, 0, 0])),
            cold(|i| numbers([0, 0xbeef + i as u64, 0, 0, 0, 0, 0])),
        ],
        op::DELEGATECALL | op::STATICCALL => vec![
            warm("warm", |_| numbers([0, 0xbeef, 0, 0, 0, 0])),
            cold(|i| numbers([0, 0xbeef + i as u64, 0, 0, 0, 0])),
        ],
        // Accounts without code, each at an address of its own; the code that others run in there is priced by itself.
        op::CREATE => vec![Case { class: "empty", ..cold(|_| numbers([0, 0, 0])) }],
        op::CREATE2 => vec![Case { class: "empty", ..cold(|i| numbers([0, 0, 0, i as u64])) }],
        op::DUP1..=op::SWAP16
            if !effort.is_complete && !matches!(row.byte, op::DUP1 | op::DUP16 | op::SWAP1 | op::SWAP16) =>
        {
            // They do what their first and last do; one class tells that they are there.
            vec![warm("plain", move |i| (0..pops).map(|word| BigUint::from(word + i)).collect())]
        }
        _ => vec![warm("plain", move |i| (0..pops).map(|word| BigUint::from(word + i)).collect())],
    }
}

/// Words at random, zeros, all ones and small ones; a number of bits or bytes as the first operand where one is meant.
fn arithmetic(opcode: u8, pops: usize) -> Vec<Case> {
    let is_amount = matches!(opcode, op::SIGNEXTEND | op::BYTE | op::SHL | op::SHR | op::SAR);
    let whole = BigUint::from(1u8) << 256u32;
    let ones = &whole - 1u8;
    let words = move |class: &'static str, whole: BigUint, ones: BigUint| {
        warm(class, move |i| {
            let word = |position: usize| match class {
                _ if is_amount && position == 0 => BigUint::from(i % 31),
                "zeros" => BigUint::ZERO,
                "ones" => ones.clone(),
                "small" => BigUint::from(3 + i + position),
                _ => random(&whole, (i * 8 + position) as u64), // A small number.
            };
            (0..pops).map(word).collect()
        })
    };
    ["random", "zeros", "ones", "small"].map(|class| words(class, whole.clone(), ones.clone())).into_iter().collect()
}

/// The same line of memory, and offsets spread over lines, pages and more than the caches hold.
fn places(words: impl Fn(u64) -> Vec<BigUint> + Copy + 'static) -> Vec<Case> {
    let far = |i: usize| {
        let at = random(&BigUint::from(FAR_BYTES / 64), i as u64); // A small number.
        64 * u64::try_from(at).unwrap_or(0)
    };
    vec![
        warm("line", move |_| words(0)),
        warm("lines", move |i| words(64 * i as u64)),
        warm("pages", move |i| words(4096 * i as u64)),
        warm("far", move |i| words(far(i))),
    ]
}
