//! Runs: arithmetic instructions that follow each other, executed by one call in place of one round of revm's loop each.
//!
//! Each is checked and charged as it is by itself; then one kernel takes them as they stand in the code. What an instruction looks up is looked up once
//! a run: the field context, its prices, where values are. A run ends before an instruction that could halt, whose lanes wait for each other, or with
//! which a block begins.

use residue_isa::FieldOp;
use residue_isa::revision::strided::{INSTRUCTION_BYTES, Operands, unpack};
use residue_modular::{PackedStep, is_apart};
use revm::interpreter::interpreter_types::Jumps;

use super::{FieldHost, Frame, Rules, charge, is_due};
use crate::batch::run::run_block;
use crate::batch::slots::Slots;
use crate::machine::FieldMachine;

/// The most instructions of a run: as many as are worth checking before the first of them executes.
const INSTRUCTIONS_MAX: usize = 64;

/// True if the instructions of a revision are packed steps: an opcode and strided operands, whose lanes are all read before any is written.
const fn are_packed<R: Rules>() -> bool {
    R::RULES.prefix.is_none() && R::RULES.is_strided && !R::RULES.lanes_in_turn
}

/// Executes arithmetic instructions from that one on whose opcode has been read, as far as none of them halts; revm goes on with the next one. False
/// if the first is not among them; then nothing has happened.
#[inline(never)]
pub(super) fn run<R: Rules, H: FieldHost>(frame: &mut Frame<'_, H>) -> bool {
    if !const { are_packed::<R>() } {
        return false;
    }
    let mut has_run = false;
    loop {
        let code = &frame.interpreter.bytecode;
        let pc = code.pc() - 1; // The opcode has been read.
        let (instructions, _) = code.original_byte_slice().get(pc..).unwrap_or_default().as_chunks();
        let machine = frame.host.chain_mut();
        let Checked { count, cost, begins_block } =
            check::<R>(machine, instructions, pc, frame.interpreter.gas.remaining());
        if count == 0 && !has_run {
            return false;
        }
        has_run = true;
        machine.frame.earned += cost;
        if let Some((context, _)) = machine.frame.active() {
            context.run_packed(R::ARITHMETIC, &instructions[..count]);
        }
        charge(&mut frame.interpreter.gas, cost).expect("the gas left covers the run");
        // From after the first opcode to the instruction after the run.
        let bytes = count * INSTRUCTION_BYTES;
        frame.interpreter.bytecode.relative_jump(bytes as isize - 1); // At most INSTRUCTIONS_MAX.
        if !begins_block {
            return true;
        }
        frame.interpreter.bytecode.relative_jump(1);
        if run_block::<Slots>(frame.host.chain_mut(), frame.interpreter, pc + bytes) {
            return true;
        }
    }
}

/// Instructions that execute together.
struct Checked {
    count: usize,
    /// Gas for all of them.
    cost: u64,
    /// True if a block could begin with the instruction after them, which has been asked, and is to execute if none does.
    begins_block: bool,
}

/// As many of the instructions from `pc` on as execute without a halt.
#[inline(always)]
fn check<R: Rules>(machine: &FieldMachine, instructions: &[PackedStep], pc: usize, gas_left: u64) -> Checked {
    let mut checked = Checked { count: 0, cost: 0, begins_block: false };
    let Some((context, prices)) = machine.frame.active_in_limbs() else { return checked };
    let slot_count = context.slot_count();
    let bases = R::ARITHMETIC.map(|opcode| machine.prices.base[usize::from(opcode)]);
    for instruction in instructions.iter().take(INSTRUCTIONS_MAX) {
        let &[opcode, ref immediate @ ..] = instruction;
        let is_of = |&operation: &FieldOp| const { R::ARITHMETIC }[operation] == opcode;
        let Some(operation) = FieldOp::ALL.into_iter().find(is_of) else { break };
        let Operands { out, x, y, count } = unpack(*immediate);
        let last = out.last(count).max(x.last(count)).max(y.last(count)) as usize; // u32 to usize widens.
        if count == 0 || out.stride == 0 || last >= slot_count || !is_apart(instruction) {
            break;
        }
        let lanes = match R::RULES.prices_squares && operation == FieldOp::Mul && x == y {
            true => prices.squares(count.into()),
            false => prices.lanes(operation, count.into()),
        };
        let cost = checked.cost + bases[operation] + lanes;
        if cost > gas_left {
            break;
        }
        // The first has been asked.
        let at = checked.count * INSTRUCTION_BYTES;
        if machine.in_blocks && at > 0 && is_due(machine, pc + at, checked.cost) {
            checked.begins_block = true;
            break;
        }
        (checked.count, checked.cost) = (checked.count + 1, cost);
    }
    checked
}
