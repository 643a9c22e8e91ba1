//! The outermost frame before one step of an execution.

use num_bigint::BigUint;
use residue_engine::{Step, Tracer, View};
use serde_json::{Value, json};

use crate::report::hex;

/// A tracer that tells the frame before a step.
#[derive(Debug)]
pub struct FrameAt {
    number: usize,
    memory_bytes_max: usize,
    count: usize,
    /// The frame, once the step was reached.
    pub told: Option<Value>,
}

impl FrameAt {
    /// Before step `number`, from 0, with so many bytes of memory at most.
    pub fn new(number: usize, memory_bytes_max: usize) -> Self {
        Self { number, memory_bytes_max, count: 0, told: None }
    }
}

impl Tracer for FrameAt {
    fn before(&mut self, view: &View<'_>) {
        if self.count == self.number {
            let stack = (0..view.stack_height()).filter_map(|position| view.stack(position)).map(|word| hex(&word));
            let memory = view.memory(0, view.memory_bytes().min(self.memory_bytes_max));
            let number = |bytes: Vec<u8>| format!("{:#x}", BigUint::from_bytes_be(&bytes));
            let slots = (0..view.slot_count()).filter_map(|slot| view.slot(slot)).map(number);
            self.told = Some(json!({
                "stack": stack.collect::<Vec<_>>(),
                "memory": hex(&memory),
                "memory_bytes": view.memory_bytes(),
                "slots": slots.collect::<Vec<_>>(),
                "modulus": view.modulus().map(number),
                "gas": view.gas_left(),
            }));
        }
        self.count += 1;
    }

    fn after(&mut self, _: &Step, _: &View<'_>) {}
}
