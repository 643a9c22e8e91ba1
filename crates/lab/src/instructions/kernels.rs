//! The straight loops without an EVM: our kernels as they are offered to the engine, and blst's routines.
//!
//! The slots are known when this is compiled and sixteen operations are written out, so that next to nothing but the
//! operations is left: as a program in the layer's own language would have it.

use std::hint::black_box;

use blst::{blst_fp, blst_fr};
use num_bigint::BigUint;
use residue_isa::Arithmetic;
use residue_modular::evm384::{self, VALUE_BYTES};
use residue_modular::{FieldContext, Strided};

use super::bytecode::memory_image;
use super::straight::{BODY, Field, Form, Operands, PAIRS, SLOTS, Straight};
use super::{Layer, SUBJECTS};
use crate::group::Effort;
use crate::harness::Subject;
use crate::native::field::NativeField;

/// Slots of one layer.
trait Slots: Clone + 'static {
    /// out = x + y.
    fn add(&mut self, out: usize, x: usize, y: usize);
    /// out = x − y.
    fn sub(&mut self, out: usize, x: usize, y: usize);
    /// out = x·y.
    fn mul(&mut self, out: usize, x: usize, y: usize);
    /// All slots, in an encoding of the layer's.
    fn read(&self) -> Vec<u8>;
}

/// The chosen layers that have the modulus of these operands.
pub fn layers(operands: &Operands, effort: &Effort) -> Vec<Layer> {
    let turns = effort.turns;
    let is_chosen = |name: &str| effort.subjects.include(name);
    let be = |values: &[BigUint]| operands.to_be(values);
    let width_limbs = operands.modulus.width_limbs();
    let mut layers = Vec::new();
    if is_chosen("modular") {
        let mut context = FieldContext::new(operands.modulus.clone(), SLOTS);
        context.store(0, &operands.to_be(&operands.values)).expect("the values are below the modulus");
        layers.push(layer("modular", &["blst"], context, be, operands, turns));
    }
    if is_chosen("modular:evm384") && width_limbs == evm384::WIDTH_LIMBS {
        let in_memory = InMemory(memory_image(operands));
        let mont = |values: &[BigUint]| operands.to_mont_le(values);
        layers.push(layer("modular:evm384", &["blst"], in_memory, mont, operands, turns));
    }
    match operands.field {
        Some(Field::Fr) if is_chosen("blst") => {
            layers.push(layer("blst", &[], native::<blst_fr>(operands), be, operands, turns));
        }
        Some(Field::Fp) if is_chosen("blst") => {
            layers.push(layer("blst", &[], native::<blst_fp>(operands), be, operands, turns));
        }
        _ => {}
    }
    layers
}

/// A layer of `slots`; `encode` is what [`Slots::read`] makes of canonical values.
fn layer<S: Slots>(
    name: &str,
    baselines: &'static [&'static str],
    slots: S,
    encode: impl Fn(&[BigUint]) -> Vec<u8>,
    operands: &Operands,
    turns: usize,
) -> Layer {
    let mut subjects = Vec::with_capacity(SUBJECTS);
    let width_bits = operands.width_bits();
    let untouched = slots.clone();
    let nothing = move || black_box(untouched.clone()).read();
    subjects.push(Subject::new(format!("{name}/nothing/{width_bits}"), &encode(&operands.values), nothing));
    for straight in Straight::ALL {
        let slots = slots.clone();
        let expected = encode(&straight.expected(operands, turns));
        let name = format!("{name}/{} {:?}/{width_bits}", straight.operation, straight.form);
        subjects.push(Subject::new(name, &expected, move || run(slots.clone(), straight, turns).read()));
    }
    Layer { name: name.to_owned(), baselines, subjects, gas: None }
}

/// Writes out sixteen operations of `turns * BODY`, with the slots of a form as constants.
///
/// A macro, so that nothing stands between the loop and the operation: closures and paths to functions were called
/// through shims, which cost as much as an addition.
macro_rules! repeat {
    ($turns:expr, $slots:ident.$operation:ident, $form:expr) => {
        for _ in 0..$turns * (BODY / PAIRS) {
            repeat!(@ $slots.$operation, $form, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            // Without this an optimiser might see that independent results are computed again.
            black_box(&mut $slots);
        }
    };
    (@ $slots:ident.$operation:ident, $form:expr, $($index:literal)*) => {$({
        const SLOTS: [usize; 3] = $form.slots($index);
        let [out, x, y] = SLOTS;
        $slots.$operation(out, x, y);
    })*};
}

/// The slots after `turns` turns.
fn run<S: Slots>(mut slots: S, straight: Straight, turns: usize) -> S {
    match (straight.operation, straight.form) {
        (Arithmetic::Add, Form::Dependent) => repeat!(turns, slots.add, Form::Dependent),
        (Arithmetic::Add, Form::Independent) => repeat!(turns, slots.add, Form::Independent),
        (Arithmetic::Sub, Form::Dependent) => repeat!(turns, slots.sub, Form::Dependent),
        (Arithmetic::Sub, Form::Independent) => repeat!(turns, slots.sub, Form::Independent),
        (Arithmetic::Mul, Form::Dependent) => repeat!(turns, slots.mul, Form::Dependent),
        (Arithmetic::Mul, Form::Independent) => repeat!(turns, slots.mul, Form::Independent),
    }
    slots
}

impl Slots for FieldContext {
    #[inline(always)]
    fn add(&mut self, out: usize, x: usize, y: usize) {
        FieldContext::add(self, Strided::contiguous(out), Strided::contiguous(x), Strided::contiguous(y), 1);
    }

    #[inline(always)]
    fn sub(&mut self, out: usize, x: usize, y: usize) {
        FieldContext::sub(self, Strided::contiguous(out), Strided::contiguous(x), Strided::contiguous(y), 1);
    }

    #[inline(always)]
    fn mul(&mut self, out: usize, x: usize, y: usize) {
        FieldContext::mul(self, Strided::contiguous(out), Strided::contiguous(x), Strided::contiguous(y), 1);
    }

    fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; SLOTS * self.element_bytes()];
        self.load(0, &mut bytes);
        bytes
    }
}

/// EVM memory with modulus, r_inv and slots, as an EVM384 program has it.
#[derive(Clone)]
struct InMemory(Vec<u8>);

/// Where its slots begin.
const SLOTS_AT: usize = VALUE_BYTES + 8;

/// Byte offsets of slots.
#[inline(always)]
fn offsets(slots: [usize; 3]) -> [usize; 3] {
    slots.map(|slot| SLOTS_AT + slot * VALUE_BYTES)
}

impl Slots for InMemory {
    #[inline(always)]
    fn add(&mut self, out: usize, x: usize, y: usize) {
        let [out, x, y] = offsets([out, x, y]);
        evm384::add_in_memory(&mut self.0, out, x, y, 0);
    }

    #[inline(always)]
    fn sub(&mut self, out: usize, x: usize, y: usize) {
        let [out, x, y] = offsets([out, x, y]);
        evm384::sub_in_memory(&mut self.0, out, x, y, 0);
    }

    #[inline(always)]
    fn mul(&mut self, out: usize, x: usize, y: usize) {
        let [out, x, y] = offsets([out, x, y]);
        evm384::mul_in_memory(&mut self.0, out, x, y, 0);
    }

    fn read(&self) -> Vec<u8> {
        self.0[SLOTS_AT..].to_vec()
    }
}

/// Values of blst's.
#[derive(Clone)]
struct Native<V>([V; SLOTS]);

fn native<V: NativeField + 'static>(operands: &Operands) -> Native<V> {
    let mut values = [V::default(); SLOTS];
    for (native, value) in values.iter_mut().zip(&operands.values) {
        *native = V::from_be(&operands.to_be(std::slice::from_ref(value)));
    }
    Native(values)
}

impl<V: NativeField + 'static> Slots for Native<V> {
    #[inline(always)]
    fn add(&mut self, out: usize, x: usize, y: usize) {
        V::add(&mut self.0, out, x, y);
    }

    #[inline(always)]
    fn sub(&mut self, out: usize, x: usize, y: usize) {
        V::sub(&mut self.0, out, x, y);
    }

    #[inline(always)]
    fn mul(&mut self, out: usize, x: usize, y: usize) {
        V::mul(&mut self.0, out, x, y);
    }

    fn read(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_be()).collect()
    }
}
