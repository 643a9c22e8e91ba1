//! Slots count as memory: every opcode that may grow memory also pays for the slots' share of the growth.
//!
//! With W words of memory and R words of slots a frame has been charged Cmem(W + R). revm charges Cmem(W′) − Cmem(W) for
//! growth; the rest of Cmem(W′ + R) − Cmem(W + R) is charged here, before revm's own handler runs, so before the call
//! family keeps back a 64th of the gas. Without slots this is one comparison.

use revm::bytecode::opcode::{
    CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, EXTCODECOPY, KECCAK256, LOG0, LOG1, LOG2,
    LOG3, LOG4, MCOPY, MLOAD, MSTORE, MSTORE8, RETURN, RETURNDATACOPY, REVERT, STATICCALL,
};
use revm::interpreter::instructions::instruction_table;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{ReturnData, RuntimeFlag};
use revm::interpreter::{Instruction, Interpreter};
use revm::primitives::U256;

use super::{FieldHost, Frame, Step, charge, index};
use crate::machine::words;
use crate::prices::memory_cost;

/// The words of the stack that say which memory an opcode reaches; positions count from the top.
struct Reach {
    /// Fewer words than this on the stack: revm's handler halts before it grows memory.
    pops: usize,
    /// Ranges in memory.
    ranges: &'static [(Position, Length)],
}

type Position = usize;

enum Length {
    Bytes(usize),
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

/// Every opcode of the EVM that grows memory.
pub fn wrapped<H: FieldHost>() -> [Wrapped<H>; 22] {
    macro_rules! wrap {
        ($($opcode:ident)*) => { [$(($opcode, Instruction::new(with_slots::<$opcode, H>))),*] };
    }
    wrap! {
        MLOAD MSTORE MSTORE8 MCOPY CALLDATACOPY CODECOPY EXTCODECOPY RETURNDATACOPY KECCAK256
        LOG0 LOG1 LOG2 LOG3 LOG4 CREATE CREATE2 CALL CALLCODE DELEGATECALL STATICCALL RETURN REVERT
    }
}

/// Charges for the slots' share of the growth, then does what revm does.
fn with_slots<const OPCODE: u8, H: FieldHost>(mut frame: Frame<'_, H>) -> Step {
    let slot_words = frame.host.chain().frame.slot_words();
    if slot_words != 0 {
        charge_share::<OPCODE, H>(&mut frame, slot_words)?;
    }
    const { instruction_table::<EthInterpreter, H>()[OPCODE as usize] }.execute(frame) // u8 to usize widens.
}

#[inline]
fn charge_share<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>, slot_words: u64) -> Step {
    let Some(reach) = (const { reach(OPCODE) }) else {
        return Ok(());
    };
    let stack = frame.interpreter.stack.data();
    let old_words = words(frame.interpreter.memory.len());
    if stack.len() < reach.pops || halts_before_growth::<OPCODE>(frame.interpreter, frame.host.max_initcode_size()) {
        return Ok(()); // revm's handler will say so.
    }
    let mut new_words = old_words;
    for &(offset, ref length) in reach.ranges {
        let length = match *length {
            Length::Bytes(bytes) => U256::from(bytes),
            Length::At(position) => from_top(stack, position),
        };
        if !length.is_zero() {
            let end =
                index(from_top(stack, offset)).zip(index(length)).map(|(offset, length)| offset.saturating_add(length));
            new_words = new_words.max(end.map_or(u64::MAX, words));
        }
    }
    if new_words <= old_words {
        return Ok(());
    }
    let growth = |slot_words: u64| {
        memory_cost(new_words.saturating_add(slot_words)).saturating_sub(memory_cost(old_words + slot_words))
    };
    charge(&mut frame.interpreter.gas, growth(slot_words).saturating_sub(growth(0)))
}

/// Whether revm's handler halts for a reason of its own before it looks at memory.
fn halts_before_growth<const OPCODE: u8>(interpreter: &Interpreter, initcode_bytes_max: usize) -> bool {
    let at = |position| from_top(interpreter.stack.data(), position);
    match OPCODE {
        LOG0..=LOG4 => interpreter.runtime_flag.is_static(),
        CREATE | CREATE2 => {
            interpreter.runtime_flag.is_static() || index(at(2)).is_none_or(|length| length > initcode_bytes_max)
        }
        CALL => interpreter.runtime_flag.is_static() && !at(2).is_zero(),
        RETURNDATACOPY => {
            let end = index(at(1)).unwrap_or(usize::MAX).saturating_add(index(at(2)).unwrap_or(usize::MAX));
            end > interpreter.return_data.buffer().len()
        }
        _ => false,
    }
}

fn from_top(stack: &[U256], position: Position) -> U256 {
    stack[stack.len() - 1 - position]
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
