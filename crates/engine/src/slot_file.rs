//! The slots of a field context, each in one of two forms: limbs for the plain instructions, rows for the plans of the
//! batch engine. Which one it is cannot be observed, so a slot stays where the last instruction left it.

use residue_lanes::{ModulusRows, Plan, Rows, Shape};
use residue_modular::{FieldContext, Limb, Strided, ValueOutOfRange};

/// Words of a set of slots: there are at most 256.
const SET_WORDS: usize = 4;

/// A field context whose slots may be in row form.
#[derive(Debug)]
pub(crate) struct SlotFile {
    limbs: FieldContext,
    shape: Option<Shape>,
    /// Made when the first plan runs.
    rows: Option<Box<RowForm>>,
}

#[derive(Debug)]
struct RowForm {
    modulus: ModulusRows,
    rows: Rows,
    /// The slots whose value is in `rows`; that of the others is in `limbs`.
    holds: SlotSet,
    /// Room for slots and their limbs on the way from one form to the other.
    moved: Vec<u16>,
    values: Vec<Limb>,
}

#[derive(Debug, Default, Clone, Copy)]
struct SlotSet([u64; SET_WORDS]);

impl SlotSet {
    #[inline(always)]
    fn contains(self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    #[inline(always)]
    fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    #[inline(always)]
    fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    fn is_empty(self) -> bool {
        self.0 == [0; SET_WORDS]
    }
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
    pub fn new(limbs: FieldContext) -> Self {
        Self { shape: Shape::of(limbs.modulus()).ok(), limbs, rows: None }
    }

    /// The context, whose slots are right as long as no plan has run.
    pub fn limbs(&self) -> &FieldContext {
        &self.limbs
    }

    /// Number of slots.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.limbs.slot_count()
    }

    /// Width of the modulus in limbs.
    #[inline]
    pub fn width_limbs(&self) -> usize {
        self.limbs.width_limbs()
    }

    /// Bytes of one value in memory.
    pub fn element_bytes(&self) -> usize {
        self.limbs.element_bytes()
    }

    /// Whether the modulus is a power of two.
    pub fn is_power_of_two(&self) -> bool {
        self.limbs.modulus().is_power_of_two()
    }

    /// The layout of rows for the modulus, if it has one.
    pub fn shape(&self) -> Option<Shape> {
        self.shape
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

    /// Stores canonical values in slots, as [`FieldContext::store`]; in rows, once there are any.
    pub fn store(&mut self, first_slot: usize, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        let Some(form) = &mut self.rows else {
            return self.limbs.store(first_slot, be_bytes);
        };
        form.rows.store(&form.modulus, as_u16(first_slot), be_bytes)?;
        for slot in first_slot..first_slot + be_bytes.len() / self.limbs.element_bytes() {
            form.holds.insert(slot);
        }
        Ok(())
    }

    /// Loads the canonical values of slots, as [`FieldContext::load`].
    pub fn load(&mut self, first_slot: usize, out: &mut [u8]) {
        let slots = first_slot..first_slot + out.len() / self.limbs.element_bytes();
        let Some(form) = &mut self.rows else {
            return self.limbs.load(first_slot, out);
        };
        if slots.clone().all(|slot| form.holds.contains(slot)) {
            form.rows.load(&form.modulus, as_u16(first_slot), out);
        } else {
            form.give_back(&mut self.limbs, slots);
            self.limbs.load(first_slot, out);
        }
    }

    /// Runs a plan made for this number of slots and this shape.
    pub fn run(&mut self, plan: &Plan) {
        let form = self.rows.get_or_insert_with(|| {
            let modulus = ModulusRows::new(self.limbs.modulus()).expect("a plan was made for the shape of the modulus");
            let rows = Rows::new(modulus.shape(), as_u16(self.limbs.slot_count()));
            let form = RowForm { modulus, rows, holds: SlotSet::default(), moved: Vec::new(), values: Vec::new() };
            Box::new(form)
        });
        form.take(&self.limbs, plan.inputs());
        plan.run(&form.modulus, &mut form.rows);
        for &slot in plan.outputs() {
            form.holds.insert(usize::from(slot));
        }
    }

    /// Makes limbs right for an operation: its operands are there, and its results will be.
    #[inline(always)]
    fn settle(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        if self.rows.as_ref().is_some_and(|form| !form.holds.is_empty()) {
            self.settle_from_rows(out, x, y, count);
        }
    }

    #[inline(never)]
    fn settle_from_rows(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        let Some(form) = &mut self.rows else { return };
        let lanes = |operand: Strided| (0..count).map(move |lane| operand.index + lane * operand.stride);
        form.give_back(&mut self.limbs, lanes(x).chain(lanes(y)));
        for slot in lanes(out) {
            form.holds.remove(slot);
        }
    }
}
