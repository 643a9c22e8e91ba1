//! SHA-512 in words: FIPS 180-4, §6.4.
//!
//! A number of 64 bits stands twice in 128 bits when it is rotated, so that a rotation is a shift. Bits above the 64th do no harm in sums and
//! are taken away once. Two neighbouring numbers of the message schedule are computed together, in the halves of a word.

use crate::Contract;
use num_bigint::BigUint;
use residue_ir::{Machine, Variable, WordOp};
use ruint::aliases::U256;

/// `hashes/sha512`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/sha512",
    summary: "SHA-512 in words",
    interface: "any bytes; returns their hash, 64 bytes",
    field: || BigUint::from(3u8),
    text: |machine| {
        let hash = hash(machine, machine.calldata_size(), |machine, _, offset| machine.calldata_word(offset));
        machine.return_words(&hash.map(|half| machine.get(half)), machine.small(64));
    },
    precompile: None,
    example: || b"abc".to_vec(),
};

/// Bytes of a block.
const BLOCK_BYTES: u64 = 128;
/// Rounds.
const ROUNDS: usize = 80;

/// The 64 highest bits of the fractional part of a root of `number`, given the root of a number.
fn fraction(number: u64, power: u32, root: impl Fn(&BigUint) -> BigUint) -> U256 {
    let shifted = root(&(BigUint::from(number) << (64 * power)));
    U256::from_be_slice(&shifted.to_bytes_be()) & U256::from(u64::MAX)
}

/// The first primes.
fn primes(count: usize) -> Vec<u64> {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).take(count).collect()
}

/// The hash of `size` bytes in two variables of 256 bits. `word_at` gives the 32 bytes that are `offset` bytes after the start, with zeros after
/// the last one; it is told which word of a block that is.
pub(crate) fn hash<M: Machine>(
    machine: &M,
    size: M::Word,
    word_at: impl Fn(&M, u64, M::Word) -> M::Word,
) -> [Variable; 2] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let initial = primes(8).into_iter().map(|prime| fraction(prime, 2, BigUint::sqrt));
    let state: Vec<Variable> = initial.map(|value| machine.variable("state", machine.word(value))).collect();
    let working: Vec<Variable> = (0..8).map(|_| machine.variable("working", machine.small(0))).collect();
    let schedule: Vec<Variable> = (0..8).map(|_| machine.variable("schedule", machine.small(0))).collect();
    let size = machine.bind(size);
    let block_bytes = machine.small(BLOCK_BYTES);
    // One more than all bytes, 0x80 and the length's 16 fill.
    let blocks = op(WordOp::Div, op(WordOp::Add, size, machine.small(BLOCK_BYTES + 16)), block_bytes);
    let blocks = machine.bind(blocks);
    let mask = machine.word(U256::from(u64::MAX));
    machine.repeat(blocks, (), |machine, block, ()| {
        for part in 0..4 {
            let offset = op(WordOp::Add, op(WordOp::Mul, block, block_bytes), machine.small(32 * part));
            let offset = machine.bind(offset);
            // 0x80 after the last byte: a shift by 256 or more, as by a number below 0, gives 0.
            let bits = op(WordOp::Mul, op(WordOp::Sub, size, offset), machine.small(8));
            let end = op(WordOp::Shl, machine.small(0x80), op(WordOp::Sub, machine.small(248), bits));
            let mut word = op(WordOp::Or, word_at(machine, part, offset), end);
            if part == 3 {
                let is_last = op(WordOp::Eq, op(WordOp::Add, block, machine.small(1)), blocks);
                let bits = op(WordOp::Mul, size, machine.small(8));
                word = op(WordOp::Or, word, op(WordOp::Mul, is_last, bits));
            }
            let word = machine.bind(word);
            // The first number of a pair is the low one.
            for pair in 0..2 {
                let [first, second] =
                    [192 - 128 * pair, 128 - 128 * pair].map(|bits| op(WordOp::Shr, word, machine.small(bits)));
                let second = op(WordOp::Shl, op(WordOp::And, second, mask), machine.small(128));
                let first = if pair == 0 { first } else { op(WordOp::And, first, mask) };
                machine.set(schedule[(2 * part + pair) as usize], op(WordOp::Or, first, second)); // u64 to usize widens
            }
        }
        for (&working, &state) in working.iter().zip(&state) {
            machine.set(working, machine.get(state));
        }
        machine.function("sha512_rounds", (), |machine, ()| rounds(machine, &working, &schedule));
        for (&working, &state) in working.iter().zip(&state) {
            let sum = op(WordOp::Add, machine.get(state), machine.get(working));
            machine.set(state, op(WordOp::And, sum, mask));
        }
    });
    [0, 4].map(|first| {
        let gathered = (1..4).fold(machine.get(state[first]), |sum, at| {
            let moved = op(WordOp::Shl, sum, machine.small(64));
            machine.bind(op(WordOp::Or, moved, machine.get(state[first + at])))
        });
        let half = machine.variable("half", machine.small(0));
        machine.set(half, gathered);
        half
    })
}

/// All rounds. §6.4.2, steps 1 and 3.
fn rounds<M: Machine>(machine: &M, working: &[Variable], schedule: &[Variable]) {
    let op = |op, a, b| machine.word_op(op, a, b);
    // Kept on the stack: a copy takes one byte, the number itself nine.
    let mask = machine.bind(machine.word(U256::from(u64::MAX)));
    let twice = machine.bind(machine.word((U256::ONE << 64usize) + U256::ONE));
    // Words are computed so that the one on top of the stack is taken from there, which needs no copy: it is the second operand.
    let doubled = |x: M::Word| machine.bind(op(WordOp::Mul, twice, x));
    // The sum of a doubled number rotated right by each of `rotations`, with any bits above the 64th; of both halves.
    let rotated = |doubled: M::Word, rotations: [u64; 3]| {
        let [first, second, third] = rotations.map(|bits| op(WordOp::Shr, doubled, machine.small(bits)));
        op(WordOp::Xor, op(WordOp::Xor, first, second), third)
    };
    let mixed = |x: M::Word, [first, second]: [u64; 2], shift: u64| {
        let doubled = machine.bind(op(WordOp::Mul, x, twice));
        let [first, second] = [first, second].map(|bits| op(WordOp::Shr, doubled, machine.small(bits)));
        op(WordOp::Xor, op(WordOp::Xor, first, second), op(WordOp::Shr, x, machine.small(shift)))
    };
    let constants = primes(ROUNDS).into_iter().map(|prime| fraction(prime, 3, BigUint::cbrt));
    let both = machine.word(U256::from(u64::MAX) << 128usize | U256::from(u64::MAX));
    let half = machine.small(128);
    for (t, constant) in constants.enumerate() {
        let kept = schedule[t / 2 % 8];
        if t >= 16 && t % 2 == 0 {
            // Wₜ = σ₁(Wₜ₋₂) + Wₜ₋₇ + σ₀(Wₜ₋₁₅) + Wₜ₋₁₆, and the same for t + 1.
            let before = |count: usize| machine.get(schedule[(t - count) / 2 % 8]);
            let across = |count: usize| {
                let low = op(WordOp::Shr, before(count + 1), half);
                op(WordOp::Or, op(WordOp::Shl, before(count - 1), half), low)
            };
            // What is above the low number's 64 bits would be carried into the high one.
            let clean = |value| op(WordOp::And, both, value);
            let sum = machine.bind(clean(mixed(machine.bind(across(15)), [1, 8], 7)));
            let sum = machine.bind(op(WordOp::Add, sum, across(7)));
            let sum = machine.bind(op(WordOp::Add, sum, clean(mixed(before(2), [19, 61], 6))));
            machine.set(kept, op(WordOp::And, both, op(WordOp::Add, sum, machine.get(kept))));
        }
        let of = |letter: usize| machine.get(working[(letter + 80 - t) % 8]);
        let variable = |letter: usize| working[(letter + 80 - t) % 8];
        let (f, g) = (of(5), of(6));
        let e = doubled(of(4));
        // What is above the low number of a pair does no harm.
        let scheduled = machine.get(kept);
        let scheduled = if t % 2 == 0 { scheduled } else { op(WordOp::Shr, scheduled, half) };
        // T₁ = h + Σ₁(e) + Ch(e, f, g) + Kₜ + Wₜ.
        let first = machine.bind(op(WordOp::Add, machine.word(constant), scheduled));
        let choice = op(WordOp::Xor, op(WordOp::And, e, op(WordOp::Xor, f, g)), g);
        let first = machine.bind(op(WordOp::Add, choice, first));
        let first = machine.bind(op(WordOp::Add, rotated(e, [14, 18, 41]), first));
        let first = machine.bind(op(WordOp::Add, first, of(7)));
        machine.set(variable(3), op(WordOp::And, mask, op(WordOp::Add, first, of(3))));
        let (b, c) = (of(1), of(2));
        let a = doubled(of(0));
        // T₂ = Σ₀(a) + Maj(a, b, c).
        let majority = op(WordOp::Or, op(WordOp::And, a, b), op(WordOp::And, c, op(WordOp::Or, a, b)));
        let second = op(WordOp::Add, rotated(a, [28, 34, 39]), majority);
        machine.set(variable(7), op(WordOp::And, mask, op(WordOp::Add, second, first)));
    }
}
