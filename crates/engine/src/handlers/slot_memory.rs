//! Slots count as memory: every opcode that may grow memory also pays for the slots' share of the growth.
//!
//! With W words of memory and R words of slots a frame has been charged Cmem(W + R). revm charges Cmem(W′) − Cmem(W) for
//! growth; the rest of Cmem(W′ + R) − Cmem(W + R) is charged here, before revm's own handler runs, so before the call
//! family keeps back a 64th of the gas. Without slots this is one comparison.

use revm::bytecode::opcode::{
    CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, EXTCODECOPY, KECCAK256, LOG0, LOG1, LOG2,
    LOG3, LOG4, MCOPY, MLOAD, MSTORE, MSTORE8, RETURN, RETURNDATACOPY, REVERT, STATICCALL,
};
use revm::interpreter::instructions::{contract, control, host, memory, system};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{ReturnData, RuntimeFlag};
use revm::interpreter::{Instruction, Interpreter};
use revm::primitives::U256;

use super::{FieldHost, Frame, Step, charge, index};
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

/// Length of a range in bytes.
enum Length {
    /// Always the same.
    Bytes(usize),
    /// On the stack.
    At(Position),
}

/// Which memory an opcode reaches; none if it does not grow memory.
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

/// Every opcode of the EVM that grows memory, each with revm's handler behind the charge for slots.
pub fn wrapped<H: FieldHost>() -> [Wrapped<H>; 22] {
    macro_rules! wrap {
        ($($opcode:ident: $revms:expr;)*) => {
            [$(($opcode, Instruction::new({
                fn without_slots<H: FieldHost>(frame: Frame<'_, H>) -> Step {
                    match frame.host.chain().frame.slot_words() {
                        0 => $revms(frame),
                        slot_words => with_slots(frame, slot_words),
                    }
                }
                // Apart, so that frames without slots do not pay for its registers.
                #[inline(never)]
                fn with_slots<H: FieldHost>(mut frame: Frame<'_, H>, slot_words: u64) -> Step {
                    charge_share::<$opcode, H>(&mut frame, slot_words)?;
                    $revms(frame)
                }
                without_slots::<H>
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
fn charge_share<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>, slot_words: u64) -> Step {
    let Some(reach) = (const { reach(OPCODE) }) else {
        return Ok(());
    };
    let stack = frame.interpreter.stack.data();
    if stack.len() < reach.pops {
        return Ok(()); // revm's handler will say so.
    }
    let old_words = frame.interpreter.gas.memory().words_num as u64; // usize to u64 widens.
    let mut new_words = old_words;
    for &(offset, ref length) in reach.ranges {
        let length = match *length {
            Length::Bytes(bytes) => bytes,
            Length::At(position) => saturated(&stack[stack.len() - 1 - position]),
        };
        if length != 0 {
            let offset = saturated(&stack[stack.len() - 1 - offset]);
            new_words = new_words.max(words(offset.saturating_add(length)));
        }
    }
    if new_words <= old_words || halts_before_growth::<OPCODE>(frame.interpreter, frame.host.max_initcode_size()) {
        return Ok(());
    }
    let growth =
        |slot_words: u64| memory_cost(new_words + slot_words).saturating_sub(memory_cost(old_words + slot_words));
    let (with_slots, by_revm) = (growth(slot_words), growth(0));
    // ⌊words² / 512⌋ rounds differently at another number of words, so the share may be one gas below zero. Giving that
    // back cannot lift the gas above its limit: the slots have cost more before.
    frame.interpreter.gas.erase_cost(by_revm.saturating_sub(with_slots));
    charge(&mut frame.interpreter.gas, with_slots.saturating_sub(by_revm))
}

/// Whether revm's handler halts for a reason of its own before it looks at memory.
fn halts_before_growth<const OPCODE: u8>(interpreter: &Interpreter, initcode_bytes_max: usize) -> bool {
    let stack = interpreter.stack.data();
    let at = |position| saturated(&stack[stack.len() - 1 - position]);
    let is_static = interpreter.runtime_flag.is_static();
    match OPCODE {
        LOG0..=LOG4 => is_static,
        CREATE | CREATE2 => is_static || at(2) > initcode_bytes_max,
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
            for (offset, length) in reach(opcode).iter().flat_map(|reach| reach.ranges) {
                let pops = usize::from(row.unwrap().pops);
                assert!(reach(opcode).unwrap().pops <= pops, "{opcode:02x}");
                assert!(*offset < reach(opcode).unwrap().pops);
                assert!(!matches!(length, Length::At(position) if *position >= reach(opcode).unwrap().pops));
            }
        }
    }
}
