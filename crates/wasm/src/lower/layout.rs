//! Memory layout, from the bottom: a value for conversions, the places of values, constants, words of lanes, variables, scratch memory, the
//! output, arrays of fixed size, calldata, then one record for each index of the unbounded arrays.

use residue_ir::program::{ArrayDecl, Program};
use residue_ir::{Capacity, Effect};
use residue_passes::Slot;

use super::lanes::lanes_bytes;
use super::scratch::CONSTANTS_BYTES;
use crate::error::LowerError;
use crate::field::Field;

/// Addresses in memory, multiples of 8.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// A place for one value between two steps of a conversion.
    pub scratch: u32,
    /// The places of values; a spare one is the last.
    pub slots: u32,
    /// The spare place, for cycles of moves.
    pub spare: Slot,
    /// The constants.
    pub constants: u32,
    /// The round constants of Keccak-f, where the program has it: else they have no bytes.
    pub round_constants: u32,
    /// Words of lanes and room for a product, where the program has transforms of them: else they have no bytes.
    pub lanes: u32,
    /// The variables, 32 bytes each.
    pub variables: u32,
    /// Scratch memory of the program.
    pub memory: u32,
    /// The output.
    pub output: u32,
    /// For each array: address of its first element (for unbounded ones from the first record), and bytes from one index
    /// to the next.
    pub arrays: Vec<(u32, u32)>,
    /// Calldata; after it are the records.
    pub input: u32,
    /// Bytes of a record.
    pub record_bytes: u32,
}

/// Memory of fixed size that a program may use; addresses fit 31 bits with room for input.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

impl Layout {
    /// Of a program whose values have `slots_used` places.
    pub fn new(program: &Program, field: &Field, slots_used: Slot) -> Result<Self, LowerError> {
        let value_bytes = field.value_bytes() as u64;
        let within = |bytes: u64| {
            let narrow = u32::try_from(bytes).ok().filter(|_| bytes <= MEMORY_BYTES_MAX);
            narrow.ok_or(LowerError::Memory { bytes, limit_bytes: MEMORY_BYTES_MAX })
        };
        let element_bytes = |array: &ArrayDecl| (array.element_values as u64).saturating_mul(value_bytes);
        let slots = value_bytes;
        let constants = slots + value_bytes * (u64::from(slots_used) + 1);
        let conversions = field.conversions().len();
        let round_constants = constants + value_bytes * (program.constants.len() + conversions) as u64;
        let lanes = round_constants + constants_bytes(program);
        let variables = lanes + lanes_room(program);
        let memory = variables + 32 * program.variables.len() as u64;
        let output = memory + scratch_bytes(program) + OUTPUT_MARGIN_BYTES;
        let mut next = output.saturating_add(output_bytes(program, value_bytes));
        let (mut arrays, mut record_bytes) = (Vec::new(), 0u64);
        for array in &program.arrays {
            let bytes = element_bytes(array);
            match array.capacity {
                Capacity::Fixed(count) => {
                    arrays.push((within(next)?, within(bytes)?));
                    next = next.saturating_add(bytes.saturating_mul(u64::from(count)));
                }
                Capacity::Unbounded => {
                    arrays.push((within(record_bytes)?, 0));
                    record_bytes = record_bytes.saturating_add(bytes);
                }
            }
        }
        let record_bytes = within(record_bytes)?;
        for (array, place) in program.arrays.iter().zip(&mut arrays) {
            if array.capacity == Capacity::Unbounded {
                place.1 = record_bytes;
            }
        }
        Ok(Self {
            scratch: 0,
            slots: within(slots)?,
            spare: slots_used,
            constants: within(constants)?,
            round_constants: within(round_constants)?,
            lanes: within(lanes)?,
            variables: within(variables)?,
            memory: within(memory)?,
            output: within(output)?,
            arrays,
            input: within(next)?,
            record_bytes,
        })
    }
}

impl Layout {
    /// True if there are round constants of Keccak-f.
    pub const fn has_round_constants(&self) -> bool {
        self.round_constants < self.lanes
    }
}

/// Bytes of round constants.
fn constants_bytes(program: &Program) -> u64 {
    let mut has_keccak_f = false;
    program.for_each_effect(&mut |effect| has_keccak_f |= matches!(effect, Effect::KeccakF { .. }));
    if has_keccak_f { CONSTANTS_BYTES.into() } else { 0 }
}

/// Bytes for transforms of words of lanes, as many as any asks for.
fn lanes_room(program: &Program) -> u64 {
    let mut most = 0;
    program.for_each_effect(&mut |effect| {
        if let Effect::Lanes { lanes } = effect {
            most = most.max(lanes_bytes(lanes));
        }
    });
    most
}

/// Bytes of scratch memory, as many as any statement asks for.
fn scratch_bytes(program: &Program) -> u64 {
    let mut most = 0;
    program.for_each_effect(&mut |effect| {
        if let Effect::Scratch { size_bytes } = effect {
            most = most.max(u64::from(*size_bytes));
        }
    });
    most.next_multiple_of(8)
}

/// Room in front of the output: an element is written in whole limbs, whose leading zeros may lie before it.
const OUTPUT_MARGIN_BYTES: u64 = 8;

/// Room for the longest output.
fn output_bytes(program: &Program, value_bytes: u64) -> u64 {
    let mut longest = 32u64;
    program.for_each_effect(&mut |effect| {
        longest = longest.max(match effect {
            Effect::ReturnElements { values, size_bytes } => {
                (values.len() as u64).saturating_mul(u64::from(*size_bytes))
            }
            Effect::ReturnMontLe { values } => (values.len() as u64).saturating_mul(value_bytes),
            Effect::ReturnScratch { .. } => scratch_bytes(program),
            _ => 0,
        });
    });
    longest.next_multiple_of(8)
}
