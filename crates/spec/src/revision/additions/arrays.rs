//! `GETX` and `PUTX`: each field context has an array beside its slots. It is empty at first and grows to hold the elements that are named;
//! new ones are zero. All its elements count as memory, as slots do. The index of the first is the lowest 16 bits of the word on the stack.

use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use crate::revision::eip6690_2024::Contexts;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// Most elements of an array.
const ELEMENTS_MAX: usize = 65_536;

/// The arrays by the ids of their contexts.
#[derive(Default)]
pub struct Arrays(BTreeMap<u64, Array>);

/// The number of elements, and those that are not zero since they were made.
#[derive(Default)]
struct Array {
    len: usize,
    elements: BTreeMap<usize, BigUint>,
}

impl Arrays {
    /// Copies slots to elements (`PUTX`) or elements to slots (`GETX`).
    pub fn copy(
        &mut self,
        opcode: &FieldOpcode,
        immediate: &[u8],
        frame: &mut Frame<'_>,
        prices: &Prices,
        contexts: &mut Contexts,
    ) -> Result<(), Halt> {
        let [first_slot, count] = *immediate else { return Err(Halt::InvalidInstruction) };
        let (first_slot, count) = (usize::from(first_slot), usize::from(count));
        let [start] = frame.pop()?;
        let id = contexts.active_id().ok_or(Halt::NoContext)?;
        let context = contexts.active()?;
        if count == 0 {
            return Err(Halt::InvalidStride);
        }
        let start = (start % ELEMENTS_MAX).to_usize().expect("it is below 65,536");
        let end = start + count;
        if end > ELEMENTS_MAX || first_slot + count > context.slots.len() {
            return Err(Halt::SlotOutOfRange);
        }
        let array = self.0.entry(id).or_default();
        if end > array.len {
            let added_bytes = (end - array.len) * 8 * context.width_limbs();
            frame.allocate_slots(added_bytes as u64)?; // style: S11: at most 6 MiB
            array.len = end;
        }
        frame.charge(prices.times(prices.added("copy", context.width_limbs(), opcode)?, count as u64))?; // style: S11: below 256
        for (slot, element) in (first_slot..first_slot + count).zip(start..) {
            if opcode.mnemonic == "PUTX" {
                array.elements.insert(element, context.slots[slot].clone());
            } else {
                context.slots[slot] = array.elements.get(&element).cloned().unwrap_or_default();
            }
        }
        Ok(())
    }
}
