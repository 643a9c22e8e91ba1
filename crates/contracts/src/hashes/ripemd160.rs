//! RIPEMD-160 in words: Dobbertin, Bosselaers and Preneel 1996, "RIPEMD-160: a strengthened version of RIPEMD", §3 and appendix A.
//!
//! Both lines go together: a number of the left one stands in the lowest 32 bits of a word, that of the right one 192 bits above it. What a step
//! has above a number goes with the next mask; below the right one only one term of each sum has anything, so nothing is carried into it.

use crate::Contract;
use crate::hashes::message::Message;
use crate::hashes::reversed;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Machine, Variable};
use residue_isa::precompile::RIPEMD160;
use ruint::aliases::U256;

/// `hashes/ripemd160`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/ripemd160",
    summary: "RIPEMD-160 in words",
    interface: "any bytes; returns 32: 12 zero bytes and their hash",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: Some(RIPEMD160),
    example: || b"abc".to_vec(),
};

/// Bits that the right line is above the left one.
const RIGHT: usize = 192;
/// All bits of a number.
const NUMBER: u64 = 0xffff_ffff;

/// A constant of each line.
fn lines(left: u64, right: u64) -> U256 {
    U256::from(left) | U256::from(right) << RIGHT
}

/// The initial numbers.
const INITIAL: [u64; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// ρ: which number of the message comes in a step of the second round of the left line, from that of the first.
const RHO: [usize; 16] = [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8];
/// Rotations by the number of the message, in each round.
const ROTATIONS: [[u64; 16]; 5] = [
    [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
    [12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7],
    [13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9],
    [14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6],
    [15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5],
];

/// ⌊2³⁰·√n⌋ for the left line, ⌊2³⁰·∛n⌋ for the right one, where n is 2, 3, 5, 7.
fn added(round: usize) -> U256 {
    const PRIMES: [u64; 4] = [2, 3, 5, 7];
    let digits = |root: &BigUint| u64::try_from(root).expect("numbers have 32 bits");
    let left = round.checked_sub(1).map_or(0, |at| digits(&(BigUint::from(PRIMES[at]) << 60u32).sqrt()));
    let right = PRIMES.get(round).map_or(0, |&prime| digits(&(BigUint::from(prime) << 90u32).cbrt()));
    lines(left, right)
}

/// Order of the message's numbers in the steps of a round: left, right.
fn order(round: usize) -> [[usize; 16]; 2] {
    let permuted = |mut number: usize| {
        (0..round).for_each(|_| number = RHO[number]);
        number
    };
    [std::array::from_fn(permuted), std::array::from_fn(|step| permuted((9 * step + 5) % 16))]
}

/// The variables of a message's numbers, two in the lowest 64 bits of each, the second one lower: between two that are 0 but for that.
struct Numbers(Vec<Variable>);

impl Numbers {
    fn new<M: Machine>(machine: &M) -> Self {
        Self((0..10).map(|_| machine.variable("message", machine.small(0))).collect())
    }

    /// Numbers 8·`half` to 8·`half` + 7.
    fn set<M: Machine>(&self, machine: &M, half: usize, numbers: M::Word) {
        let w = Words(machine);
        let numbers = machine.bind(numbers);
        for (at, shift) in [192, 128, 64, 0].into_iter().enumerate() {
            let pair = if shift == 0 { numbers } else { w.shr(numbers, w.number(shift)) };
            let pair = if at == 0 { pair } else { w.and(w.number(u64::MAX), pair) };
            machine.set(self.0[1 + 4 * half + at], pair);
        }
    }

    /// A number in the left line; with some number from bit 32, and others from bit 224.
    fn left<M: Machine>(&self, machine: &M, number: usize) -> M::Word {
        let pair = number / 2;
        if number.is_multiple_of(2) { machine.get_across(self.0[pair], 28) } else { machine.get(self.0[pair + 1]) }
    }

    /// A number in the right line; with some number below and above it.
    fn right<M: Machine>(&self, machine: &M, number: usize) -> M::Word {
        machine.get_across(self.0[number / 2 + 1], if number.is_multiple_of(2) { 20 } else { 24 })
    }
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    let state = INITIAL.map(|value| machine.variable("state", machine.word(lines(value, value))));
    let numbers = Numbers::new(machine);
    let mask = machine.variable("mask", machine.word(lines(NUMBER, NUMBER)));
    let message = Message::new(machine, machine.calldata_size(), 2, 8);
    machine.repeat(message.blocks(), (), |machine, block, ()| {
        for half in 0..2 {
            let word = message.word(machine, (block, half), |machine, offset| machine.calldata_word(offset));
            let swapped = reversed(machine, word, 32);
            let swapped = if half == 0 {
                swapped
            } else {
                let length = machine.bind(message.length(machine, block));
                let both = w.or(w.shl(w.and(length, w.number(NUMBER)), w.number(32)), w.high(length, 32));
                w.or(swapped, both)
            };
            numbers.set(machine, half as usize, swapped); // u64 to usize widens
        }
        let mask = machine.get(mask);
        let working = state.map(|number| machine.get(number));
        let working = rounds(machine, working, mask, &numbers);
        // h₀ := h₁ + C + D′, h₁ := h₂ + D + E′, …, h₄ := h₀ + B + C′.
        let first = machine.bind(machine.get(state[0]));
        for at in 0..5 {
            let (left, right) = (working[(at + 2) % 5], working[(at + 3) % 5]);
            let sum = w.add(w.and(w.number(NUMBER), left), w.high(right, RIGHT as u64)); // usize to u64 widens
            let both = machine.bind(w.mul(machine.word(lines(1, 1)), sum));
            let before = if at == 4 { first } else { machine.get(state[at + 1]) };
            machine.set(state[at], w.and(mask, w.add(both, before)));
        }
    });
    let gathered = state.iter().fold(machine.small(0), |sum, &number| {
        let number = w.and(w.number(NUMBER), machine.get(number));
        machine.bind(w.or(w.shl(sum, w.number(32)), number))
    });
    machine.return_word(reversed(machine, gathered, 32));
}

/// All steps of both lines.
fn rounds<M: Machine>(machine: &M, working: [M::Word; 5], mask: M::Word, numbers: &Numbers) -> [M::Word; 5] {
    let w = Words(machine);
    let [mut a, mut b, mut c, mut d, mut e] = working;
    for (round, by_number) in ROTATIONS.iter().enumerate() {
        let [left, right] = order(round);
        let added = machine.word(added(round));
        for step in 0..16 {
            let (left, right) = (left[step], right[step]);
            // A + f(B, C, D) + X + K. Words are computed so that what nothing reads any more is taken from where it is.
            let sum = machine.bind(w.add(function(machine, round, [b, c, d], mask), a));
            let sum = machine.bind(w.add(sum, numbers.left(machine, left)));
            let sum = machine.bind(w.add(sum, numbers.right(machine, right)));
            let rotations = [by_number[left], by_number[right]];
            let rotated = rotated(machine, w.and(mask, w.add(added, sum)), rotations);
            let next = machine.bind(w.and(mask, w.add(e, rotated)));
            // C rotated by 10: a number stands twice in 64 bits to be rotated by a shift.
            let twice = w.mul(machine.word((U256::ONE << 32) + U256::ONE), c);
            let moved = machine.bind(w.and(mask, w.high(twice, 22)));
            [a, b, c, d, e] = [e, next, b, moved, d];
        }
    }
    [a, b, c, d, e]
}

/// Bits that the left line is moved up by when both are rotated.
const APART: usize = 80;
/// Bits that the left one's number then is above the end.
const LOW: u64 = 112;

/// Both lines' numbers of a word that is nothing else, rotated left, with more above them and below the right one.
///
/// The product has the left number twice times 2^l from bit 80, the right one twice times 2^r from bit 192, so that the right one rotated ends the
/// word, and besides the left one times 2^r below bit 80; the right one's other multiple is above the word. A shift takes away what is
/// below the left one, and then a second product has the right one in its place again.
fn rotated<M: Machine>(machine: &M, word: M::Word, [left, right]: [u64; 2]) -> M::Word {
    let w = Words(machine);
    let twice = (U256::ONE << 32) + U256::ONE;
    let factor = twice * ((U256::ONE << (APART as u64 + left)) + (U256::ONE << right)); // usize to u64 widens
    let product = w.mul(machine.word(factor), word);
    let back = (U256::ONE << APART) + U256::ONE;
    w.mul(machine.word(back), w.high(product, LOW))
}

/// fⱼ in the left line, f₅₋ⱼ in the right one, of both lines' numbers; `mask` has the bits of both.
fn function<M: Machine>(machine: &M, round: usize, [x, y, z]: [M::Word; 3], mask: M::Word) -> M::Word {
    let w = Words(machine);
    let [left, right] = [lines(NUMBER, 0), lines(0, NUMBER)].map(|line| machine.word(line));
    // x ⊕ y ⊕ z in one line, x ⊕ (y ∨ ¬z) in the other: x ⊕ y ⊕ ¬(z ∨ y) there, as y ∨ ¬z is y ⊕ ¬(y ∨ z).
    let odd = |other| w.xor(w.xor(w.xor(x, y), other), w.or(w.and(y, other), z));
    // (x ∧ y) ∨ (¬x ∧ z) in one line, (x ∧ z) ∨ (y ∧ ¬z) in the other.
    let choice = |one, other| w.and(w.or(w.and(w.xor(x, one), z), y), w.or(w.xor(z, other), x));
    match round {
        0 => odd(right),
        1 => choice(left, right),
        2 => w.xor(w.or(w.xor(y, mask), x), z),
        3 => choice(right, left),
        _ => odd(left),
    }
}
