//! Memory layout of a program and its subprograms.

use super::{hash, keccak, outside, precompiles, sequence};
use crate::Part;
use crate::error::CompileError;
use crate::paths::ends;
use crate::target::is_short_set_up;
use foldhash::{HashSet, HashSetExt};
use residue_ir::program::{ArrayDecl, ArrayId, Program, Statement};
use residue_ir::{Capacity, Effect};
use residue_isa::revision::rules::ARRAY_ELEMENTS_MAX;

/// Addresses in memory.
pub(super) struct Layout {
    pub scratch: u32,
    pub variables: u32,
    pub output: u32,
    /// Offset of the entry addresses of parts of sequences, see [`sequence`]: one word for each that depends on a
    /// count, and one for sixteen that are chosen.
    entrances: u32,
    /// The same for subprograms, which share it: one comes back, or ends all, before another one is entered.
    entrances_of_subprograms: u32,
    /// Place of each array of each part.
    arrays: Vec<Vec<Place>>,
    /// End of memory of fixed size.
    pub end: u32,
    /// Other memory of each part.
    own: Vec<Own>,
}

/// Place of an array: its first element, and the distance from one index to the next. In bytes of memory, or, for
/// arrays beside the slots, in elements of these.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    first: u32,
    stride: u32,
    is_beside: bool,
}

/// Memory of a part: of the program within that of fixed size, of a subprogram after it, where it is that one's which was entered last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    /// Scratch memory for shifting values, if any are shifted: first the zeros in front of them.
    pub shifts: Option<Shifts>,
    /// Offset and size of the records of unbounded arrays.
    pub records: (u32, u32),
    /// Capacity beside the slots in records of unbounded arrays, if any are there.
    pub records_beside: Option<u32>,
    /// Memory offset of its set-up, if that is in the middle of the program: all else comes later.
    pub set_up_at: u32,
}

/// Scratch memory for shifting values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shifts {
    pub zeros: u32,
    pub zeros_bytes: u32,
    pub value_bytes: u32,
}

impl Shifts {
    /// Offset of a value.
    pub const fn value(self) -> u32 {
        self.zeros + self.zeros_bytes
    }
}

impl Layout {
    /// Offset of the first element, and the distance from one index to the next: in bytes of memory, or in elements
    /// beside the slots.
    pub fn array(&self, unit: usize, array: ArrayId) -> (u32, u32) {
        let Place { first, stride, .. } = self.arrays[unit][array.0];
        (first, stride)
    }

    /// End of the output.
    pub fn output_end(&self) -> u32 {
        self.entrances
    }

    /// Offset of the entrances of a part.
    pub fn entrances(&self, unit: usize) -> u32 {
        if unit == 0 { self.entrances } else { self.entrances_of_subprograms }
    }

    /// True if an array is beside the slots, not in memory.
    pub fn is_beside(&self, unit: usize, array: ArrayId) -> bool {
        self.arrays[unit][array.0].is_beside
    }

    /// Memory of a part other than that of fixed size.
    pub fn own(&self, unit: usize) -> Own {
        self.own[unit]
    }

    /// True if a part has memory after that of fixed size.
    pub fn is_beyond(&self, unit: usize) -> bool {
        let Own { shifts, records: (_, record_bytes), set_up_at, .. } = self.own[unit];
        record_bytes > 0 || unit > 0 && (shifts.is_some() || set_up_at > 0)
    }
}

/// Scratch memory of a part for shifting values: zeros in front of one, and bytes of a value.
fn shift_bytes(part: &Part<'_>) -> Option<(u32, u32)> {
    let mut most_bits = None;
    part.program.for_each_effect(&mut |effect| {
        if let Effect::High { first_bit, .. } = effect {
            most_bits = most_bits.max(Some(*first_bit));
        }
    });
    let width = u32::try_from(part.program.modulus.bits().div_ceil(256) * 32).expect("the width was checked");
    let value_bytes = width.max(part.target.element_bytes().next_multiple_of(32));
    most_bits.map(|bits| ((bits / 8).next_multiple_of(32), value_bytes))
}

/// True if a subprogram is set up at its entry, in memory after that of fixed size.
fn is_set_up_beyond(part: &Part<'_>) -> bool {
    let is_late = part.is_late || part.program.modulus.known().is_none();
    is_late && !is_short_set_up(part.target.as_ref())
}

/// Bytes of a subprogram after memory of fixed size, without its arrays: used for its set-up, then for shifting values.
fn bytes_beyond(part: &Part<'_>) -> u64 {
    let set_up_bytes = if is_set_up_beyond(part) { part.target.set_up_bytes() } else { 0 };
    let (zeros_bytes, value_bytes) = shift_bytes(part).unwrap_or_default();
    set_up_bytes.max(zeros_bytes + value_bytes).next_multiple_of(32).into()
}

/// An offset or a size of memory, which has a limit.
fn within(bytes: u64) -> Result<u32, CompileError> {
    let narrow = u32::try_from(bytes).ok().filter(|_| bytes <= MEMORY_BYTES_MAX);
    narrow.ok_or(CompileError::Memory { bytes, limit_bytes: MEMORY_BYTES_MAX })
}

/// Bytes of so many values of a part in memory.
fn bytes_of(part: &Part<'_>, values: usize) -> u64 {
    (values as u64).saturating_mul(u64::from(part.target.element_bytes())) // usize to u64 widens
}

/// Places of the arrays of a part that are beside the slots, and of those of fixed size from `next` on, which becomes their end.
fn fixed(part: &Part<'_>, next: &mut u64) -> Result<Vec<Place>, CompileError> {
    let mut places = beside(part);
    for (array, place) in part.program.arrays.iter().zip(&mut places).filter(|(_, place)| !place.is_beside) {
        if let Capacity::Fixed(count) = array.capacity {
            let bytes = bytes_of(part, array.element_values);
            *place = Place { first: within(*next)?, stride: within(bytes)?, is_beside: false };
            *next = next.saturating_add(bytes.saturating_mul(u64::from(count)));
        }
    }
    Ok(places)
}

/// Maximum memory of fixed size: far more than anybody would pay for, and addresses fit 32 bits.
pub(crate) const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Lays out the memory of the program, the first of `parts`, and its subprograms.
pub(super) fn layout(parts: &[Part<'_>]) -> Result<Layout, CompileError> {
    let program = parts[0].program;
    // Scratch memory comes before variables: where nothing else stands below, an offset is an address.
    let scratch = parts.iter().map(|part| part.memory_bytes()).max().unwrap_or(0).next_multiple_of(32);
    let scratch_bytes = parts.iter().map(|part| scratch_bytes(part.program)).max().unwrap_or(0);
    let variables = scratch + u64::from(scratch_bytes).next_multiple_of(32);
    let output = variables + 32 * program.variables.len() as u64;
    let output_bytes = parts.iter().enumerate().map(|(unit, part)| output_bytes(part, unit == 0)).max();
    let entrances = output.saturating_add(output_bytes.unwrap_or(0));
    let entrances_bytes = |part: &Part<'_>| 32 * sequence::entrances(part.program).words;
    let entrances_of_subprograms = entrances.saturating_add(entrances_bytes(&parts[0]));
    let most_bytes = parts[1..].iter().map(entrances_bytes).max().unwrap_or(0);
    let mut next = entrances_of_subprograms.saturating_add(most_bytes);
    let mut arrays = parts.iter().map(|part| fixed(part, &mut next)).collect::<Result<Vec<_>, _>>()?;
    let mut end = u64::from(within(next)?).next_multiple_of(32);
    let unbounded = |array: &ArrayDecl| array.capacity == Capacity::Unbounded;
    // What subprograms have after memory of fixed size must not meet the arrays of the program that they come back to.
    let programs: Vec<&Program> = parts.iter().map(|part| part.program).collect();
    let coming_back = parts[1..].iter().filter(|part| !ends(&programs, &part.program.entry().body));
    let most_before_records = coming_back.map(bytes_beyond).max().unwrap_or(0);
    let mut own = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let mut first_record = end;
        let shifts = match shift_bytes(part) {
            Some((zeros_bytes, value_bytes)) => {
                let zeros = within(first_record)?;
                first_record = first_record.saturating_add(u64::from(zeros_bytes) + u64::from(value_bytes));
                Some(Shifts { zeros, zeros_bytes, value_bytes })
            }
            None => None,
        };
        if number == 0 {
            end = first_record;
            first_record = first_record.saturating_add(most_before_records);
        }
        let in_memory = |(array, place): &(&ArrayDecl, &mut Place)| unbounded(array) && !place.is_beside;
        let records: Vec<_> = part.program.arrays.iter().zip(&mut arrays[number]).filter(in_memory).collect();
        let bytes = records.iter().map(|(array, _)| bytes_of(part, array.element_values));
        let record_bytes = bytes.fold(0, |sum: u64, bytes| sum.saturating_add(bytes));
        let mut offset = 0;
        for (array, place) in records {
            let first = within(first_record.saturating_add(offset))?;
            *place = Place { first, stride: within(record_bytes)?, is_beside: false };
            offset = offset.saturating_add(bytes_of(part, array.element_values));
        }
        let set_up_at = if number > 0 && is_set_up_beyond(part) { within(end)? } else { 0 };
        let records_beside = records_beside(part, &arrays[number]);
        own.push(Own { shifts, records: (within(first_record)?, within(record_bytes)?), records_beside, set_up_at });
    }
    Ok(Layout {
        scratch: within(scratch)?,
        variables: within(variables)?,
        output: within(output)?,
        entrances: within(entrances)?,
        entrances_of_subprograms: within(entrances_of_subprograms)?,
        arrays,
        end: within(end)?,
        own,
    })
}

/// The places of a part's arrays that are beside the slots, if the target has such: those of fixed size, then the
/// records of the unbounded ones. Arrays filled from a table in code stay in memory, to which code is copied.
fn beside(part: &Part<'_>) -> Vec<Place> {
    let arrays = &part.program.arrays;
    let mut places = vec![Place::default(); arrays.len()];
    if !part.target.has_arrays() {
        return places;
    }
    let mut filled = HashSet::new();
    part.program.for_each_effect(&mut |effect| {
        if let Effect::FillFrom { array, .. } = effect {
            filled.insert(array.0);
        }
    });
    let (mut next, mut record) = (0, 0);
    let within = |elements: u64| u32::try_from(elements).ok().filter(|_| elements <= ARRAY_ELEMENTS_MAX as u64); // usize to u64 widens
    let values = |array: &ArrayDecl| array.element_values as u64; // widens too
    for (number, array) in arrays.iter().enumerate().filter(|(number, _)| !filled.contains(number)) {
        let Capacity::Fixed(count) = array.capacity else {
            record += values(array);
            continue;
        };
        let end = values(array).saturating_mul(count.into()).saturating_add(next);
        if let (Some(first), Some(stride), Some(_)) = (within(next), within(values(array)), within(end)) {
            places[number] = Place { first, stride, is_beside: true };
            next = end;
        }
    }
    for (number, array) in arrays.iter().enumerate().filter(|(_, array)| array.capacity == Capacity::Unbounded) {
        if let (Some(first), Some(stride)) = (within(next), within(record)) {
            places[number] = Place { first, stride, is_beside: true };
            next += values(array);
        }
    }
    places
}

/// Number of records of the unbounded arrays that fit beside the slots, at these places of all arrays; `None` if none
/// are there.
fn records_beside(part: &Part<'_>, places: &[Place]) -> Option<u32> {
    let arrays = part.program.arrays.iter().zip(places);
    let mut records = arrays.filter(|(array, place)| array.capacity == Capacity::Unbounded && place.is_beside);
    let (_, &Place { first, stride, .. }) = records.next()?;
    // The last record ends within a whole one after its first element.
    (ARRAY_ELEMENTS_MAX as u32 - first).checked_div(stride) // 65,536.
}

/// Bytes of scratch memory.
fn scratch_bytes(program: &Program) -> u32 {
    let mut most = 0;
    program.for_each_effect(&mut |effect| {
        if let Effect::Scratch { size_bytes } = effect {
            most = most.max(*size_bytes);
        }
    });
    most
}

/// Room for the longest output, for hash input of known length, and for elements in transit: one as words, one of a
/// table.
fn output_bytes(part: &Part<'_>, is_whole: bool) -> u64 {
    let (program, element_bytes) = (part.program, part.target.element_bytes());
    // For an element and a word that ends where it does.
    let least = program.modulus.bits().div_ceil(8).max(32).next_multiple_of(32);
    let mont_bytes = program.element_bytes() as u64;
    let mut longest = 0;
    for function in &program.functions {
        function.body.walk(&mut |statement| {
            let Statement::Effect(effect) = statement else { return };
            longest = longest.max(match effect {
                Effect::ReturnWord { .. } => 32,
                Effect::KeccakF { .. } => keccak::ROOM_BYTES.into(),
                Effect::Invert { .. } if part.has_modexp => precompiles::inversion_bytes(program).into(),
                Effect::IsOdd { .. } | Effect::WordOf { .. } | Effect::PutScratch { .. } => least,
                Effect::Lookup { .. } | Effect::TakeRow { .. } if part.target.loads_code() => 0,
                Effect::Lookup { results, .. } | Effect::TakeRow { results, .. } => {
                    outside::row_bytes(results.len(), element_bytes)
                }
                Effect::ReturnElements { values, size_bytes }
                    if is_whole && part.target.returns_low(*size_bytes, values.len()) =>
                {
                    0
                }
                Effect::ReturnElements { values, size_bytes } => {
                    (values.len() as u64).saturating_mul(u64::from(*size_bytes)).next_multiple_of(32)
                }
                // That of a subprogram stands where its arrays were.
                Effect::ReturnLast { limit_bytes, .. } if is_whole => u64::from(*limit_bytes).next_multiple_of(32),
                Effect::ReturnMontLe { values } => (values.len() as u64 * mont_bytes).next_multiple_of(32),
                _ => effect.pieces().map_or(0, |pieces| hash::output_bytes(function, pieces)),
            });
        });
    }
    longest
}
