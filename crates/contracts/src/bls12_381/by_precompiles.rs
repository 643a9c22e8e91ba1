//! BLS signatures by the precompiles of EIP-2537, where code may call them: square roots by MODEXP, maps to the curve, sums of keys, and the check of two
//! pairs, which refuses points outside of their groups.
//!
//! The pairs stand at the beginning of scratch memory, then an input of MODEXP, elements to map, and two points that are added. An element has 64
//! bytes, of which the first 16 are zeros.

use super::ENCODING;
use crate::encoding::unless_return_zero;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::hash_to_curve::{Message, hash_to_field, reduce_wide};
use residue_curves::bls12_381::{Fp2, root_exponent};
use residue_ir::{Feature, Machine, WordOp};
use residue_isa::precompile::{
    BLS12_G1ADD, BLS12_G2ADD, BLS12_MAP_FP_TO_G1, BLS12_MAP_FP2_TO_G2, BLS12_PAIRING_CHECK, MODEXP,
};
use ruint::aliases::U256;

const ELEMENT: u32 = 64;
const G1: u32 = 2 * ELEMENT;
const G2: u32 = 4 * ELEMENT;
const PAIR: u32 = G1 + G2;
/// Input of MODEXP: three lengths, base, exponent and modulus in [`POWER`] bytes each.
const MODEXP_AT: u32 = 2 * PAIR;
const POWER: u32 = 48;
const EXPONENT_AT: u32 = MODEXP_AT + 3 * 32 + POWER;
/// The power, which 16 bytes of zeros stand before.
const POWER_AT: u32 = EXPONENT_AT + 2 * POWER + 16;
const MAPPED_AT: u32 = POWER_AT + POWER;
const POINTS_AT: u32 = MAPPED_AT + 2 * ELEMENT;
const END: u32 = POINTS_AT + 2 * G2;

/// Place of a point in the pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u32);

/// The points of both pairs, G1 before G2.
pub(crate) const PAIRS: [[Place; 2]; 2] = [[Place(0), Place(G1)], [Place(PAIR), Place(PAIR + G1)]];

/// Scratch memory of a check.
#[derive(Debug)]
pub(crate) struct Scratch<'a, M> {
    machine: &'a M,
}

/// 1 if code may call the precompiles, else 0.
pub(crate) fn are_there<M: Machine>(machine: &M) -> M::Word {
    // A fork that has the check has the others.
    machine.has(Feature::Precompile(BLS12_PAIRING_CHECK))
}

impl<'a, M: Machine> Scratch<'a, M> {
    /// Room for two pairs.
    pub(crate) fn new(machine: &'a M) -> Self {
        machine.scratch(END);
        Self { machine }
    }

    fn small(&self, value: u32) -> M::Word {
        self.machine.small(value.into())
    }

    fn call(&self, address: u16, (from, bytes): (u32, u32), to: u32, output_bytes: u32) -> M::Word {
        self.machine.precompile(address, (self.small(from), self.small(bytes)), (self.small(to), output_bytes))
    }

    fn words(&self, bytes: &[u8], to: u32) {
        for (word, to) in bytes.chunks(32).zip((to..).step_by(32)) {
            self.machine.set_scratch(self.small(to), self.machine.word(U256::from_be_slice(word)));
        }
    }

    fn element(&self, value: M::Fe, to: u32) {
        for (first_bit, to) in [(256, to), (0, to + 32)] {
            self.machine.set_scratch(self.small(to), self.machine.word_of(value, first_bit));
        }
    }

    fn taken(&self, from: u32) -> M::Fe {
        let [high, low] = [from, from + 32].map(|at| self.machine.scratch_word(self.small(at)));
        reduce_wide(self.machine, high, low)
    }

    /// Makes this the point of G1 at the place.
    pub(crate) fn g1(&self, place: Place, point: Affine<M::Fe>) {
        self.element(point.x, place.0);
        self.element(point.y, place.0 + ELEMENT);
    }

    /// Makes this the point of G2 at the place.
    pub(crate) fn g2(&self, place: Place, point: Affine<Fp2<M::Fe>>) {
        for (value, to) in [(point.x, place.0), (point.y, place.0 + 2 * ELEMENT)] {
            self.element(value.c0, to);
            self.element(value.c1, to + ELEMENT);
        }
    }

    /// Makes a known point the one at the place: its elements in their order.
    pub(crate) fn known(&self, place: Place, elements: &[BigUint]) {
        let bytes: Vec<u8> = elements.iter().flat_map(|value| ENCODING.encoded(value)).collect();
        self.words(&bytes, place.0);
    }

    /// a ↦ a^((p − 3)/4), as a function.
    pub(crate) fn root_power(machine: &M, a: M::Fe) -> M::Fe {
        machine.function("fp_root_power_by_modexp", a, |machine, a| {
            let scratch = Scratch { machine };
            // The zeros of the base stand where the length of the modulus is written afterwards.
            scratch.element(a, EXPONENT_AT - ELEMENT);
            for length in 0..3 {
                machine.set_scratch(scratch.small(MODEXP_AT + 32 * length), scratch.small(POWER));
            }
            let padded = |value: BigUint| ENCODING.encoded(&value).split_off(16);
            scratch.words(&[padded(root_exponent()), padded(modulus())].concat(), EXPONENT_AT);
            unless_return_zero(machine, scratch.call(MODEXP, (MODEXP_AT, POWER_AT - 16 - MODEXP_AT), POWER_AT, POWER));
            scratch.taken(POWER_AT - 16)
        })
    }

    /// Makes the point of G1 at the place the hash of a message.
    pub(crate) fn hash_to_g1(&self, place: Place, message: &Message<M::Word>) {
        self.hash(place, message, (1, BLS12_MAP_FP_TO_G1, BLS12_G1ADD));
    }

    /// Makes the point of G2 at the place the hash of a message.
    pub(crate) fn hash_to_g2(&self, place: Place, message: &Message<M::Word>) {
        self.hash(place, message, (2, BLS12_MAP_FP2_TO_G2, BLS12_G2ADD));
    }

    /// RFC 9380, §3. Maps clear the cofactor, and a sum of points of the group is one.
    fn hash(&self, place: Place, message: &Message<M::Word>, (degree, map, add): (u32, u16, u16)) {
        let elements = hash_to_field(self.machine, message, 2 * degree as usize);
        let point = 2 * degree * ELEMENT;
        for number in 0..2 {
            for coefficient in 0..degree {
                let value = self.machine.load(elements, self.small(number * degree + coefficient));
                self.element(value, MAPPED_AT + coefficient * ELEMENT);
            }
            let mapped = self.call(map, (MAPPED_AT, degree * ELEMENT), POINTS_AT + number * point, point);
            unless_return_zero(self.machine, mapped);
        }
        unless_return_zero(self.machine, self.call(add, (POINTS_AT, 2 * point), place.0, point));
    }

    /// Adds a point of G1 to the sum, which is the identity at first; returns 0 if it is not on the curve.
    pub(crate) fn add(&self, point: Affine<M::Fe>) {
        self.g1(Place(POINTS_AT + G1), point);
        self.add_term();
    }

    /// Adds the point of x and y in 48 bytes each, from this byte of calldata on; returns 0 if it is not on the curve, or zeros.
    pub(crate) fn add_calldata(&self, offset: M::Word) {
        let after = |bytes: u32| self.machine.word_op(WordOp::Add, offset, self.small(bytes));
        for (from, to) in [(offset, 0), (after(POWER), ELEMENT)] {
            self.machine.copy_calldata(self.small(POINTS_AT + G1 + to + 16), from, self.small(POWER));
        }
        // The precompile takes zeros for the identity.
        let words = (0..G1).step_by(32).map(|byte| self.machine.scratch_word(self.small(POINTS_AT + G1 + byte)));
        let any = words.reduce(|any, word| self.machine.word_op(WordOp::Or, any, word)).expect("a point has words");
        unless_return_zero(self.machine, any);
        self.add_term();
    }

    fn add_term(&self) {
        unless_return_zero(self.machine, self.call(BLS12_G1ADD, (POINTS_AT, 2 * G1), POINTS_AT, G1));
    }

    /// The sum of what was added, zeros for the identity: as a key that has signed nothing but the identity.
    pub(crate) fn sum(&self) -> Affine<M::Fe> {
        Affine::new(self.taken(POINTS_AT), self.taken(POINTS_AT + ELEMENT))
    }

    /// 1 if the product of both pairings is one; 0 if it is not, or if a point is none of its group.
    pub(crate) fn check(&self) -> M::Word {
        let succeeded = self.call(BLS12_PAIRING_CHECK, (0, 2 * PAIR), 0, 32);
        // Where it failed the word is another, and masked.
        let is_one = self.machine.scratch_word(self.small(0));
        self.machine.word_op(WordOp::And, succeeded, is_one)
    }
}
