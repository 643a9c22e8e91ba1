//! The executable specification of every revision: one frame, big integers, no thought of speed, to be read beside the
//! EIP. It imports nothing else of this project, so it can judge all of it.
//!
//! A revision is one file under `revision/`: its opcodes, its prices as published, its state of a frame and the
//! semantics of its instructions. The EVM's own opcodes that field programs use are in `evm/`, with Osaka's rules and
//! gas. Opcodes that need a world around the frame (calls, creates, storage, logs, block data) end the run with
//! [`Halt::Unsupported`], which is no verdict: a comparison skips such a run.
//!
//! ```
//! use residue_spec::{Env, Revision, run};
//!
//! let revision = Revision::named("eip6690-2024").ok_or("a known revision")?;
//! let prices = revision.prices_named("eip6690").ok_or("its own prices")?;
//! // PUSH1 11, PUSH0, MSTORE8: the modulus. PUSH1 4, PUSH1 1, PUSH0, PUSH0, SETMODX: four slots in context 0.
//! let code = [0x60, 11, 0x5f, 0x53, 0x60, 4, 0x60, 1, 0x5f, 0x5f, 0xc0];
//! let outcome = run(revision, &prices, &Env::default(), &code, &[], 1000);
//! assert_eq!((outcome.halt.name(), outcome.gas_used), ("stop", 11 + 11 + 3 + 23));
//! # Ok::<(), &str>(())
//! ```
//!
//! # Order of checks
//!
//! A field instruction: known opcode and complete immediate, stack underflow, base gas, operand checks (context, index,
//! range, value), gas for growth of memory, dynamic gas. An instruction of the EVM: known opcode, base gas, stack
//! underflow or overflow, then its dynamic gas and growth, which both end in `out_of_gas`.
//!
//! # Choices
//!
//! Choices, if the published texts leave a halt, a limit or an order open:
//!
//! | where | what happens | why |
//! |---|---|---|
//! | truncated immediate of a field instruction | `invalid_instruction`, with any stack and any gas | it is no instruction |
//! | truncated `PUSH1..32` | missing bytes are zero, then `stop` | the EVM's rule |
//! | `DUPn` on a short stack | `stack_underflow` | the EVM's rule |
//! | `INVALID`, bytes that Osaka does not define | `invalid_instruction`, with any gas | they have no price |
//! | `RETURNDATACOPY` beyond the data | `other:OutOfOffset`, before any dynamic gas; length ≥ 2⁶⁴: `out_of_gas` | as revm |
//! | memory ceiling | exactly the ceiling is allowed; slots do not count towards it | it bounds memory |
//! | range of length 0 | its offset is ignored, nothing grows | the EVM's rule |
//! | exceptional halt | output empty, all gas used, memory as before the instruction | the frame is void |
//! | `evm384-v0`: order of words | the first of a pair above the second; a result's last 16 bytes 0 | undecided |
//! | `evm384-v3`, `-v5`: value outside memory | `memory_out_of_range`, at any offset | undefined at the origin |
//! | `evm384-v1` to `-v3`: r_inv ≥ 2⁶⁴ | `out_of_gas`, before the operands are looked at | as evmone |
//! | `evm384-v7` to `-v9`: growth | all four operands, +48 or (MUL) +56 | as evmone, under every schedule |
//! | `evm384-v10`: highest slot | must end before the last byte of memory, else `memory_out_of_range` | as go-ethereum |
//! | `evm384-v12`: byte after the opcode is not 65 | `invalid_instruction`, with any gas | it is no instruction |
//! | `evm384-v12`: length 0 | instructions do nothing, nothing grows | as evm.py, unverified as intent |
//! | `evm384-v12`: length above 48 | `invalid_modulus`, before memory grows | a product costs the same at any length |
//! | `x-383`: modulus of 384 bits | `invalid_modulus`, for every instruction, after growth | that all operands are there comes first |
//! | `evm384-v7`: bits 128..255 of the operand word | ignored | as evmone |
//! | 6690 `SETMODX`: id | 0 ≤ id ≤ 256, so 257 ids; above: `no_context` | the text asserts it so |
//! | 6690 `SETMODX`: known id | nothing else is checked | the text's branch comes first |
//! | 6690 `SETMODX`: alloc_count not in 1..=256 | `slot_out_of_range` | an index check |
//! | 6690 `SETMODX`: modulus_size not in 1..=96 | `invalid_modulus`, before the range check | no modulus has that size |
//! | 6690 `SETMODX`: more than 24576 bytes of slots | `slot_out_of_range`, before the range check | an index check |
//! | 6690 `SETMODX`: modulus outside memory | `memory_out_of_range`, before its value is judged | |
//! | 6690 arithmetic: count 0 or out_stride 0 | `invalid_stride`, before the bounds, which they would make meaningless | |
//! | 6690 `LOADX`, `STOREX`: count 0 | context needed, base gas charged, other operands not looked at | nothing is moved |
//! | 6690 `STOREX`: value ≥ modulus | `value_out_of_range`, before the dynamic gas | the order of checks |
//! | without strides: marker missing (`geth6601-push3`) | `invalid_instruction`, with any stack and any gas | it is no instruction |
//! | `eip6601` on legacy code | SETUPX has its immediate id; size and slot count are on the stack below the offset | where EIP-6690 took them |
//! | `eip6690-2023`, `geth6601`: ids | 0 to 256, above: `no_context` | as in 2024 |
//! | `geth6601`: where go-ethereum panics | the halt of the check that failed | |
//! | `eip7747`: all slots together | no limit (`MAX_FIELD_ALLOC_MEM` is open) | growth is charged |
//! | `evmone-*`: charge for slots | growth by their words; fewer words than before give nothing back | the source mixes words and bytes |
//! | `evmone-*`: count 0 | transfers check context and first slot; arithmetic that index − stride, unsigned, is a slot | as evmone computes it |
//! | `evmone-2025`: INVMODX of even values | the bits that evmone's steps give | as evmone |
//! | `evmone-2025`: INVMODX, odd modulus | `invalid_modulus`, after the bounds | as evmone's failure |
//! | `eip5843`: TOMONTX of a value ≥ m | is reduced; in `geth5843` `value_out_of_range` | the text does not check |
//! | `eip5843`: mem_start outside memory | only instructions on slots halt | the text does not check |
//! | `CALLSUB`, `ENTERSUB`, `RETURNSUB`: order | as field instructions: stack, base gas, then the return stack, then the target | EIP-7979 gives none |
//! | `CALLSUB`: 1024 offsets on the return stack | `return_stack_overflow` | it asks for at most 1024 in validated code |
//! | control flow into an `ENTERSUB` | goes on; only `CALLSUB` pushes a return | it is "a mere label" |
//! | `JUMP`, `JUMPI` to an `ENTERSUB`, `CALLSUB` to a `JUMPDEST` | `invalid_jump` | each has its own label |
//! | 6690 slot words | bytes of all contexts are summed, then rounded up to words once | |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod arithmetic;
pub mod evm;
pub mod field_opcode;
pub mod frame;
pub mod halt;
pub mod jumps;
pub mod machine;
pub mod memory;
pub mod prices;
pub mod revision;
pub mod word;

pub use frame::Env;
pub use halt::Halt;
pub use machine::{Outcome, run};
pub use prices::{ByWidth, Narrow, Prices};
pub use revision::Revision;
