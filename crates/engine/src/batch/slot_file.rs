//! The slots of a field context, each in one of two forms: limbs for the plain instructions, rows for the plans of the
//! batch engine. Which one it is cannot be observed, so a slot stays where the last instruction left it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use residue_isa::PerOp;
use residue_lanes::{ModulusRows, Rows, Shape};
use residue_modular::limbs::LIMB_BYTES;
use residue_modular::{FieldContext, Fp2Strided, Fp6Slots, Limb, PackedStep, Strided, ValueOutOfRange};

use super::index_set::SlotSet;
use super::ledger::{Balance, Ledger};
use super::plan::RowPlan;
use super::scalar_trace::{Fused, ScalarTrace};

/// A field context whose slots may be in row form.
#[derive(Debug)]
pub(crate) struct SlotFile {
    limbs: FieldContext,
    shape: Option<Shape>,
    /// Net gain of plans in the transaction.
    ledger: Ledger,
    balance: Balance,
    /// Made when the first plan runs.
    rows: Option<Box<RowForm>>,
}

#[derive(Debug)]
struct RowForm {
    modulus: Arc<ModulusRows>,
    rows: Rows,
    /// The slots whose value is in `rows`; that of the others is in `limbs`.
    holds: SlotSet,
    /// Room for slots and their limbs on the way from one form to the other.
    moved: Vec<u16>,
    values: Vec<Limb>,
}

impl RowForm {
    /// Brings those of `slots` that are in rows back to limbs.
    fn give_back(&mut self, limbs: &mut FieldContext, slots: impl Iterator<Item = usize>) {
        self.moved.clear();
        for slot in slots {
            if self.holds.contains(slot) {
                self.holds.remove(slot);
                self.moved.push(as_u16(slot));
            }
        }
        if self.moved.is_empty() {
            return;
        }
        let width_limbs = limbs.width_limbs();
        self.values.resize(self.moved.len() * width_limbs, 0);
        self.rows.mont(&self.modulus, &self.moved, &mut self.values);
        for (&slot, value) in self.moved.iter().zip(self.values.chunks_exact(width_limbs)) {
            limbs.set_slot(usize::from(slot), value);
        }
    }

    /// Notes that the values of `count` slots are in limbs.
    fn forget(&mut self, first_slot: usize, count: usize) {
        for slot in first_slot..first_slot + count {
            self.holds.remove(slot);
        }
    }

    /// Brings those of `slots` that are in limbs to rows.
    fn take(&mut self, limbs: &FieldContext, slots: &[u16]) {
        self.moved.clear();
        self.values.clear();
        for &slot in slots {
            if !self.holds.contains(usize::from(slot)) {
                self.holds.insert(usize::from(slot));
                self.moved.push(slot);
                self.values.extend_from_slice(limbs.slot(usize::from(slot)));
            }
        }
        if !self.moved.is_empty() {
            self.rows.set_mont(&self.modulus, &self.moved, &self.values);
        }
    }
}

/// Slots are below 256 by the rules of every interface.
fn as_u16(slot: usize) -> u16 {
    u16::try_from(slot).expect("there are at most 256 slots")
}

impl SlotFile {
    /// All slots in limbs.
    pub fn new(limbs: FieldContext, ledger: Ledger) -> Self {
        Self { shape: Shape::of(limbs.modulus()).ok(), limbs, ledger, balance: Balance::default(), rows: None }
    }

    /// The context, whose slots are right as long as no plan has run.
    pub fn limbs(&self) -> &FieldContext {
        &self.limbs
    }

    /// The context of a frame that runs no plans.
    pub fn limbs_mut(&mut self) -> &mut FieldContext {
        debug_assert!(self.rows.is_none(), "values would be in rows");
        &mut self.limbs
    }

    /// Number of slots.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.limbs.slot_count()
    }

    /// Bytes of one value in memory.
    pub fn element_bytes(&self) -> usize {
        self.limbs.element_bytes()
    }

    /// True if the modulus is odd.
    pub fn is_odd(&self) -> bool {
        self.limbs.modulus().is_odd()
    }

    /// True if a plan has run, so that values may be in rows.
    pub fn has_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// True if no value is in a row.
    #[inline]
    pub fn is_in_limbs(&self) -> bool {
        self.rows.as_ref().is_none_or(|form| form.holds.is_empty())
    }

    /// The layout of rows for the modulus, if it has one and plans may run.
    pub fn shape(&self) -> Option<Shape> {
        self.shape.filter(|_| self.ledger.is_open())
    }

    /// True if elements are whole limbs, the form that rows read and write.
    fn is_padded(&self) -> bool {
        self.limbs.element_bytes().is_multiple_of(LIMB_BYTES)
    }

    /// As [`FieldContext::add`].
    #[inline(always)]
    pub fn add(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        self.settle(out, x, y, count);
        self.limbs.add(out, x, y, count);
    }

    /// As [`FieldContext::sub`].
    #[inline(always)]
    pub fn sub(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        self.settle(out, x, y, count);
        self.limbs.sub(out, x, y, count);
    }

    /// As [`FieldContext::mul`].
    #[inline(always)]
    pub fn mul(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        self.settle(out, x, y, count);
        self.limbs.mul(out, x, y, count);
    }

    /// As [`FieldContext::run_packed`], where all values are in limbs.
    #[inline]
    pub fn run_packed(&mut self, names: PerOp<u8>, steps: &[PackedStep]) {
        debug_assert!(self.is_in_limbs(), "values would be in rows");
        self.limbs.run_packed(names, steps);
    }

    /// As [`FieldContext::invert`].
    pub fn invert(&mut self, out: Strided, x: Strided, count: usize) {
        self.settle(out, x, x, count);
        self.limbs.invert(out, x, count);
    }

    /// As [`FieldContext::sum_products`].
    pub fn sum_products(&mut self, out: usize, signs: u8, products: &[[u16; 2]]) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            form.give_back(&mut self.limbs, products.iter().flatten().copied().map(usize::from));
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
            form.holds.remove(out);
        }
        self.limbs.sum_products(out, signs, products);
    }

    /// As [`FieldContext::copy`].
    pub fn copy(&mut self, out: Strided, x: Strided, count: usize) {
        self.settle(out, x, x, count);
        self.limbs.copy(out, x, count);
    }

    /// As [`FieldContext::mul_fp2`].
    pub fn mul_fp2(&mut self, out: Fp2Strided, x: Fp2Strided, y: Fp2Strided, count: usize) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            let slots = |operand: Fp2Strided| (0..count).flat_map(move |lane| operand.slots(lane));
            form.give_back(&mut self.limbs, slots(x).chain(slots(y)));
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
            slots(out).for_each(|slot| form.holds.remove(slot));
        }
        self.limbs.mul_fp2(out, x, y, count);
    }

    /// As [`FieldContext::mul_fp6`].
    pub fn mul_fp6(&mut self, operands: &Fp6Slots) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            form.give_back(&mut self.limbs, operands.x.into_iter().chain(operands.y));
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
            operands.out.into_iter().for_each(|slot| form.holds.remove(slot));
        }
        self.limbs.mul_fp6(operands);
    }

    /// True if a slot is zero, in either form.
    pub fn is_zero(&mut self, slot: usize) -> bool {
        if let Some(form) = &mut self.rows {
            form.give_back(&mut self.limbs, core::iter::once(slot));
        }
        self.limbs.slot(slot).iter().all(|&limb| limb == 0)
    }

    /// As [`FieldContext::equal`], for slots in any form.
    pub fn equal(&mut self, x: usize, y: usize) -> bool {
        self.bring_back([x, y]);
        self.limbs.equal(x, y)
    }

    /// As [`FieldContext::less`], for slots in any form.
    pub fn less(&mut self, x: usize, y: usize) -> bool {
        self.bring_back([x, y]);
        self.limbs.less(x, y)
    }

    fn bring_back(&mut self, slots: [usize; 2]) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            form.give_back(&mut self.limbs, slots.into_iter());
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
        }
    }

    /// Number of elements of the array.
    pub fn array_len(&self) -> usize {
        self.limbs.array_len()
    }

    /// As [`FieldContext::grow_array`].
    pub fn grow_array(&mut self, elements: usize) {
        self.limbs.grow_array(elements);
    }

    /// As [`FieldContext::get`]; the slots are in limbs then, as elements always are.
    pub fn get(&mut self, first_slot: usize, count: usize, index: usize) {
        self.limbs.get(first_slot, count, index);
        if let Some(form) = &mut self.rows {
            form.forget(first_slot, count);
        }
    }

    /// As [`FieldContext::put`], for slots in any form.
    pub fn put(&mut self, first_slot: usize, count: usize, index: usize) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            form.give_back(&mut self.limbs, first_slot..first_slot + count);
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
        }
        self.limbs.put(first_slot, count, index);
    }

    /// Stores canonical values in slots, as [`FieldContext::store`]; in rows, once there are any.
    pub fn store(&mut self, first_slot: usize, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        let is_padded = self.is_padded();
        let Some(form) = &mut self.rows else {
            return self.limbs.store(first_slot, be_bytes);
        };
        if !is_padded {
            self.limbs.store(first_slot, be_bytes)?;
            form.forget(first_slot, be_bytes.len() / self.limbs.element_bytes());
            return Ok(());
        }
        form.rows.store(&form.modulus, as_u16(first_slot), be_bytes)?;
        for slot in first_slot..first_slot + be_bytes.len() / self.limbs.element_bytes() {
            form.holds.insert(slot);
        }
        Ok(())
    }

    /// Stores values that need not be canonical, as [`FieldContext::store_any`]; in limbs.
    pub fn store_any(&mut self, first_slot: usize, be_bytes: &[u8]) {
        self.limbs.store_any(first_slot, be_bytes);
        if let Some(form) = &mut self.rows {
            form.forget(first_slot, be_bytes.len() / self.limbs.element_bytes());
        }
    }

    /// Loads the canonical values of slots, as [`FieldContext::load`].
    pub fn load(&mut self, first_slot: usize, out: &mut [u8]) {
        let slots = first_slot..first_slot + out.len() / self.limbs.element_bytes();
        let is_padded = self.is_padded();
        let Some(form) = &mut self.rows else {
            return self.limbs.load(first_slot, out);
        };
        if is_padded && slots.clone().all(|slot| form.holds.contains(slot)) {
            form.rows.load(&form.modulus, as_u16(first_slot), out);
        } else {
            form.give_back(&mut self.limbs, slots);
            self.limbs.load(first_slot, out);
        }
    }

    /// True if a plan should run here, given the present forms of its operands.
    pub fn wants(&mut self, plan: &RowPlan<SlotSet>) -> bool {
        let Some(form) = &self.rows else { return self.balance.decide(plan, 0, plan.reads.count()) };
        if plan.gains() && plan.reads.is_within(&form.holds) {
            return true;
        }
        let held = plan.reads.intersection(&form.holds).count();
        self.balance.decide(plan, held, plan.reads.count() - held)
    }

    /// Bytes that running a plan adds to the rows.
    #[inline]
    pub fn row_growth(&self, slot_plan: &RowPlan<SlotSet>) -> usize {
        slot_plan.plan.row_bytes().saturating_sub(self.rows.as_ref().map_or(0, |form| form.rows.bytes()))
    }

    /// Brings all values back to limbs, and lets go of the rows.
    pub fn give_up_rows(&mut self) {
        if let Some(mut form) = self.rows.take() {
            form.give_back(&mut self.limbs, 0..SlotSet::CAPACITY);
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
        }
    }

    /// Runs a plan made for this number of slots and this shape.
    pub fn run(&mut self, slot_plan: &RowPlan<SlotSet>) {
        let RowPlan { plan, reads, writes, .. } = slot_plan;
        let form = self.rows.get_or_insert_with(|| {
            self.ledger.note_modulus();
            let modulus =
                ModulusRows::shared(self.limbs.modulus()).expect("a plan was made for the shape of the modulus");
            let rows = Rows::new(modulus.shape(), as_u16(self.limbs.slot_count()));
            let form = RowForm { modulus, rows, holds: SlotSet::default(), moved: Vec::new(), values: Vec::new() };
            Box::new(form)
        });
        if !reads.is_within(&form.holds) {
            form.take(&self.limbs, plan.inputs());
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
        }
        self.ledger.note_run(slot_plan);
        plan.run(&form.modulus, &mut form.rows);
        form.holds.insert_all(writes);
    }

    /// Runs a scalar trace, whose slots exist.
    pub fn run_trace(&mut self, trace: &ScalarTrace) {
        if let Some(form) = &mut self.rows
            && !form.holds.is_empty()
        {
            form.give_back(&mut self.limbs, trace.reads.iter());
            self.ledger.note_moved(form.modulus.shape(), form.moved.len());
            form.holds.remove_all(&trace.writes);
        }
        let mut at = 0;
        for (place, fused) in &trace.sums {
            self.limbs.run_steps(&trace.steps[at..*place]);
            at = *place;
            let sum = match fused {
                Fused::Sum(sum) => sum,
                Fused::Fp6(product) => {
                    let [out, x, y] = [product.out, product.x, product.y].map(|slots| slots.map(usize::from));
                    self.limbs.mul_fp6(&Fp6Slots { out, x, y, xi: product.xi });
                    continue;
                }
            };
            let element = |first: [u16; 2]| Fp2Strided { first: first.map(usize::from), stride: 0 };
            match (sum.second, sum.slots()) {
                (Some(second), &[[x0, y0], [x1, y1], ..]) => {
                    self.limbs.mul_fp2(element([sum.out, second]), element([x0, x1]), element([y0, y1]), 1);
                }
                (_, slots) => self.limbs.sum_products(sum.out.into(), sum.signs, slots),
            }
        }
        self.limbs.run_steps(&trace.steps[at..]);
    }

    /// Makes limbs right for an operation: its operands are there, and its results will be.
    #[inline(always)]
    fn settle(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        if !self.is_in_limbs() {
            self.settle_from_rows(out, x, y, count);
        }
    }

    #[inline(never)]
    fn settle_from_rows(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        let Some(form) = &mut self.rows else { return };
        if count == 1 && !form.holds.contains(x.index) && !form.holds.contains(y.index) {
            form.holds.remove(out.index);
            return;
        }
        let lanes = |operand: Strided| (0..count).map(move |lane| operand.index + lane * operand.stride);
        form.give_back(&mut self.limbs, lanes(x).chain(lanes(y)));
        self.ledger.note_moved(form.modulus.shape(), form.moved.len());
        for slot in lanes(out) {
            form.holds.remove(slot);
        }
    }
}

#[cfg(test)]
mod tests;
