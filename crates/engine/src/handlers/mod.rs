//! Handlers of the field instructions, one file a family, with shared code: operands, gas, operation, in the order of
//! the specification. All other handlers are revm's.

pub(crate) mod evm384;
pub(crate) mod mont_slots;
pub(crate) mod slot_memory;
pub(crate) mod slots;
pub(crate) mod subroutines;

use revm::context_interface::ContextTr;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::{Gas, InstructionContext, InstructionResult};
use revm::primitives::U256;

use crate::halt::Halt;
use crate::machine::FieldMachine;

/// A frame's interpreter with its host.
pub(crate) type Frame<'a, H> = InstructionContext<'a, H, EthInterpreter>;
/// Go on, or halt.
pub(crate) type Handled = Result<(), InstructionResult>;

/// A host that holds the field contexts.
pub(crate) trait FieldHost: ContextTr<Chain = FieldMachine> {}
impl<H: ContextTr<Chain = FieldMachine>> FieldHost for H {}

/// Takes the top `N` words from the stack, top first.
#[inline(always)]
fn pop<const N: usize, H>(frame: &mut Frame<'_, H>) -> Result<[U256; N], InstructionResult> {
    frame.interpreter.stack.popn().ok_or(InstructionResult::StackUnderflow)
}

/// Charges gas.
#[inline(always)]
fn charge(gas: &mut Gas, cost: u64) -> Handled {
    if gas.record_regular_cost(cost) { Ok(()) } else { Err(InstructionResult::OutOfGas) }
}

/// Charges the base price of an opcode.
#[inline(always)]
fn charge_base<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
    let base = frame.host.chain().prices.base[usize::from(OPCODE)];
    charge(&mut frame.interpreter.gas, base)
}

/// Notes our reason to halt beside revm's.
#[cold]
#[inline(never)]
fn halt<H: FieldHost>(frame: &mut Frame<'_, H>, halt: Halt) -> InstructionResult {
    frame.host.chain_mut().set_halt(halt);
    halt.to_revm()
}

/// The word as an index, or none if it is 2⁶⁴ or more.
#[inline(always)]
fn index(word: U256) -> Option<usize> {
    let [low, rest @ ..] = *word.as_limbs();
    if rest == [0; 3] { usize::try_from(low).ok() } else { None }
}
