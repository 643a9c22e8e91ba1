//! Slots count as memory: every opcode that may grow memory also pays for the slots' share of the growth.
//!
//! With W words of memory and R words of slots a frame has been charged Cmem(W + R). revm charges Cmem(W′) − Cmem(W) for
//! growth; the rest of Cmem(W′ + R) − Cmem(W + R) is charged here, before revm's own handler runs, so before the call
//! family keeps back a 64th of the gas. Without slots this is one comparison.

use core::ops::Range;

use revm::bytecode::opcode::{
    CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, EXTCODECOPY, KECCAK256, LOG0, LOG1, LOG2,
    LOG3, LOG4, MCOPY, MLOAD, MSTORE, MSTORE8, RETURN, RETURNDATACOPY, REVERT, STATICCALL,
};
use revm::interpreter::instructions::{contract, control, host, memory, system};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{ReturnData, RuntimeFlag};
use revm::interpreter::{Instruction, Interpreter};
use revm::primitives::U256;
use revm::primitives::hardfork::SpecId;

use super::{FieldHost, Frame, Handled, charge, index};
use crate::machine::words;
use crate::prices::memory_cost;

/// The words of the stack that say which memory an opcode reaches.
struct Reach {
    /// Fewer words than this on the stack: revm's handler halts before it grows memory.
    pops: usize,
    /// Ranges in memory.
    ranges: &'static [(Position, Length)],
}

/// Position of a word on the stack, 0 being the top.
type Position = usize;

/// Most ranges of an opcode.
const RANGES_MAX: usize = 2;

/// Length of a range in bytes.
enum Length {
    /// Always the same.
    Bytes(usize),
    /// On the stack.
    At(Position),
}

/// Memory range of an opcode; `None` if it does not grow memory.
const fn reach(opcode: u8) -> Option<Reach> {
    use Length::{At, Bytes};
    let (pops, ranges): (usize, &[(Position, Length)]) = match opcode {
        MLOAD => (1, &[(0, Bytes(32))]),
        MSTORE => (2, &[(0, Bytes(32))]),
        MSTORE8 => (2, &[(0, Bytes(1))]),
        MCOPY => (3, &[(0, At(2)), (1, At(2))]),
        KECCAK256 | RETURN | REVERT | LOG0..=LOG4 => (2, &[(0, At(1))]),
        CALLDATACOPY | CODECOPY | RETURNDATACOPY => (3, &[(0, At(2))]),
        EXTCODECOPY => (4, &[(1, At(3))]),
        CREATE | CREATE2 => (3, &[(1, At(2))]),
        CALL | CALLCODE => (7, &[(3, At(4)), (5, At(6))]),
        DELEGATECALL | STATICCALL => (6, &[(2, At(3)), (4, At(5))]),
        _ => return None,
    };
    Some(Reach { pops, ranges })
}

/// An opcode of the EVM that grows memory, with the handler that charges for slots too.
pub type Wrapped<H> = (u8, Instruction<EthInterpreter, H>);

/// Step before revm's handler of an opcode that reaches memory.
pub(crate) trait Before {
    /// True if the step is needed.
    fn is_due<H: FieldHost>(frame: &Frame<'_, H>) -> bool;

    /// The step; a halt ends the frame instead.
    fn before<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled;
}

/// Slots pay their share of the growth.
pub(crate) struct SlotShare;

impl Before for SlotShare {
    #[inline(always)]
    fn is_due<H: FieldHost>(frame: &Frame<'_, H>) -> bool {
        frame.host.chain().frame.slot_words() != 0
    }

    fn before<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
        let slot_words = frame.host.chain().frame.slot_words();
        charge_share::<OPCODE, H>(frame, slot_words)
    }
}

/// Every opcode of the EVM that reaches memory, each with revm's handler after the step of `B`.
pub fn wrapped<B: Before, H: FieldHost>() -> [Wrapped<H>; 22] {
    macro_rules! wrap {
        ($($opcode:ident: $revms:expr;)*) => {
            [$(($opcode, Instruction::new({
                fn directly<B: Before, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
                    if B::is_due(&frame) { after::<B, H>(frame) } else { $revms(frame) }
                }
                // Apart, so that frames where nothing is due do not pay for its registers.
                #[inline(never)]
                fn after<B: Before, H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
                    B::before::<$opcode, H>(&mut frame)?;
                    $revms(frame)
                }
                directly::<B, H>
            }))),*]
        };
    }
    wrap! {
        MLOAD: memory::mload;
        MSTORE: memory::mstore;
        MSTORE8: memory::mstore8;
        MCOPY: memory::mcopy;
        CALLDATACOPY: system::calldatacopy;
        CODECOPY: system::codecopy;
        EXTCODECOPY: host::extcodecopy;
        RETURNDATACOPY: system::returndatacopy;
        KECCAK256: system::keccak256;
        LOG0: host::log::<0, H>;
        LOG1: host::log::<1, H>;
        LOG2: host::log::<2, H>;
        LOG3: host::log::<3, H>;
        LOG4: host::log::<4, H>;
        CREATE: contract::create::<false, _, _>;
        CREATE2: contract::create::<true, _, _>;
        CALL: contract::call::<CALL, _, _>;
        CALLCODE: contract::call::<CALLCODE, _, _>;
        DELEGATECALL: contract::call::<DELEGATECALL, _, _>;
        STATICCALL: contract::call::<STATICCALL, _, _>;
        RETURN: control::ret;
        REVERT: control::revert;
    }
}

/// Charges for the slots' share of the growth.
#[inline]
fn charge_share<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>, slot_words: u64) -> Handled {
    let old_words = frame.interpreter.gas.memory().words_num as u64; // usize to u64 widens.
    let new_words = ranges::<OPCODE>(frame.interpreter).map(|range| words(range.end)).fold(old_words, u64::max);
    if new_words <= old_words || halts_before_growth::<OPCODE>(frame.interpreter, frame.host.max_initcode_size()) {
        return Ok(());
    }
    charge_growth(frame, slot_words, old_words, new_words)
}

/// The ranges of memory that an opcode reaches, as its operands on the stack say; empty ones, where it halts for want of operands.
pub(super) fn ranges<const OPCODE: u8>(interpreter: &Interpreter) -> impl Iterator<Item = Range<usize>> + use<OPCODE> {
    let mut found = [const { 0..0 }; RANGES_MAX];
    let stack = interpreter.stack.data();
    if let Some(reach) = const { reach(OPCODE) }
        && stack.len() >= reach.pops
    {
        let at = |position: Position| saturated(&stack[stack.len() - 1 - position]);
        for (found, &(offset, ref length)) in found.iter_mut().zip(reach.ranges) {
            let length = match *length {
                Length::Bytes(bytes) => bytes,
                Length::At(position) => at(position),
            };
            if length != 0 {
                *found = at(offset)..at(offset).saturating_add(length);
            }
        }
    }
    found.into_iter()
}

/// Charges the gas of growth with `slot_words` beyond that without.
fn charge_growth<H: FieldHost>(frame: &mut Frame<'_, H>, slot_words: u64, old_words: u64, new_words: u64) -> Handled {
    let growth =
        |slot_words: u64| memory_cost(new_words + slot_words).saturating_sub(memory_cost(old_words + slot_words));
    let (with_slots, by_revm) = (growth(slot_words), growth(0));
    // ⌊words² / 512⌋ rounds differently at another number of words, so the share may be one gas below zero. Giving that
    // back cannot lift the gas above its limit: the slots have cost more before.
    frame.interpreter.gas.erase_cost(by_revm.saturating_sub(with_slots));
    charge(&mut frame.interpreter.gas, with_slots.saturating_sub(by_revm))
}

/// Grows memory to hold `bytes` from `offset` on, and charges for it as the EVM's opcodes do here.
pub(super) fn grow<H: FieldHost>(frame: &mut Frame<'_, H>, offset: usize, bytes: usize) -> Handled {
    let slot_words = frame.host.chain().frame.slot_words();
    let old_words = frame.interpreter.gas.memory().words_num as u64; // usize to u64 widens.
    let new_words = words(offset.saturating_add(bytes));
    if slot_words > 0 && new_words > old_words {
        charge_growth(frame, slot_words, old_words, new_words)?;
    }
    frame.interpreter.resize_memory(frame.host.gas_params(), offset, bytes)
}

/// True if revm's handler halts for a reason of its own before it looks at memory.
fn halts_before_growth<const OPCODE: u8>(interpreter: &Interpreter, initcode_bytes_max: usize) -> bool {
    let stack = interpreter.stack.data();
    let at = |position| saturated(&stack[stack.len() - 1 - position]);
    let is_static = interpreter.runtime_flag.is_static();
    match OPCODE {
        LOG0..=LOG4 => is_static,
        // EIP-3860: there is a limit from Shanghai on.
        CREATE | CREATE2 => {
            is_static
                || (at(2) > initcode_bytes_max && interpreter.runtime_flag.spec_id().is_enabled_in(SpecId::SHANGHAI))
        }
        CALL => is_static && at(2) != 0,
        RETURNDATACOPY => at(1).saturating_add(at(2)) > interpreter.return_data.buffer().len(),
        _ => false,
    }
}

/// The word as a number of bytes. 2⁶⁴ or more becomes the highest, which no memory reaches and no gas pays for.
#[inline(always)]
fn saturated(word: &U256) -> usize {
    index(*word).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_positions_lie_within_what_the_opcode_pops() {
        for opcode in 0..=u8::MAX {
            let row = residue_isa::opcode::evm().iter().find(|row| row.byte == opcode);
            assert!(reach(opcode).is_none_or(|reach| reach.ranges.len() <= RANGES_MAX));
            for (offset, length) in reach(opcode).iter().flat_map(|reach| reach.ranges) {
                let pops = usize::from(row.unwrap().pops);
                assert!(reach(opcode).unwrap().pops <= pops, "{opcode:02x}");
                assert!(*offset < reach(opcode).unwrap().pops);
                assert!(!matches!(length, Length::At(position) if *position >= reach(opcode).unwrap().pops));
            }
        }
    }
}
