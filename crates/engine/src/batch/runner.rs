//! Execution of the blocks of a location: the state at their entry, and the effect of their plans and traces on the
//! machine.

mod memory;
mod slots;

use alloc::sync::Arc;

use residue_lanes::Shape;
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;

use super::block::Block;
use super::blocks::Blocks;
use super::cache::AnyBlocks;
use super::location::{Facts, Location};
use super::plan::RowPlan;
use crate::machine::{FieldMachine, FieldState};

/// A location whose blocks run on the state of a frame.
pub(crate) trait Runner: Location {
    /// Blocks of this kind among those of both.
    fn any(blocks: Arc<Blocks<Self>>) -> AnyBlocks;

    /// The blocks of the running frame.
    fn of(state: &mut FieldState) -> &mut Option<Arc<Blocks<Self>>>;

    /// State at the entry of blocks that begin with `first`; `None` if nothing may run as one here.
    fn enter(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        first: &Block<Self>,
    ) -> Option<Facts>;

    /// The layout of the rows, if the modulus has one and plans may run. Rows of EVM384 are made for the modulus of the block, which lets go of
    /// those of another one: so it is asked where a plan is there or can be made.
    fn shape(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        first: &Block<Self>,
        facts: &Facts,
    ) -> Option<Shape>;

    /// Runs a plan, unless it is better left out here or may not run: then nothing has happened that can be seen.
    fn run_plan(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
        plan: &RowPlan<Self::Set>,
    ) -> bool;

    /// Runs a scalar trace.
    fn run_trace(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
        trace: &Self::Trace,
    );

    /// Makes ready for the instructions of a block to run one by one.
    fn stay_out(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
    );
}
