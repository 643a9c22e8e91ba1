//! Moduli of more than three words: numbers of limbs.
//!
//! A limb is 46 bytes of a number, held in a ring that is wide enough for sums of products of two: nothing is ever reduced modulo the ring's own
//! modulus. The modulus m is shifted to the top of N limbs, m' = m·2ˢ, so that one estimate serves every quotient; the power modulo m'
//! is multiplied by 2ˢ, reduced once more and shifted back, which makes it that modulo m. Nothing asks whether m is odd.

mod exponent;
mod limbs;
mod reduction;
mod rolled;

use super::State;
use super::calldata::{Calldata, Operand};
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use exponent::{NUMBERS, Steps};
use limbs::{LIMB_BITS, LIMB_BYTES};
use num_bigint::BigUint;
use reduction::{Products, Reduction};
use residue_ir::{Array, Capacity, Feature, Machine, Variable};
use rolled::Rolled;

/// The most limbs that there is code for.
const LIMBS_MAX: usize = 23;
/// Zeros at the top of a shifted modulus: remainders that are not the least ones have room above it.
const FREE_BITS: usize = 3;
/// Room for any output.
const OUTPUT_BYTES: u32 = 1088;
const _: () = assert!(LIMB_BITS * LIMBS_MAX - FREE_BITS >= 8 * 1024, "the longest modulus fits");
const _: () = assert!(OUTPUT_BYTES as usize >= LIMB_BYTES * LIMBS_MAX, "the longest output fits");

/// Names of the subprograms for one number of limbs: over a power of two, and over an odd number.
type Names = [&'static str; 2];

/// Length of the code for products.
#[derive(Clone, Copy)]
enum Extent {
    /// Each product of two limbs is written out.
    Written,
    /// The same beside code in loops, whose memory comes after that of the program.
    Beside,
    /// Limbs are turns of loops.
    Rolled,
}

impl Extent {
    /// Arrays for limbs, N at least, and for numbers, of which `last` has the number of the last one.
    fn arrays<M: Machine, const N: usize>(self, machine: &M, last: Variable) -> (Array<M::Fe>, Array<[M::Fe; N]>) {
        let fixed = |count: usize| Capacity::Fixed(count as u32); // it is small
        let names = match self {
            Self::Written => ["limbs", "numbers"],
            Self::Rolled => ["limbs in loops", "numbers in loops"],
            Self::Beside => return (machine.array("limbs", fixed(N)), machine.array("numbers", fixed(N + NUMBERS))),
        };
        let [limbs, numbers] = names;
        let (limbs, numbers) = (machine.array(limbs, Capacity::Unbounded), machine.array(numbers, Capacity::Unbounded));
        let w = Words(machine);
        let room = machine.bind(w.add(machine.get(last), w.number(1)));
        machine.reserve(limbs, room);
        machine.reserve(numbers, room);
        (limbs, numbers)
    }
}

/// Variables computed before the numbers are split into limbs.
#[derive(Clone, Copy)]
struct Plan {
    /// s / 368 for the shift s of the modulus, and what is left of it.
    shift: [Variable; 2],
    /// For one [`Steps`].
    steps: Steps,
}

impl Plan {
    fn shift_by<M: Machine>(&self, machine: &M, bits: M::Word) {
        let w = Words(machine);
        let (bits, limb_bits) = (machine.bind(bits), w.number(LIMB_BITS as u64)); // usize to u64 widens
        machine.set(self.shift[0], w.div(bits, limb_bits));
        machine.set(self.shift[1], w.modulo(bits, limb_bits));
    }
}

/// Puts the bits of the exponent into [`State::digits`]; words of [`State::odd`] are changed.
pub(super) fn exponent_bits<M: Machine>(machine: &M, state: State) {
    bit_length(machine, Calldata::read(machine).exponent, state.digits, [state.odd[0], state.odd[1]]);
}

/// Puts the bits of the modulus into the last word of [`State::result`], for [`text`]; words of [`State::odd`] are changed.
pub(super) fn bits<M: Machine>(machine: &M, state: State) {
    bit_length(machine, Calldata::read(machine).modulus, state.result[2], [state.odd[0], state.odd[1]]);
}

/// Returns the result for a modulus of at most 1024 bytes that is not 0.
pub(super) fn text<M: Machine>(machine: &M, state: State) {
    let [odd, mask] = [state.odd, state.mask];
    let steps = Steps {
        mode: state.kind,
        count: mask[2],
        exponent: state.exponent,
        place: state.base,
        squares: odd[0],
        from: odd[1],
        factor: odd[2],
        to: mask[1],
        last: mask[0],
    };
    let plan = Plan { shift: [state.result[0], state.result[1]], steps };
    let bits = state.result[2];
    steps.prepare(machine);
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| in_short_code(machine, plan, bits),
        |machine| {
            // RSA has 1024, 2048, 3072 and 4096 bits; EIP-7823 allows 8192.
            fits::<M, 3>(machine, plan, bits, ["3 limbs", "3 limbs, odd ring"], |machine| {
                fits::<M, 6>(machine, plan, bits, ["6 limbs", "6 limbs, odd ring"], |machine| {
                    fits::<M, 9>(machine, plan, bits, ["9 limbs", "9 limbs, odd ring"], |machine| {
                        fits::<M, 12>(machine, plan, bits, ["12 limbs", "12 limbs, odd ring"], |machine| {
                            enter::<M, LIMBS_MAX>(machine, plan, bits, ["23 limbs", "23 limbs, odd ring"]);
                        });
                    });
                });
            });
        },
    );
}

/// Bits of the longest modulus of so many limbs, shifted by no bit at least.
const fn most_bits(limbs: usize) -> u64 {
    (LIMB_BITS * limbs - FREE_BITS) as u64 // usize to u64 widens
}

/// Returns the result with code for two numbers of limbs, in one subprogram: RSA has 2048 bits.
fn in_short_code<M: Machine>(machine: &M, plan: Plan, bits: Variable) {
    const WRITTEN: usize = 6;
    let w = Words(machine);
    let is_longer = machine.bind(w.is_below(w.number(most_bits(WRITTEN)), machine.get(bits)));
    let more = w.mul(is_longer, w.number(most_bits(LIMBS_MAX) - most_bits(WRITTEN)));
    let most = w.add(w.number(most_bits(WRITTEN)), more);
    plan.shift_by(machine, w.sub(most, machine.get(bits)));
    machine.set(bits, is_longer);
    in_ring(machine, ["limbs", "limbs, odd ring"], |machine| {
        machine.branch(
            machine.get(bits),
            |machine| power::<M, LIMBS_MAX>(machine, plan, Extent::Rolled),
            |machine| power::<M, WRITTEN>(machine, plan, Extent::Beside),
        );
    });
}

/// Enters the subprogram for N limbs if the modulus, shifted by no bit at least, fits them.
fn fits<M: Machine, const N: usize>(machine: &M, plan: Plan, bits: Variable, names: Names, otherwise: impl FnOnce(&M)) {
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(most_bits(N)), machine.get(bits)),
        |machine| otherwise(machine),
        |machine| enter::<M, N>(machine, plan, bits, names),
    );
}

fn enter<M: Machine, const N: usize>(machine: &M, plan: Plan, bits: Variable, names: Names) {
    let w = Words(machine);
    plan.shift_by(machine, w.sub(w.number(most_bits(N)), machine.get(bits)));
    in_ring(machine, names, |machine| power::<M, N>(machine, plan, Extent::Written));
}

/// Does `text` in a subprogram whose modulus is a ring's. Any one from 2⁷⁶² on would do; powers of two are cheaper to load and store.
fn in_ring<M: Machine>(machine: &M, names: Names, text: impl Fn(&M)) {
    let power_of_two = BigUint::from(1u8) << 767u32;
    machine.branch(
        machine.has(Feature::PowersOfTwo),
        |machine| machine.over(names[0], &power_of_two, &text),
        |machine| machine.over(names[1], &(&power_of_two - 1u8), &text),
    );
}

/// Puts the bits of the number into `bits`, which is 0 for 0; the scratch variables, which are the same ones for all numbers, may be changed. Short code
/// has this once.
fn bit_length<M: Machine>(machine: &M, operand: Operand<M::Word>, bits: Variable, scratch: [Variable; 2]) {
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| {
            machine.put(limbs::OPERAND[0], operand.at);
            machine.put(limbs::OPERAND[1], operand.bytes);
            machine.function("bit length", (), |machine, ()| {
                let [at, bytes, _] = limbs::OPERAND.map(|cell| machine.bind(machine.at(cell)));
                bit_length_of(machine, Operand { at, bytes }, scratch[1], scratch[0]);
            });
            machine.set(bits, machine.get(scratch[1]));
        },
        |machine| bit_length_of(machine, operand, bits, scratch[0]),
    );
}

fn bit_length_of<M: Machine>(machine: &M, operand: Operand<M::Word>, bits: Variable, scratch: Variable) {
    let w = Words(machine);
    let rest = machine.bind(operand.rest(machine));
    word_bits(machine, operand.first(machine), 128, bits, scratch);
    machine.branch(
        machine.get(bits),
        |machine| {
            let w = Words(machine);
            machine.set(bits, w.add(machine.get(bits), w.mul(rest, w.number(256))));
        },
        |_| (),
    );
    // The other words, if the first one is 0.
    let turns = machine.bind(w.mul(rest, machine.not(machine.get(bits))));
    machine.repeat(turns, (), |machine, turn, ()| {
        let word = operand.nth_last(machine, Words(machine).sub(rest, turn));
        machine.branch(
            w.mul(machine.not(machine.get(bits)), w.is_below(w.number(0), word)),
            |machine| {
                let w = Words(machine);
                word_bits(machine, operand.nth_last(machine, w.sub(rest, turn)), 128, bits, scratch);
                let after = w.sub(w.sub(rest, turn), w.number(1));
                machine.set(bits, w.add(machine.get(bits), w.mul(after, w.number(256))));
            },
            |_| (),
        );
    });
}

/// Puts the bits of a word of at most 2·`half`, a power of two, into `bits`; `scratch` may be changed.
fn word_bits<M: Machine>(machine: &M, word: M::Word, half: u64, bits: Variable, scratch: Variable) {
    machine.branch(
        machine.has(Feature::LeadingZeros),
        |machine| machine.set(bits, Words(machine).sub(machine.small(256), machine.leading_zeros(word))),
        |machine| word_bits_without_clz(machine, word, half, bits, scratch),
    );
}

/// The same without an opcode that counts zeros.
fn word_bits_without_clz<M: Machine>(machine: &M, word: M::Word, half: u64, bits: Variable, scratch: Variable) {
    let w = Words(machine);
    machine.set(scratch, word);
    machine.set(bits, w.number(0));
    if half == 128 {
        // Moduli begin with a bit that is 1, as a rule.
        return machine.branch(
            w.high(machine.get(scratch), 255),
            |machine| machine.set(bits, machine.small(256)),
            |machine| word_bits_by_halves(machine, half, bits, scratch),
        );
    }
    word_bits_by_halves(machine, half, bits, scratch);
}

/// The same, once `scratch` holds the word and `bits` 0.
fn word_bits_by_halves<M: Machine>(machine: &M, half: u64, bits: Variable, scratch: Variable) {
    let w = Words(machine);
    let halves = std::iter::successors(Some(half), |half| Some(half / 2)).take_while(|&half| half > 0);
    for half in halves {
        let has = w.is_below(w.number(0), w.high(machine.get(scratch), half));
        let above = machine.bind(w.mul(has, w.number(half)));
        machine.set(scratch, w.shr(machine.get(scratch), above));
        machine.set(bits, w.add(machine.get(bits), above));
    }
    machine.set(bits, w.add(machine.get(bits), machine.get(scratch)));
}

/// Returns the power.
fn power<M: Machine, const N: usize>(machine: &M, plan: Plan, extent: Extent) {
    plan.steps.begin::<M, N>(machine);
    let (limbs, numbers) = extent.arrays::<M, N>(machine, plan.steps.last);
    let [limb_shift, bit_shift] = plan.shift;
    let factor = limbs::power_of_two(machine, machine.get(bit_shift));
    let offset = machine.get(limb_shift);
    let raw: [M::Fe; N] = limbs::read(machine, limbs, |machine, place| {
        let modulus = Calldata::read(machine).modulus;
        limbs::limb(machine, modulus, Words(machine).sub(place, offset))
    });
    let columns = raw.map(|limb| limb * factor);
    match extent {
        Extent::Written | Extent::Beside => {
            let modulus = limbs::normal(machine, columns).0;
            raise(machine, plan, &Reduction::new(machine, modulus, numbers, limbs), factor);
        }
        Extent::Rolled => {
            raise(machine, plan, &Rolled::new(machine, columns, (limbs, numbers), plan.steps.last), factor)
        }
    }
}

/// The same for m', given 2ᵇ for the bits b of the shift that are no limb.
fn raise<M: Machine, const N: usize>(machine: &M, plan: Plan, products: &impl Products<M, N>, factor: M::Fe) {
    let w = Words(machine);
    let (limbs, numbers) = (products.limbs(), products.numbers());
    // 2ˢ, by which the power is multiplied at the end.
    machine.repeat(w.number(N as u64), (), |machine, place, ()| machine.store(limbs, place, machine.zero())); // widens
    machine.store(limbs, machine.get(plan.shift[0]), factor);
    machine.store(numbers, machine.get(plan.steps.last), limbs::load(machine, limbs));

    let base = products.base(machine);
    machine.store(numbers, w.number(N as u64), base); // usize to u64 widens
    let power = plan.steps.power(machine, products, base);
    let power = products.least(machine, power);
    output(machine, plan, limbs, power);
}

/// Returns `number` / 2ˢ, which it is a multiple of.
fn output<M: Machine, const N: usize>(machine: &M, plan: Plan, limbs: Array<M::Fe>, number: [M::Fe; N]) {
    let w = Words(machine);
    for (place, limb) in (0..).zip(number) {
        machine.store(limbs, w.number(place), limb);
    }
    let [limb_shift, bit_shift] = plan.shift.map(|variable| machine.bind(machine.get(variable)));
    let factor = limbs::power_of_two(machine, w.sub(w.number(LIMB_BITS as u64), bit_shift)); // usize to u64 widens
    let first = machine.load(limbs, limb_shift);
    let above = machine.high(first * factor, LIMB_BITS as u32); // 368
    machine.repeat(w.number(N as u64), above, |machine, place, above| {
        let w = Words(machine);
        let from = machine.bind(w.add(w.add(place, limb_shift), w.number(1)));
        let limb = machine.branch(
            w.is_below(from, w.number(N as u64)), // usize to u64 widens
            |machine| machine.load(limbs, from),
            |machine| machine.zero(),
        );
        let shifted = limb * factor;
        let next = machine.high(shifted, LIMB_BITS as u32); // 368
        machine.store(limbs, place, above + (shifted - next * limbs::radix(machine)));
        next
    });
    let mut result: [M::Fe; N] = limbs::load(machine, limbs);
    result.reverse();
    machine.return_last(result, LIMB_BYTES as u32, Calldata::read(machine).modulus.bytes, OUTPUT_BYTES); // 46
}
