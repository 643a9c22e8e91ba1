//! KECCAK256 of 32, 136 and 192 bytes, 5,000 and 50,000 times: the pivot of model B (EVM384, update 5).

use residue_isa::opcode::evm as op;
use residue_isa::{Assembly, Revision};

use super::EVM_LAYER;
use super::pair::{Pair, bytes, looped, ops};
use crate::error::LabError;

/// Bytes that are hashed.
pub const SIZES: [u64; 3] = [32, 136, 192];
/// Numbers of iterations.
pub const ITERATIONS: [usize; 2] = [5_000, 50_000];
/// Hashes in a turn of the loop.
const BODY: usize = 50;

/// The pairs.
pub(super) fn pairs() -> Result<Vec<Pair>, LabError> {
    let pair = |size: u64, iterations: usize| {
        let program = move |with: bool, turns: usize| {
            let body = |code: &mut Assembly| {
                for _ in 0..BODY {
                    code.push(size).push(0_u8);
                    match with {
                        true => code.op(op::KECCAK256).op(op::POP),
                        false => code.op(op::POP).op(op::POP),
                    };
                }
            };
            let before = |code: &mut Assembly| {
                code.push(192_u8).push(0_u8).push(0_u8);
                ops(code, &[op::CALLDATACOPY]);
            };
            bytes(&looped(turns, before, body, |code| ops(code, &[op::STOP])), Revision::Eip6690_2024)
        };
        Pair {
            name: format!("{EVM_LAYER}/KECCAK256/{size}/{iterations}"),
            mnemonic: "KECCAK256",
            count: BODY,
            pops: 1,
            program: Box::new(program),
            input: (0..192).collect(),
            expected: None,
            turns: Some(iterations / BODY),
            is_cold_measured: false,
        }
    };
    Ok(SIZES.iter().flat_map(|&size| ITERATIONS.map(|iterations| pair(size, iterations))).collect())
}
