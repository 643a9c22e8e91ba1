//! Code with probes: the clock at every jump target of the outermost frame, so that a profile can tell the functions of
//! a program apart while it runs whole blocks as one. Blocks are not joined across jump targets then, so the gain of
//! joining is lost.

use alloc::vec::Vec;
use std::time::Instant;

use revm::bytecode::opcode::JUMPDEST;
use revm::interpreter::Instruction;
use revm::interpreter::interpreter_types::Jumps;

use crate::handlers::{FieldHost, Frame, Handled};
use crate::outcome::Outcome;
use crate::prepared::Prepared;
use crate::probe::Probe;

/// Code made ready to run many times with probes. A probe costs one reading of the clock, and its storage.
#[derive(Debug)]
pub struct Probed {
    prepared: Prepared,
}

impl Prepared {
    /// The same code, with probes from now on.
    pub fn with_probes(mut self) -> Probed {
        let tables = &mut self.evm.inner.instruction;
        let gas = tables.gas_table()[usize::from(JUMPDEST)];
        tables.insert_instruction(JUMPDEST, Instruction::new(jumpdest), gas);
        self.evm.inner.ctx.chain.is_probed = true;
        Probed { prepared: self }
    }
}

impl Probed {
    /// Runs the code, without copying its memory out, and appends the readings to `probes`.
    pub fn run(&mut self, input: &[u8], gas: u64, probes: &mut Vec<Probe>) -> Outcome {
        self.prepared.evm.inner.ctx.chain.probes = core::mem::take(probes);
        let outcome = self.prepared.run_without_memory(input, gas);
        *probes = core::mem::take(&mut self.prepared.evm.inner.ctx.chain.probes);
        outcome
    }
}

/// `JUMPDEST` with a probe.
fn jumpdest<H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    if frame.interpreter.input.depth == 0 {
        // The interpreter stands after the opcode already.
        let pc = frame.interpreter.bytecode.pc() - 1;
        frame.host.chain_mut().probes.push(Probe { pc, at: Instant::now() });
    }
    Ok(())
}
