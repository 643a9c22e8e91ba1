//! Values of EVM384 that are in row form: a frame's memory holds what it held when they were taken or last written back.
//!
//! Plans leave their results in rows. Places in rows are written back before other readers of memory, and dropped
//! before other writers, so that the difference cannot be observed.

use alloc::sync::Arc;
use core::ops::Range;

use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use residue_lanes::{ByteOrder, Form, ModulusRows, Rows, Shape};
use residue_modular::Modulus;
use residue_modular::evm384::WIDTH_LIMBS;

use super::ledger::Ledger;
use super::memory::MemoryNeeds;
use super::memory_places::{MemoryPlaces, PlaceSet};
use super::plan::RowPlan;
use super::tuning::{ASKED_MAX, MOVED_TOGETHER};

/// The least modulus of rows.
const MODULUS_MIN: u64 = 3;

/// The rows of a frame.
#[derive(Debug)]
pub(crate) struct MemoryRows {
    /// The modulus as it lies in memory.
    bytes: [u8; VALUE_BYTES],
    /// None if it has no rows.
    field: Option<Field>,
    /// The places whose value is in their row, and those of them whose value in memory is older.
    holds: PlaceSet,
    is_newer: PlaceSet,
    /// Code range of a block with checked places: no check is needed while it runs.
    pub settled: Range<usize>,
    /// Ranges that were asked for since a plan ran.
    asked: u32,
    /// Net gain of plans in the transaction.
    ledger: Ledger,
}

#[derive(Debug)]
struct Field {
    modulus: Arc<ModulusRows>,
    rows: Rows,
    /// −m⁻¹ mod 2⁶⁴, in the order of values' bytes.
    r_inv: [u8; R_INV_BYTES],
}

impl Field {
    fn new(bytes: &[u8; VALUE_BYTES], order: ByteOrder, place_count: usize) -> Option<Self> {
        let mut be_bytes = *bytes;
        if order == ByteOrder::Little {
            be_bytes.reverse();
        }
        let modulus = Modulus::at_least(MODULUS_MIN, &be_bytes, WIDTH_LIMBS).ok().filter(Modulus::is_odd)?;
        let r_inv = residue_modular::limbs::n0_of(modulus.limbs()[0]);
        let r_inv = match order {
            ByteOrder::Little => r_inv.to_le_bytes(),
            ByteOrder::Big => r_inv.to_be_bytes(),
        };
        let modulus = ModulusRows::shared(&modulus).ok()?;
        let rows = Rows::new(modulus.shape(), u16::try_from(place_count).ok()?);
        Some(Self { modulus, rows, r_inv })
    }
}

impl MemoryRows {
    /// No values, for the modulus that lies in memory at `modulus`; code that changes it pays in `ledger`.
    pub fn new(map: &MemoryPlaces, memory: &[u8], modulus: usize, ledger: Ledger) -> Self {
        let bytes = modulus_at(memory, modulus);
        let field = || {
            ledger.note_modulus();
            Field::new(&bytes, map.order(), map.offsets().len())
        };
        Self {
            field: if ledger.is_open() { field() } else { None },
            bytes,
            holds: PlaceSet::default(),
            is_newer: PlaceSet::default(),
            settled: 0..0,
            asked: 0,
            ledger,
        }
    }

    /// True if there is nothing to write back or to forget.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    /// Makes these the rows of the modulus that lies in memory at `modulus`.
    pub fn use_modulus(&mut self, map: &MemoryPlaces, memory: &mut [u8], modulus: usize) {
        if self.bytes != memory[modulus..][..VALUE_BYTES] {
            self.settle_all(map, memory);
            *self = Self::new(map, memory, modulus, self.ledger.clone());
        }
    }

    /// The layout of rows, if the modulus has one and plans may run.
    pub fn shape(&self) -> Option<Shape> {
        self.field.as_ref().filter(|_| self.ledger.is_open()).map(|field| field.modulus.shape())
    }

    /// Bytes that running a plan adds to the rows.
    pub fn row_growth(&self, plan: &RowPlan<PlaceSet>) -> usize {
        plan.plan.row_bytes().saturating_sub(self.field.as_ref().map_or(0, |field| field.rows.bytes()))
    }

    /// Runs a plan of a block with these needs, made for these places and this shape; false, with nothing done that can be seen, unless its
    /// operands and r_inv are those of Montgomery arithmetic. Memory reaches as far as the block.
    pub fn run(&mut self, map: &MemoryPlaces, needs: &MemoryNeeds, plan: &RowPlan<PlaceSet>, memory: &[u8]) -> bool {
        let Some(field) = &mut self.field else { return false };
        let r_inv = &memory[needs.modulus + VALUE_BYTES..];
        if needs.multiplies && r_inv[..R_INV_BYTES] != field.r_inv {
            return false;
        }
        if !plan.reads.is_within(&self.holds) {
            let mut missing = plan.reads;
            missing.remove_all(&self.holds);
            self.ledger.note_moved(field.modulus.shape(), missing.iter().count());
            let all_entered = each_eight(map, &missing, |slots, offsets| {
                let Field { modulus, rows, .. } = &mut *field;
                let entered = rows.enter(modulus, Form::Mont, map.order(), slots, memory, offsets).is_ok();
                if entered {
                    slots.iter().for_each(|&slot| self.holds.insert(usize::from(slot)));
                }
                entered
            });
            if !all_entered {
                return false;
            }
        }
        plan.plan.run(&field.modulus, &mut field.rows);
        self.asked = 0;
        self.ledger.note_run(plan);
        self.holds.insert_all(&plan.writes);
        self.is_newer.insert_all(&plan.writes);
        true
    }

    /// Writes rows in a range back before a read, and also drops them before a write; all rows, if that takes less time
    /// than repeated checks.
    #[inline(never)]
    pub fn settle_range(&mut self, map: &MemoryPlaces, memory: &mut [u8], range: &Range<usize>, is_written: bool) {
        self.asked += 1;
        self.ledger.note_asked();
        if self.asked > ASKED_MAX {
            return self.settle_all(map, memory);
        }
        let places: PlaceSet = map.within(range).collect();
        if places.is_empty() {
            return;
        }
        self.write_back(map, memory, &places);
        if is_written {
            self.holds.remove_all(&places);
        }
    }

    /// Writes back the places that a block names, and drops those that it writes; its instructions then run one by one.
    pub fn settle_block(&mut self, map: &MemoryPlaces, needs: &MemoryNeeds, code: Range<usize>, memory: &mut [u8]) {
        self.write_back(map, memory, &needs.names);
        self.holds.remove_all(&needs.writes);
        self.settled = code;
    }

    /// Writes everything back and forgets it.
    pub fn settle_all(&mut self, map: &MemoryPlaces, memory: &mut [u8]) {
        let all = self.is_newer;
        self.write_back(map, memory, &all);
        self.holds = PlaceSet::default();
        self.asked = 0;
    }

    fn write_back(&mut self, map: &MemoryPlaces, memory: &mut [u8], places: &PlaceSet) {
        let due = self.is_newer.intersection(places);
        if due.is_empty() {
            return;
        }
        let Some(field) = &mut self.field else { return };
        self.ledger.note_moved(field.modulus.shape(), due.iter().count());
        each_eight(map, &due, |slots, offsets| {
            field.rows.leave(&field.modulus, Form::Mont, map.order(), slots, memory, offsets);
            true
        });
        self.is_newer.remove_all(&due);
    }
}

/// Calls `move_values` with up to eight places at a time, their numbers and offsets, until it returns false; says whether it
/// never did.
fn each_eight(map: &MemoryPlaces, places: &PlaceSet, mut move_values: impl FnMut(&[u16], &[usize]) -> bool) -> bool {
    let (mut slots, mut offsets, mut count) = ([0; MOVED_TOGETHER], [0; MOVED_TOGETHER], 0);
    for place in places.iter() {
        slots[count] = u16::try_from(place).expect("there are at most 1024 places");
        offsets[count] = map.offsets()[place] as usize; // u32 to usize widens.
        count += 1;
        if count == MOVED_TOGETHER {
            if !move_values(&slots, &offsets) {
                return false;
            }
            count = 0;
        }
    }
    count == 0 || move_values(&slots[..count], &offsets[..count])
}

fn modulus_at(memory: &[u8], at: usize) -> [u8; VALUE_BYTES] {
    memory[at..][..VALUE_BYTES].try_into().expect("the slice was cut to 48 bytes")
}

#[cfg(test)]
mod tests;
