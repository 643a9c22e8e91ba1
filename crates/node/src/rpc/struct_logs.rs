//! Struct logs: every instruction with its operands and context, also those that revm has no name for.
//!
//! revm-inspectors keeps the last copy of memory for instructions that are not in its list of those that change it, and names no opcode of a
//! revision; so this one is ours.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes, U256, hex};
use alloy_rpc_types_trace::geth::GethDefaultTracingOptions;
use residue_engine::revm::bytecode::opcode::{OpCode, SLOAD, SSTORE};
use residue_engine::revm::context_interface::{ContextTr, JournalTr};
use residue_engine::revm::inspector::Inspector;
use residue_engine::revm::interpreter::Interpreter;
use residue_engine::revm::interpreter::interpreter_types::{InputsTr, Jumps};
use residue_isa::Revision;
use serde_json::{Map, Value, json};

/// Bytes that the logs of one answer may take, before they are text.
const BYTES_MAX: usize = 32 << 20;
/// Bytes of an entry without stack and memory, about.
const ENTRY_BYTES: usize = 200;

/// Writes down every instruction.
#[derive(Debug)]
pub struct StructLogs {
    options: GethDefaultTracingOptions,
    revision: Option<Revision>,
    entries: Vec<Map<String, Value>>,
    /// The entries of instructions that have begun, outermost first: a call ends after all that its callee did.
    begun: Vec<(usize, u64)>,
    storage: BTreeMap<Address, BTreeMap<U256, U256>>,
    bytes: usize,
    slot: Option<(Address, U256)>,
    /// Output of the callee that ended last.
    returned: Bytes,
}

impl StructLogs {
    /// Of an execution under a revision, if there is one.
    pub fn new(options: GethDefaultTracingOptions, revision: Option<Revision>) -> Self {
        let (entries, begun, storage) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { options, revision, entries, begun, storage, bytes: 0, slot: None, returned: Bytes::new() }
    }

    /// True if the answer is within its limit of length.
    pub fn is_complete(&self) -> bool {
        self.bytes <= BYTES_MAX
    }

    /// The entries.
    pub fn into_entries(self) -> Value {
        self.entries.into_iter().map(Value::Object).collect()
    }

    fn is_full(&self) -> bool {
        let most = self.options.limit.unwrap_or(0);
        self.bytes > BYTES_MAX || (most != 0 && self.entries.len() as u64 >= most) // A length.
    }
}

/// The name of the next instruction, and the bytes at its end that are its immediate where it is a revision's own.
pub fn name(interpreter: &Interpreter, revision: Option<Revision>) -> (String, Option<usize>) {
    let code = interpreter.bytecode.original_byte_slice().get(interpreter.bytecode.pc()..).unwrap_or_default();
    if let Some(row) = revision.and_then(|revision| revision.own_row_at(code)) {
        return (row.mnemonic.to_owned(), Some(usize::from(row.immediate_bytes)));
    }
    let opcode = interpreter.bytecode.opcode();
    let name =
        OpCode::new(opcode).map_or_else(|| format!("opcode {opcode:#x} not defined"), |op| op.as_str().to_owned());
    (name, None)
}

fn hexadecimal(word: U256) -> Value {
    Value::String(format!("{word:#x}"))
}

impl<CTX: ContextTr> Inspector<CTX> for StructLogs {
    fn step(&mut self, interpreter: &mut Interpreter, context: &mut CTX) {
        self.slot = None;
        if self.is_full() {
            return self.begun.push((usize::MAX, 0));
        }
        let opcode = interpreter.bytecode.opcode();
        let (op, immediate) = name(interpreter, self.revision);
        let gas = interpreter.gas.remaining();
        let mut entry = Map::new();
        let mut set = |name: &str, value: Value| {
            entry.insert(name.to_owned(), value);
        };
        set("pc", json!(interpreter.bytecode.pc()));
        set("op", op.into());
        set("gas", json!(gas));
        set("gasCost", json!(0));
        set("depth", json!(context.journal().depth()));
        if let Some(bytes) = immediate.filter(|&bytes| bytes > 0) {
            let prefix = self.revision.and_then(Revision::prefix);
            let from = interpreter.bytecode.pc() + 1 + usize::from(prefix.is_some());
            let code = interpreter.bytecode.original_byte_slice();
            let bytes = code.get(from..).map_or(&[][..], |rest| &rest[..bytes.min(rest.len())]);
            set("immediate", hex::encode_prefixed(bytes).into());
        }
        let stack = interpreter.stack.data();
        self.bytes += ENTRY_BYTES;
        if !self.options.disable_stack.unwrap_or(false) {
            set("stack", stack.iter().copied().map(hexadecimal).collect());
            self.bytes += 70 * stack.len();
        }
        if self.options.enable_memory.unwrap_or(false) {
            let memory = interpreter.memory.context_memory();
            set("memory", memory.chunks(32).map(|word| Value::String(hex::encode_prefixed(word))).collect());
            self.bytes += 3 * memory.len();
        }
        if self.options.enable_return_data.unwrap_or(false) && !self.returned.is_empty() {
            set("returnData", hex::encode_prefixed(&self.returned).into());
            self.bytes += 2 * self.returned.len();
        }
        if !self.options.disable_storage.unwrap_or(false)
            && let (SLOAD | SSTORE, Some(slot)) = (opcode, stack.last())
        {
            let address = interpreter.input.target_address();
            self.slot = Some((address, *slot));
            if let (SSTORE, Some(value)) = (opcode, stack.iter().rev().nth(1)) {
                self.storage.entry(address).or_default().insert(*slot, *value);
            }
        }
        self.begun.push((self.entries.len(), gas));
        self.entries.push(entry);
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        let Some((at, gas)) = self.begun.pop() else { return };
        let Some(entry) = self.entries.get_mut(at) else { return };
        entry.insert("gasCost".to_owned(), json!(gas.saturating_sub(interpreter.gas.remaining())));
        if let Some((address, slot)) = self.slot.take() {
            let known = self.storage.entry(address).or_default();
            if let (Some("SLOAD"), Some(value)) =
                (entry.get("op").and_then(Value::as_str), interpreter.stack.data().last())
            {
                known.insert(slot, *value);
            }
            let word = |word: &U256| hex::encode_prefixed(word.to_be_bytes::<32>());
            let storage = known.iter().map(|(slot, value)| (word(slot), Value::String(word(value))));
            entry.insert("storage".to_owned(), Value::Object(storage.collect()));
            self.bytes += 140 * known.len();
        }
        if let Some(action) = interpreter.bytecode.action.as_ref()
            && let Some(result) = action.instruction_result()
            && !result.is_ok()
        {
            let reason = if result.is_revert() { "execution reverted".to_owned() } else { format!("{result:?}") };
            entry.insert("error".to_owned(), reason.into());
        }
        // What the instruction was given back is what the next one sees.
        self.returned = interpreter.return_data.0.clone();
    }
}
