//! Why an execution under a revision differs from stock revm: the first opcode of the revision that it executes, or the first
//! jump whose target the revision's immediates move.
//!
//! Both executions are observed. Up to that step they have to agree in every step, or else something other than an opcode of
//! the revision made the difference, and nothing is attributed to one.

use std::fmt;

use residue_engine::Engine;
use residue_engine::revm::Inspector;
use residue_engine::revm::bytecode::opcode::{JUMP, JUMPI};
use residue_engine::revm::bytecode::{Bytecode, JumpTable};
use residue_engine::revm::interpreter::Interpreter;
use residue_engine::revm::interpreter::interpreter_types::Jumps;
use residue_engine::revm::primitives::U256;
use residue_isa::{Jumpdests, Revision, jumpdests};

use crate::execution::Setting;

/// Use of a revision's opcodes by a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// It executes one.
    Executes {
        /// The opcode.
        opcode: u8,
        /// Its name in the revision.
        mnemonic: &'static str,
        /// Offset of the opcode in the code.
        pc: usize,
    },
    /// It jumps to a place that is a jump target only with, or only without, the immediates of the revision.
    Jumps {
        /// From where.
        pc: usize,
        /// To where.
        target: usize,
    },
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Use::Executes { opcode, mnemonic, pc } => write!(f, "executes {opcode:#04x} ({mnemonic}) at {pc}"),
            Use::Jumps { pc, target } => {
                write!(f, "jumps from {pc} to {target}, a target with other immediates only")
            }
        }
    }
}

/// First use of the revision's opcodes in the differing execution, if it explains the difference.
pub fn first_use(setting: &Setting<'_>, engine: &Engine) -> Option<Use> {
    let revision = engine.config().revision;
    let (_, watch) = setting.with_engine_observed(engine, Watch::new(revision));
    let found = watch.found?;
    let (_, replay) = setting.stock_observed(Replay { steps_left: watch.steps, digest: Digest::default() });
    (replay.steps_left == 0 && replay.digest == watch.digest).then_some(found)
}

/// Hash of all steps so far: place, gas, and the top of the stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, interpreter: &Interpreter) {
        let stack = interpreter.stack.data();
        let top = stack.last().copied().unwrap_or_default();
        let place = [interpreter.input.depth, interpreter.bytecode.pc(), stack.len(), interpreter.memory.len()];
        let place = place.into_iter().map(|part| part as u64); // Widens.
        let limbs = top.into_limbs();
        let parts = place.chain([u64::from(interpreter.bytecode.opcode()), interpreter.gas.remaining()]).chain(limbs);
        for part in parts {
            // FNV-1a by words: whoever wants two traces to collide only fools this explanation.
            self.0 = (self.0 ^ part).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        }
    }
}

/// Looks for the first use.
struct Watch {
    revision: Revision,
    found: Option<Use>,
    /// Steps up to it, itself included.
    steps: u64,
    digest: Digest,
    /// The jump targets of the running codes by depth, once they are asked for.
    targets: Vec<Option<Targets>>,
}

/// The jump targets of a code without and with immediates.
struct Targets {
    stock: JumpTable,
    revision: Jumpdests,
}

impl Watch {
    fn new(revision: Revision) -> Self {
        Self { revision, found: None, steps: 0, digest: Digest::default(), targets: Vec::new() }
    }

    fn use_of(&mut self, interpreter: &Interpreter) -> Option<Use> {
        let (opcode, pc) = (interpreter.bytecode.opcode(), interpreter.bytecode.pc());
        let code = interpreter.bytecode.original_byte_slice();
        if let Some(row) = self.revision.own_row_at(code.get(pc..).unwrap_or_default()) {
            return Some(Use::Executes { opcode: row.byte, mnemonic: row.mnemonic, pc });
        }
        let is_taken = match opcode {
            JUMP => true,
            JUMPI => !interpreter.stack.peek(1).ok()?.is_zero(),
            _ => false,
        };
        if !is_taken {
            return None;
        }
        let target = usize::try_from(interpreter.stack.peek(0).unwrap_or(U256::MAX)).ok()?;
        let targets = self.targets.get_mut(interpreter.input.depth)?;
        let targets = targets.get_or_insert_with(|| Targets::of(interpreter, self.revision));
        (targets.stock.is_valid(target) != targets.revision.contains(target)).then_some(Use::Jumps { pc, target })
    }
}

impl Targets {
    fn of(interpreter: &Interpreter, revision: Revision) -> Self {
        let code = interpreter.bytecode.original_bytes();
        let stock = Bytecode::new_legacy(code.clone()).legacy_jump_table().cloned().unwrap_or_default();
        Self { stock, revision: jumpdests(&code, revision) }
    }
}

impl<CTX> Inspector<CTX> for Watch {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        self.targets.resize_with(interpreter.input.depth, || None);
        self.targets.push(None);
    }

    fn step(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        if self.found.is_none() {
            self.steps += 1;
            self.digest.add(interpreter);
            self.found = self.use_of(interpreter);
        }
    }
}

/// Goes as many steps.
struct Replay {
    steps_left: u64,
    digest: Digest,
}

impl<CTX> Inspector<CTX> for Replay {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            self.digest.add(interpreter);
        }
    }
}
