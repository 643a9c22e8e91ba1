//! A field context: a modulus with its numbered slots, and the three operations on them.
//!
//! Slots of an odd modulus hold Montgomery form, those of a power of two, and all with accelerators, canonical form; [`FieldContext::store`] and
//! [`FieldContext::load`] use canonical big-endian bytes, so the form is invisible. Every slot is below the modulus,
//! except the results of [`FieldContext::store_any`] and [`FieldContext::invert_doubled`] modulo a power of two.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use thiserror::Error;

use crate::backend::{self, Add, Kernel, Kernels, Operation, Sub, transfer};
use crate::division_steps;
use crate::inverse;
use crate::limbs::{LIMB_BYTES, Limb, less_than, read_be};
use crate::modulus::Modulus;

mod array;
mod packed;

pub use packed::{PackedStep, is_apart};

/// The most products of [`FieldContext::sum_products`].
pub const SUM_PRODUCTS_MAX: usize = 6;

/// A modulus with its slots. Fresh slots are zero.
#[derive(Clone)]
pub struct FieldContext {
    modulus: Modulus,
    kernels: Kernels,
    shape: Shape,
    slot_count: usize,
    element_bytes: usize,
    /// The slots, and after them the staging slots while there are any.
    limbs: Vec<Limb>,
    /// Elements beside the slots, in the form of slots.
    array: Vec<Limb>,
}

/// Moduli whose additions are short enough to be worth inlining: a call would cost a third of one.
#[derive(Clone, Copy)]
enum Shape {
    Odd4,
    Odd6,
    Other,
}

/// The slots one operand visits: `index`, `index + stride`, `index + 2·stride`, … one for each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strided {
    /// Slot of the first lane.
    pub index: usize,
    /// Slot distance between neighbouring lanes; 0 repeats one slot.
    pub stride: usize,
}

/// The elements of Fp2 that one operand visits: coefficients in the slots c0 + i·stride and c1 + i·stride for each lane i.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fp2Strided {
    /// Slots of the coefficients in the first lane, that of 1 and that of u.
    pub first: [usize; 2],
    /// Slot distance between neighbouring lanes; 0 repeats one element.
    pub stride: usize,
}

impl Fp2Strided {
    /// The slots of a lane's coefficients.
    #[inline]
    pub fn slots(self, lane: usize) -> [usize; 2] {
        self.first.map(|slot| slot + lane * self.stride)
    }
}

/// A product in Fp6 = Fp2[v] with v³ = a + b·u over Fp2 = Fp[u] with u² = −1: the slots of the coefficients of 1, u, v, uv, v², uv².
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fp6Slots {
    /// Of the result.
    pub out: [usize; 6],
    /// Of the first factor.
    pub x: [usize; 6],
    /// Of the second factor.
    pub y: [usize; 6],
    /// a and b.
    pub xi: [u8; 2],
}

/// One operation on slots, or squarings one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotStep {
    /// out = x + y mod m.
    Add {
        /// The slot it writes.
        out: u16,
        /// The slot of its first operand.
        x: u16,
        /// The slot of its second operand.
        y: u16,
    },
    /// out = x − y mod m.
    Sub {
        /// The slot it writes.
        out: u16,
        /// The slot of its first operand.
        x: u16,
        /// The slot of its second operand.
        y: u16,
    },
    /// out = x·y mod m as values, for slots in any form.
    Mul {
        /// The slot it writes.
        out: u16,
        /// The slot of its first operand.
        x: u16,
        /// The slot of its second operand.
        y: u16,
    },
    /// out = x^(2^count) mod m as values: only the last squaring's result is kept.
    Square {
        /// The slot it writes.
        out: u16,
        /// The slot it starts from.
        x: u16,
        /// Number of squarings, at least one.
        count: u16,
    },
    /// outᵢ = xᵢ for neighbouring slots, all read before any is written.
    Copy {
        /// The first slot it writes.
        out: u16,
        /// The first slot it reads.
        x: u16,
        /// Number of slots.
        count: u16,
    },
    /// outᵢ = xᵢ + yᵢ mod m for several lanes.
    AddLanes(SlotLanes),
    /// outᵢ = xᵢ − yᵢ mod m for several lanes.
    SubLanes(SlotLanes),
    /// outᵢ = xᵢ·yᵢ mod m as values for several lanes.
    MulLanes(SlotLanes),
}

/// Lanes of an operation; none reads a result of an earlier one. As short as any other step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotLanes {
    /// The slots that it writes.
    pub out: ShortStrided,
    /// The slots of its first operand.
    pub x: ShortStrided,
    /// The slots of its second operand.
    pub y: ShortStrided,
    /// Number of lanes.
    pub count: u8,
}

impl SlotLanes {
    /// The slots that it writes, and those of both operands.
    pub fn strided(self) -> [Strided; 3] {
        [self.out, self.x, self.y]
            .map(|ShortStrided { index, stride }| Strided { index: index.into(), stride: stride.into() })
    }
}

/// As [`Strided`], for slots and distances below 256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortStrided {
    /// Slot of the first lane.
    pub index: u8,
    /// Slot distance between neighbouring lanes; 0 repeats one slot.
    pub stride: u8,
}

/// A value that is not below the modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the value for slot {slot} is not below the modulus")]
pub struct ValueOutOfRange {
    /// The slot it was meant for.
    pub slot: usize,
}

impl Strided {
    /// The slots `index`, `index + 1`, …
    pub const fn contiguous(index: usize) -> Self {
        Self { index, stride: 1 }
    }

    /// The slot of a lane.
    #[inline]
    pub const fn slot(self, lane: usize) -> usize {
        self.index + self.stride * lane
    }
}

impl FieldContext {
    /// A context of `slot_count` slots, all zero.
    pub fn new(modulus: Modulus, slot_count: usize) -> Self {
        let element_bytes = modulus.width_limbs() * LIMB_BYTES;
        Self::with_element_bytes(modulus, slot_count, element_bytes)
    }

    /// As [`FieldContext::new`], with values of `element_bytes` at the boundary. Panics unless they hold the modulus and
    /// need all its limbs.
    pub fn with_element_bytes(modulus: Modulus, slot_count: usize, element_bytes: usize) -> Self {
        assert!(8 * element_bytes >= modulus.bits(), "the modulus fits");
        assert_eq!(element_bytes.div_ceil(LIMB_BYTES), modulus.width_limbs(), "no limb is spare");
        let width = modulus.width_limbs();
        let kernels = backend::kernels(width, modulus.kind());
        let limbs = vec![0; slot_count * width];
        let shape = match width {
            4 if !modulus.is_canonical() => Shape::Odd4,
            6 if !modulus.is_canonical() => Shape::Odd6,
            _ => Shape::Other,
        };
        Self { modulus, kernels, shape, slot_count, element_bytes, limbs, array: Vec::new() }
    }

    /// As [`FieldContext::new`] for an odd modulus, in plain Rust on every CPU: the baseline of the other kernels.
    /// Panics if its residues are canonical: modulo a power of two, or by accelerators.
    pub fn portable(modulus: Modulus, slot_count: usize) -> Self {
        assert!(!modulus.is_canonical(), "canonical residues have one kind of kernels");
        let kernels = backend::portable_kernels(modulus.width_limbs());
        Self { kernels, shape: Shape::Other, ..Self::new(modulus, slot_count) }
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Number of slots.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Limbs of a slot.
    #[inline]
    pub fn width_limbs(&self) -> usize {
        self.modulus.width_limbs()
    }

    /// Bytes of a slot at the boundary: 8·width unless the context was made otherwise.
    #[inline]
    pub fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// outᵢ = xᵢ + yᵢ mod m for the lanes i < `count`, all read before any is written. Slots beyond the context panic.
    #[inline]
    pub fn add(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        match self.shape {
            Shape::Odd4 if count == 1 => self.run_inline::<Add<4>>(4, out, x, y),
            Shape::Odd6 if count == 1 => self.run_inline::<Add<6>>(6, out, x, y),
            _ => self.run(self.kernels.add, out, x, y, count),
        }
    }

    /// outᵢ = xᵢ − yᵢ mod m, as [`FieldContext::add`].
    #[inline]
    pub fn sub(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        match self.shape {
            Shape::Odd4 if count == 1 => self.run_inline::<Sub<4>>(4, out, x, y),
            Shape::Odd6 if count == 1 => self.run_inline::<Sub<6>>(6, out, x, y),
            _ => self.run(self.kernels.sub, out, x, y, count),
        }
    }

    /// outᵢ = xᵢ·yᵢ mod m as values, for slots in any form; as [`FieldContext::add`].
    #[inline]
    pub fn mul(&mut self, out: Strided, x: Strided, y: Strided, count: usize) {
        self.run(self.kernels.mul, out, x, y, count);
    }

    /// Takes steps in their order. Panics on slots beyond the context and on squarings none at all.
    #[inline]
    pub fn run_steps(&mut self, steps: &[SlotStep]) {
        (self.kernels.steps)(self, steps);
    }

    /// Stores canonical values, [`FieldContext::element_bytes`] big-endian bytes each, in the slots from `first_slot` on.
    /// If one of them is not below the modulus, no slot changes. Panics on slots beyond the context and part values.
    pub fn store(&mut self, first_slot: usize, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        self.check_range(first_slot, be_bytes.len());
        let store = match (self.has_whole_limbs(), self.width_limbs()) {
            (true, _) => self.kernels.store,
            (false, 1) if self.modulus.is_odd() => transfer::store_one_limb,
            (false, _) => transfer::store_any_width,
        };
        store(self, first_slot, be_bytes)
    }

    /// Stores values as [`FieldContext::store`] does, also those that are not below the modulus: an odd modulus reduces
    /// them; a power of two keeps them as they are, and the next operation on them takes their residues.
    pub fn store_any(&mut self, first_slot: usize, be_bytes: &[u8]) {
        self.check_range(first_slot, be_bytes.len());
        let width = self.width_limbs();
        if self.modulus.is_power_of_two() && !self.modulus.is_odd() {
            for (value, slot) in be_bytes.chunks_exact(self.element_bytes).zip(first_slot..) {
                read_be(value, &mut self.limbs[slot * width..][..width]).expect("an element fits a slot");
            }
        } else {
            self.convert(first_slot, be_bytes);
        }
    }

    /// Brings values below R into the form that slots have; the results are below the modulus.
    pub(crate) fn convert(&mut self, first_slot: usize, be_bytes: &[u8]) {
        let width = self.width_limbs();
        let mut value_and_factor = [self.modulus.to_form(); 2].concat();
        for (value, slot) in be_bytes.chunks_exact(self.element_bytes).zip(first_slot..) {
            read_be(value, &mut value_and_factor[..width]).expect("an element fits a slot");
            (self.kernels.mul.limbs)(&mut value_and_factor, 0, 0, width, self.modulus.limbs(), self.modulus.n0());
            self.limbs[slot * width..][..width].copy_from_slice(&value_and_factor[..width]);
        }
    }

    /// Modulo m = 2ᴷ: `out` becomes x⁻¹ mod 2ᴷ⁺¹, which may exceed m until an operation reads it; for even x the inverse of
    /// x + 1. None, and nothing changes, for other moduli. Panics on slots beyond the context.
    pub fn invert_doubled(&mut self, out: usize, x: usize) -> Option<()> {
        if self.modulus.is_odd() {
            return None;
        }
        let width = self.width_limbs();
        let result = inverse::modulo_power_of_two_of_any(self.slot(x), self.modulus.bits());
        self.limbs[out * width..][..width].copy_from_slice(&result);
        Some(())
    }

    /// outᵢ = xᵢ⁻¹ mod m as values for the lanes i < `count`, all read before any is written; 0 where there is no inverse. Panics on slots
    /// beyond the context.
    pub fn invert(&mut self, out: Strided, x: Strided, count: usize) {
        let inverses: Vec<Limb> = (0..count).flat_map(|lane| self.inverse_of(x.slot(lane))).collect();
        for (lane, inverse) in inverses.chunks_exact(self.width_limbs()).enumerate() {
            self.set_slot(out.slot(lane), inverse);
        }
    }

    /// out = Σ ± x·y mod m as values, over products of slots; bit i of `signs` is set if product i is subtracted. Panics on slots beyond the context and
    /// unless there are one to [`SUM_PRODUCTS_MAX`] products.
    #[inline]
    pub fn sum_products(&mut self, out: usize, signs: u8, products: &[[u16; 2]]) {
        assert!((1..=SUM_PRODUCTS_MAX).contains(&products.len()), "{} products are one to six", products.len());
        (self.kernels.sum)(self, out, signs, products);
    }

    /// outᵢ = xᵢ for the lanes i < `count`, as [`FieldContext::add`].
    pub fn copy(&mut self, out: Strided, x: Strided, count: usize) {
        backend::copy(self, out, x, count);
    }

    /// out = x·y in Fp2 with u² = −1, as values, in each of `count` lanes: out₀ = x₀·y₀ − x₁·y₁ and out₁ = x₀·y₁ + x₁·y₀ mod m. All lanes are read before any
    /// is written; of two results in one slot the later stays, out₀ before out₁. Panics on slots beyond the context.
    #[inline]
    pub fn mul_fp2(&mut self, out: Fp2Strided, x: Fp2Strided, y: Fp2Strided, count: usize) {
        let Some(last) = count.checked_sub(1) else { return };
        let named = [out, x, y].into_iter().flat_map(|operand| operand.slots(last)).fold(0, usize::max);
        assert!(named < self.slot_count, "slot {named} of {}", self.slot_count);
        (self.kernels.mul_fp2)(self, [out, x, y], count);
    }

    /// out = x·y in Fp6, as values. All operands are read before a result is written; of two results in one slot the later stays. Panics on slots beyond the context.
    #[inline]
    pub fn mul_fp6(&mut self, operands: &Fp6Slots) {
        let Fp6Slots { out, x, y, .. } = operands;
        let named = out.iter().chain(x).chain(y).copied().fold(0, usize::max);
        assert!(named < self.slot_count, "slot {named} of {}", self.slot_count);
        (self.kernels.mul_fp6)(self, operands);
    }

    /// The inverse of a slot's value in the form that slots have; 0 if there is none.
    fn inverse_of(&self, slot: usize) -> Vec<Limb> {
        let (width, m) = (self.width_limbs(), &self.modulus);
        let value = self.slot(slot);
        if m.is_canonical() || width > division_steps::WIDTH_LIMBS_MAX {
            let mut canonical = vec![0; width];
            m.from_mont(value, &mut canonical);
            let mut inverse = vec![0; width];
            if let Some(found) = m.inverse(&canonical) {
                m.to_mont(&found, &mut inverse);
            }
            return inverse;
        }
        // (aR)⁻¹ ↦ a⁻¹R, by R² twice.
        let mut inverse_and_factor = [m.to_form(); 2].concat();
        division_steps::invert_odd(value, m.limbs(), m.n0(), &mut inverse_and_factor[..width]);
        for _ in 0..2 {
            (self.kernels.mul.limbs)(&mut inverse_and_factor, 0, 0, width, m.limbs(), m.n0());
        }
        inverse_and_factor.truncate(width);
        inverse_and_factor
    }

    /// Loads the canonical values of the slots from `first_slot` on, [`FieldContext::element_bytes`] big-endian bytes each.
    /// Panics on slots beyond the context and part values.
    pub fn load(&self, first_slot: usize, out: &mut [u8]) {
        self.check_range(first_slot, out.len());
        let load = match (self.has_whole_limbs(), self.width_limbs()) {
            (true, _) => self.kernels.load,
            (false, 1) if self.modulus.is_odd() => transfer::load_one_limb,
            (false, _) => transfer::load_any_width,
        };
        load(self, first_slot, out);
    }

    /// True if two slots hold the same value. Each value has one form.
    pub fn equal(&self, x: usize, y: usize) -> bool {
        self.slot(x) == self.slot(y)
    }

    /// True if the value of slot x is less than that of slot y, as integers in 0, …, m − 1.
    pub fn less(&self, x: usize, y: usize) -> bool {
        (self.kernels.less)(self, x, y)
    }

    /// The limbs of a slot as they are held: Montgomery form, or canonical form modulo a power of two.
    pub fn slot(&self, slot: usize) -> &[Limb] {
        assert!(slot < self.slot_count, "slot {slot} lies inside the context");
        &self.limbs[slot * self.width_limbs()..][..self.width_limbs()]
    }

    /// Sets a slot to limbs in the form that it holds. Panics unless they are below the modulus.
    pub fn set_slot(&mut self, slot: usize, limbs: &[Limb]) {
        assert!(slot < self.slot_count, "slot {slot} lies inside the context");
        assert!(less_than(limbs, self.modulus.limbs()), "a slot stays below the modulus");
        let width = self.width_limbs();
        self.limbs[slot * width..][..width].copy_from_slice(limbs);
    }

    /// True if values at the boundary are as long as their slots.
    fn has_whole_limbs(&self) -> bool {
        self.element_bytes == self.width_limbs() * LIMB_BYTES
    }

    /// (x, y) ↦ x·y·R⁻¹ mod m, by limb offsets; for powers of two x·y mod m.
    pub(crate) fn product(&self) -> fn(&mut [Limb], usize, usize, usize, &[Limb], Limb) {
        self.kernels.mul.limbs
    }

    /// The addition and the subtraction of slots, staging slots too.
    pub(crate) fn additions(&self) -> [fn(&mut FieldContext, usize, usize, usize); 2] {
        [self.kernels.add.one, self.kernels.sub.one]
    }

    /// The limbs of all slots.
    #[inline]
    pub(crate) fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// Operands of a kernel: limbs of the slots, and the modulus.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut [Limb], &Modulus) {
        (&mut self.limbs, &self.modulus)
    }

    /// The first of `count` slots after the context's own, where results wait until all lanes are read.
    pub(crate) fn staging(&mut self, count: usize) -> usize {
        self.limbs.resize((self.slot_count + count) * self.width_limbs(), 0);
        self.slot_count
    }

    /// Leaves only the context's own slots.
    pub(crate) fn drop_staging(&mut self) {
        self.limbs.truncate(self.slot_count * self.width_limbs());
    }

    /// One lane of a kernel without a call.
    #[inline(always)]
    fn run_inline<K: Kernel>(&mut self, width: usize, out: Strided, x: Strided, y: Strided) {
        let [out, x, y] = [out, x, y].map(|operand| operand.index * width);
        K::run(&mut self.limbs, out, x, y, self.modulus.limbs(), self.modulus.n0());
    }

    #[inline]
    fn run(&mut self, operation: Operation, out: Strided, x: Strided, y: Strided, count: usize) {
        if count == 1 {
            (operation.one)(self, out.index, x.index, y.index);
        } else if count > 1 {
            for operand in [out, x, y] {
                let last = operand.stride.checked_mul(count - 1).and_then(|reach| reach.checked_add(operand.index));
                assert!(last.is_some_and(|last| last < self.slot_count), "slots lie inside the context");
            }
            (operation.lanes)(self, out, x, y, count);
        }
    }

    fn check_range(&self, first_slot: usize, bytes: usize) {
        assert!(bytes.is_multiple_of(self.element_bytes()), "{bytes} bytes are whole values");
        let last = first_slot.checked_add(bytes / self.element_bytes());
        assert!(last.is_some_and(|last| last <= self.slot_count), "slots lie inside the context");
    }
}

impl fmt::Debug for FieldContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldContext").field("modulus", &self.modulus).field("slot_count", &self.slot_count).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modulus(is_odd: bool, width_limbs: usize) -> Modulus {
        Modulus::with_width(&[1, u8::from(is_odd)], width_limbs).unwrap()
    }

    #[test]
    fn additions_are_inlined_for_odd_moduli_of_four_and_six_limbs() {
        for width_limbs in 1..=13 {
            let shape = |is_odd| FieldContext::new(modulus(is_odd, width_limbs), 3).shape;
            assert!(match width_limbs {
                4 => matches!(shape(true), Shape::Odd4),
                6 => matches!(shape(true), Shape::Odd6),
                _ => matches!(shape(true), Shape::Other),
            });
            assert!(matches!(shape(false), Shape::Other), "powers of two have kernels of their own");
            let portable = FieldContext::portable(modulus(true, width_limbs), 3);
            assert!(matches!(portable.shape, Shape::Other));
        }
    }

    #[test]
    fn a_portable_context_has_portable_kernels() {
        for width_limbs in [4, 5, 6, 12, 13] {
            let portable = FieldContext::portable(modulus(true, width_limbs), 3);
            let of =
                |kernels: Kernels| [kernels.add, kernels.sub, kernels.mul].map(|operation| operation.limbs as usize);
            assert_eq!(of(portable.kernels), of(backend::portable_kernels(width_limbs)));
        }
    }

    #[test]
    fn staging_slots_lie_after_the_others_and_go() {
        let mut context = FieldContext::new(modulus(true, 5), 3);
        assert_eq!((context.limbs.len(), context.staging(4), context.limbs.len()), (15, 3, 35));
        context.drop_staging();
        assert_eq!(context.limbs.len(), 15);
    }

    #[test]
    fn messages_name_the_modulus_and_the_slots() {
        let text = format!("{:?}", FieldContext::new(modulus(true, 1), 3));
        assert!(text.contains("slot_count: 3") && text.contains("limbs: [257]"), "{text}");
    }
}
