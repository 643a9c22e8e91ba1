//! Tracing: every instruction as it has been executed, of the outermost frame and of all it calls.

use alloc::vec;
use alloc::vec::Vec;

use residue_isa::revision::evm384::Modulus;
use residue_isa::{Family, FieldOp, Revision};
use revm::Inspector;
use revm::context_interface::{ContextTr, Host};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{CallValue, FrameInput, Interpreter, InterpreterAction};

use crate::halt::Halt;
use crate::machine::FieldMachine;

/// An observer of instructions.
pub trait Tracer {
    /// Called before an instruction is executed.
    fn before(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// Called when an instruction has been executed, also when it halted. After a call or a creation it is called before
    /// the callee's first instruction.
    fn after(&mut self, step: &Step, view: &View<'_>);
}

/// One executed instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Nesting of calls; 0 is the outermost frame.
    pub depth: usize,
    /// Offset of the instruction in the code.
    pub pc: usize,
    /// The opcode; where those of the revision have a prefix, the byte after it, as [`Revision::opcode_at`] says.
    pub opcode: u8,
    /// The opcode that comes next, unless the frame ended or called.
    pub next_opcode: Option<u8>,
    /// Gas left before it.
    pub gas_before: u64,
    /// Gas charged for the step, without gas passed on to a callee. All remaining gas, if it halted exceptionally.
    pub gas_cost: u64,
    /// Words of memory before and after.
    pub memory_words: (u64, u64),
    /// Size of the frame's slots in the cost of memory, in words, before and after.
    pub slot_words: (u64, u64),
    /// Operation and lanes of an arithmetic field instruction; else `None`.
    pub field: Option<FieldStep>,
    /// End of the frame, if it ended.
    pub halt: Option<Halt>,
}

/// Step of an arithmetic field instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldStep {
    /// The operation.
    pub operation: FieldOp,
    /// Number of lanes.
    pub count: u8,
    /// True if it is a square with a price of its own.
    pub is_priced_square: bool,
    /// Width of the modulus; 0 if there was none.
    pub width_limbs: usize,
}

/// A look into the running frame.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    interpreter: &'a Interpreter,
    machine: &'a FieldMachine,
}

impl View<'_> {
    /// The code that runs.
    pub fn code(&self) -> &[u8] {
        self.interpreter.bytecode.original_byte_slice()
    }

    /// Offset of the next instruction in the code.
    pub fn pc(&self) -> usize {
        self.interpreter.bytecode.pc()
    }

    /// Nesting of calls; 0 is the outermost frame.
    pub fn depth(&self) -> usize {
        self.interpreter.input.depth
    }

    /// Gas left.
    pub fn gas_left(&self) -> u64 {
        self.interpreter.gas.remaining()
    }

    /// A word of the stack as big-endian bytes; position 0 is the top.
    pub fn stack(&self, position: usize) -> Option<[u8; 32]> {
        let words = self.interpreter.stack.data();
        words.iter().rev().nth(position).map(|word| word.to_be_bytes())
    }

    /// Number of words on the stack.
    pub fn stack_height(&self) -> usize {
        self.interpreter.stack.data().len()
    }

    /// Size of the frame's memory.
    pub fn memory_bytes(&self) -> usize {
        self.interpreter.memory.len()
    }

    /// Bytes of memory; zero beyond its end.
    pub fn memory(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let memory = self.interpreter.memory.context_memory();
        let mut copy = vec![0; bytes];
        if let Some(inside) = memory.get(offset..) {
            let len = inside.len().min(bytes);
            copy[..len].copy_from_slice(&inside[..len]);
        }
        copy
    }

    /// Number of field contexts of the frame.
    pub fn context_count(&self) -> usize {
        self.machine.frame.context_count()
    }

    /// Number of slots of the active field context; 0 without one.
    pub fn slot_count(&self) -> usize {
        self.machine.active_context().map_or(0, |context| context.slot_count())
    }

    /// The value of a slot of the active field context: canonical, big-endian.
    pub fn slot(&self, slot: usize) -> Option<Vec<u8>> {
        let context = self.machine.active_context().filter(|context| slot < context.slot_count())?;
        let mut bytes = vec![0; context.element_bytes()];
        context.load(slot, &mut bytes);
        Some(bytes)
    }

    /// The modulus of the active field context: big-endian, as wide as its limbs.
    pub fn modulus(&self) -> Option<Vec<u8>> {
        self.machine.active_context().map(|context| context.modulus().to_be_bytes())
    }

    /// The modulus that `SETMOD` of `evm384-v12` has set for the frame: big-endian, as many bytes as it was given.
    pub fn short_modulus(&self) -> Vec<u8> {
        self.machine.frame.short_modulus.to_be_bytes()
    }

    /// Offset of slot 0, for revisions with slots in EVM memory.
    pub fn memory_start(&self) -> usize {
        self.machine.frame.memory_start
    }

    /// Width of the active modulus in limbs, if there is an active field context.
    pub fn width_limbs(&self) -> Option<usize> {
        self.machine.active_context().map(|context| context.width_limbs())
    }
}

/// Makes revm's inspector calls into those of a [`Tracer`]. One type for all tracers, so that the instructions of revm are compiled
/// with it once, in this crate.
pub(crate) struct Observer<'t> {
    tracer: &'t mut dyn Tracer,
    revision: Revision,
    started: Step,
}

impl<'t> Observer<'t> {
    pub fn new(revision: Revision, tracer: &'t mut dyn Tracer) -> Self {
        let started = Step {
            depth: 0,
            pc: 0,
            opcode: 0,
            next_opcode: None,
            gas_before: 0,
            gas_cost: 0,
            memory_words: (0, 0),
            slot_words: (0, 0),
            field: None,
            halt: None,
        };
        Self { tracer, revision, started }
    }

    fn field_step(&self, view: &View<'_>, opcode: u8) -> Option<FieldStep> {
        let operation = self.revision.arithmetic_of(opcode)?;
        Some(match self.revision.family() {
            Family::Memory384 => {
                let is_set = self.revision.evm384().is_some_and(|evm384| evm384.modulus == Modulus::Set);
                let width_limbs = if is_set { view.machine.frame.short_modulus.size_bytes().div_ceil(8) } else { 6 };
                FieldStep { operation, count: 1, is_priced_square: false, width_limbs }
            }
            Family::Slots | Family::MemorySlots | Family::Words => {
                let instruction = self.revision.decode(&view.code()[view.pc().min(view.code().len())..]);
                let count = instruction.map_or(0, |(instruction, _)| instruction.count());
                let is_square = instruction.is_some_and(|(instruction, _)| instruction.is_square());
                let is_priced_square = is_square && self.revision.prices_squares();
                FieldStep { operation, count, is_priced_square, width_limbs: view.width_limbs().unwrap_or(0) }
            }
        })
    }
}

impl<CTX: ContextTr<Chain = FieldMachine>> Inspector<CTX, EthInterpreter> for Observer<'_> {
    fn step(&mut self, interpreter: &mut Interpreter, context: &mut CTX) {
        let view = View { interpreter, machine: context.chain() };
        self.tracer.before(&view);
        let opcode = opcode(self.revision, interpreter);
        let memory_words = memory_words(interpreter);
        let slot_words = context.chain().slot_words();
        self.started = Step {
            depth: view.depth(),
            pc: view.pc(),
            opcode,
            next_opcode: None,
            gas_before: view.gas_left(),
            gas_cost: 0,
            memory_words: (memory_words, memory_words),
            slot_words: (slot_words, slot_words),
            field: self.field_step(&view, opcode),
            halt: None,
        };
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut CTX) {
        let step = &mut self.started;
        step.memory_words.1 = memory_words(interpreter);
        step.slot_words.1 = context.chain().slot_words();
        step.gas_cost = step.gas_before.saturating_sub(interpreter.gas.remaining());
        match interpreter.bytecode.action.as_ref() {
            None => step.next_opcode = Some(opcode(self.revision, interpreter)),
            Some(InterpreterAction::NewFrame(input)) => {
                let stipend = context.gas_params().call_stipend();
                step.gas_cost = step.gas_cost.saturating_sub(passed_on(input, stipend));
            }
            Some(InterpreterAction::Return(result)) => {
                let from_revm = || Halt::from_revm(result.result, Some(interpreter));
                let halt = context.chain().halt().unwrap_or_else(from_revm);
                if halt.is_exceptional() {
                    step.gas_cost = step.gas_before;
                }
                step.halt = Some(halt);
            }
        }
        let view = View { interpreter, machine: context.chain() };
        self.tracer.after(step, &view);
    }
}

/// The opcode of the instruction that is next: after its prefix, if it has one.
fn opcode(revision: Revision, interpreter: &Interpreter) -> u8 {
    let code = interpreter.bytecode.bytes_slice();
    revision.opcode_at(code.get(interpreter.bytecode.pc()..).unwrap_or_default())
}

fn memory_words(interpreter: &Interpreter) -> u64 {
    crate::machine::words(interpreter.memory.len())
}

/// Gas that a call takes from its caller for the callee: the stipend of a transfer is not the caller's.
fn passed_on(input: &FrameInput, stipend: u64) -> u64 {
    match input {
        FrameInput::Call(call) => match call.value {
            CallValue::Transfer(value) if !value.is_zero() => call.gas_limit.saturating_sub(stipend),
            _ => call.gas_limit,
        },
        FrameInput::Create(create) => create.gas_limit(),
        FrameInput::Empty => 0,
    }
}
