//! The straight loops without an EVM: our kernels as they are offered to the engine, their twins in plain Rust, blst's routines,
//! and two big-integer libraries in plain Rust, the role that one in plain C had in 2020: crypto-bigint has Montgomery form, num-bigint divides.
//!
//! The slots are known when this is compiled and sixteen operations are written out, so that next to nothing but the
//! operations is left: as a program in the layer's own language would have it.

use std::hint::black_box;

use blst::{blst_fp, blst_fr};
use crypto_bigint::Uint;
use crypto_bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
use num_bigint::BigUint;
use residue_isa::FieldOp;
use residue_modular::evm384::{self, VALUE_BYTES};
use residue_modular::limbs::LIMB_BYTES;
use residue_modular::{FieldContext, Modulus, Strided};
use residue_workbench::harness::Subject;

use super::straight::{BODY, Field, Form, Operands, PAIRS, SLOTS, Straight};
use super::{Layer, SUBJECTS};
use crate::bench::effort::Effort;
use crate::native::field::NativeField;
use crate::opcodes::to_be;

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
    let contexts = [
        ("modular", FieldContext::new as fn(Modulus, usize) -> FieldContext),
        ("modular:portable", FieldContext::portable),
    ];
    for (name, context) in contexts.into_iter().filter(|(name, _)| is_chosen(name)) {
        let mut context = context(operands.modulus.clone(), SLOTS);
        context.store(0, &operands.to_be(&operands.values)).expect("the values are below the modulus");
        layers.push(layer(name, &["blst"], context, be, operands, turns));
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
    if is_chosen("crypto-bigint") {
        const NAME: &str = "crypto-bigint";
        match width_limbs {
            4 => layers.push(layer(NAME, &["blst"], Residues::<4>::of(operands), be, operands, turns)),
            6 => layers.push(layer(NAME, &["blst"], Residues::<6>::of(operands), be, operands, turns)),
            12 => layers.push(layer(NAME, &["blst"], Residues::<12>::of(operands), be, operands, turns)),
            _ => {}
        }
    }
    if is_chosen("num-bigint") {
        let slots = Integers { m: operands.m(), width_limbs, values: operands.values.clone() };
        layers.push(layer("num-bigint", &["blst"], slots, be, operands, turns));
    }
    layers
}

/// Memory of an EVM384 program: modulus, r_inv, slots.
fn memory_image(operands: &Operands) -> Vec<u8> {
    let modulus: Vec<u8> = operands.modulus.limbs().iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let r_inv = operands.modulus.n0().to_le_bytes();
    [&modulus[..], &r_inv, &operands.to_mont_le(&operands.values)].concat()
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
        (FieldOp::Add, Form::Dependent) => repeat!(turns, slots.add, Form::Dependent),
        (FieldOp::Add, Form::Independent) => repeat!(turns, slots.add, Form::Independent),
        (FieldOp::Sub, Form::Dependent) => repeat!(turns, slots.sub, Form::Dependent),
        (FieldOp::Sub, Form::Independent) => repeat!(turns, slots.sub, Form::Independent),
        (FieldOp::Mul, Form::Dependent) => repeat!(turns, slots.mul, Form::Dependent),
        (FieldOp::Mul, Form::Independent) => repeat!(turns, slots.mul, Form::Independent),
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

/// Offset of its slots.
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

/// Values of crypto-bigint's in Montgomery form, under a modulus that it is told at run time.
#[derive(Clone)]
struct Residues<const N: usize>([DynResidue<N>; SLOTS]);

impl<const N: usize> Residues<N> {
    fn of(operands: &Operands) -> Self {
        let uint = |value: &BigUint| Uint::<N>::from_be_slice(&to_be(value, N * LIMB_BYTES));
        let params = DynResidueParams::new(&uint(&operands.m()));
        Self(std::array::from_fn(|slot| DynResidue::new(&uint(&operands.values[slot]), params)))
    }
}

impl<const N: usize> Slots for Residues<N> {
    #[inline(always)]
    fn add(&mut self, out: usize, x: usize, y: usize) {
        self.0[out] = self.0[x].add(&self.0[y]);
    }

    #[inline(always)]
    fn sub(&mut self, out: usize, x: usize, y: usize) {
        self.0[out] = self.0[x].sub(&self.0[y]);
    }

    #[inline(always)]
    fn mul(&mut self, out: usize, x: usize, y: usize) {
        self.0[out] = self.0[x].mul(&self.0[y]);
    }

    fn read(&self) -> Vec<u8> {
        self.0
            .iter()
            .flat_map(|value| value.retrieve().to_words().into_iter().rev().flat_map(u64::to_be_bytes))
            .collect()
    }
}

/// Integers of num-bigint's, canonical, of any size.
#[derive(Clone)]
struct Integers {
    m: BigUint,
    width_limbs: usize,
    values: Vec<BigUint>,
}

impl Slots for Integers {
    #[inline(always)]
    fn add(&mut self, out: usize, x: usize, y: usize) {
        let sum = &self.values[x] + &self.values[y];
        self.values[out] = if sum < self.m { sum } else { sum - &self.m };
    }

    #[inline(always)]
    fn sub(&mut self, out: usize, x: usize, y: usize) {
        let (x, y) = (&self.values[x], &self.values[y]);
        self.values[out] = if x < y { x + &self.m - y } else { x - y };
    }

    #[inline(always)]
    fn mul(&mut self, out: usize, x: usize, y: usize) {
        self.values[out] = &self.values[x] * &self.values[y] % &self.m;
    }

    fn read(&self) -> Vec<u8> {
        self.values.iter().flat_map(|value| to_be(value, self.width_limbs * LIMB_BYTES)).collect()
    }
}
