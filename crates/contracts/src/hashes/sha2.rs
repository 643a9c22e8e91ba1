//! SHA-2 in words: FIPS 180-4, §6.2 and §6.4. SHA-256 and SHA-512 differ in the bits of a number, the rotations and the number of rounds.
//!
//! A number stands twice in a word when it is rotated, so that a rotation is a shift. Bits above it do no harm in sums and are taken away once.

use crate::hashes::message::Message;
use crate::hashes::schedule::Schedule;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Machine, Variable};
use ruint::aliases::U256;

/// One of the functions.
pub(super) struct Sha2 {
    /// Bits of a number.
    pub bits: usize,
    /// Rounds.
    pub rounds: usize,
    /// Σ₀ and Σ₁: rotations, ascending.
    pub sums: [[u64; 3]; 2],
    /// σ₀ and σ₁: two rotations, ascending, and a shift.
    pub small: [[u64; 3]; 2],
}

/// The first primes.
fn primes(count: usize) -> Vec<u64> {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).take(count).collect()
}

impl Sha2 {
    /// The highest bits of the fractional part of a root of `number`, given the root of a number. §4.2 and §5.3.
    fn fraction(&self, number: u64, power: usize, root: impl Fn(&BigUint) -> BigUint) -> U256 {
        let shifted = root(&(BigUint::from(number) << (self.bits * power)));
        U256::from_be_slice(&shifted.to_bytes_be()) & self.number()
    }

    /// All bits of a number.
    fn number(&self) -> U256 {
        (U256::ONE << self.bits) - U256::ONE
    }

    /// Words of 256 bits in a block of sixteen numbers.
    fn block_words(&self) -> usize {
        16 * self.bits / 256
    }

    /// The hash of `size` bytes, as its numbers. `word_at` gives the 32 bytes that are so many bytes after the start, with zeros after
    /// the last one; it is told which word of a block that is.
    pub(super) fn hash<M: Machine>(
        &self,
        machine: &M,
        size: M::Word,
        word_at: impl Fn(&M, u64, M::Word) -> M::Word,
    ) -> [Variable; 8] {
        let w = Words(machine);
        let initial = primes(8).into_iter().map(|prime| self.fraction(prime, 2, BigUint::sqrt));
        let state: Vec<Variable> = initial.map(|value| machine.variable("state", machine.word(value))).collect();
        let state: [Variable; 8] = state.try_into().expect("there are eight");
        let schedule = Schedule::new(machine, self.rounds, self.bits);
        let length_bytes = self.bits as u64 / 4; // usize to u64 widens
        let message = Message::new(machine, size, self.block_words() as u64, length_bytes); // the same
        let mask = machine.word(self.number());
        let mask_of_pair = machine.word(schedule.mask());
        // SHA-512 has it on the stack: 96 times it would be 25 bytes of code.
        let mask_of_pair =
            if self.bits == 64 { machine.get(machine.variable("mask", mask_of_pair)) } else { mask_of_pair };
        machine.repeat(message.blocks(), (), |machine, block, ()| {
            for part in 0..self.block_words() {
                let number = part as u64; // usize to u64 widens
                let word = message.word(machine, (block, number), |machine, offset| word_at(machine, number, offset));
                let is_last = part + 1 == self.block_words();
                let word = if is_last { w.or(word, message.length(machine, block)) } else { word };
                schedule.set_word(machine, 256 / self.bits * part, machine.bind(word), mask_of_pair);
            }
            let before = std::array::from_fn(|at: usize| {
                machine.bind(w.mul(machine.word(self.twice()), machine.get(state[at])))
            });
            let after = self.rounds(machine, before, &schedule, mask_of_pair);
            for (&state, working) in state.iter().zip(after).rev() {
                machine.set(state, w.and(mask, w.add(working, machine.get(state))));
            }
        });
        state
    }

    /// The numbers of a hash in words, the first number of each word highest.
    pub(super) fn words<M: Machine, const WORDS: usize>(&self, machine: &M, hash: [Variable; 8]) -> [M::Word; WORDS] {
        let w = Words(machine);
        let numbers = 8 / WORDS;
        std::array::from_fn(|word| {
            (1..numbers).fold(machine.get(hash[numbers * word]), |sum, at| {
                let moved = w.shl(sum, w.number(self.bits as u64)); // usize to u64 widens
                machine.bind(w.or(moved, machine.get(hash[numbers * word + at])))
            })
        })
    }

    /// By which a number becomes the same twice.
    fn twice(&self) -> U256 {
        (U256::ONE << self.bits) + U256::ONE
    }

    /// Wₜ = σ₁(Wₜ₋₂) + Wₜ₋₇ + σ₀(Wₜ₋₁₅) + Wₜ₋₁₆, and the same for t + 1. §6.2.2 and §6.4.2, step 1.
    fn scheduled<M: Machine>(&self, machine: &M, schedule: &Schedule, mask: M::Word, t: usize) {
        let w = Words(machine);
        let before = |count: usize| schedule.pair(machine, t - count);
        let mixed = |x: M::Word, [first, second, shift]: [u64; 3]| {
            let doubled = machine.bind(w.mul(machine.word(self.twice()), x));
            let both = w.high(w.xor(doubled, w.high(doubled, second - first)), first);
            let both = machine.bind(both);
            // What is above the low number would be carried into the high one.
            machine.bind(w.and(mask, w.xor(both, w.high(x, shift))))
        };
        let first = mixed(before(15), self.small[0]);
        let second = mixed(before(2), self.small[1]);
        let sum = machine.bind(w.add(first, second));
        let sum = machine.bind(w.add(sum, before(7)));
        schedule.set_pair(machine, t, w.add(sum, before(16)), mask);
    }

    /// All rounds, on numbers that stand twice. §6.2.2 and §6.4.2, step 3.
    ///
    /// Words are computed so that the one that nothing reads any more is taken from where it is, and the new one put there.
    fn rounds<M: Machine>(
        &self,
        machine: &M,
        before: [M::Word; 8],
        schedule: &Schedule,
        mask_of_pair: M::Word,
    ) -> [M::Word; 8] {
        let w = Words(machine);
        let (mask, twice) = (machine.word(self.number()), machine.word(self.twice()));
        // A number rotated by each, with more above it: the first rotation is done last, for all three.
        let sum_of = |x: M::Word, [first, second, third]: [u64; 3]| {
            let inner = w.high(w.xor(x, w.high(x, third - second)), second - first);
            w.high(w.xor(x, inner), first)
        };
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = before;
        let mut differing = machine.bind(w.xor(b, c));
        let constants = primes(self.rounds).into_iter().map(|prime| self.fraction(prime, 3, BigUint::cbrt));
        for (t, constant) in constants.enumerate() {
            if t >= 16 && t.is_multiple_of(2) {
                self.scheduled(machine, schedule, mask_of_pair, t);
            }
            // T₁ = h + Σ₁(e) + Ch(e, f, g) + Kₜ + Wₜ.
            let choice = w.xor(g, w.and(e, w.xor(f, g)));
            let first = w.add(sum_of(e, self.sums[1]), w.add(choice, w.add(machine.word(constant), h)));
            let first = machine.bind(first);
            let first = machine.bind(w.add(first, schedule.number(machine, t)));
            // T₁ + T₂ = T₁ + Σ₀(a) + Maj(a, b, c), where Maj is b ⊕ (a ⊕ b)(b ⊕ c), and b ⊕ c is the a ⊕ b of the round before.
            let next_differing = machine.bind(w.xor(a, b));
            let majority = w.xor(b, w.and(next_differing, differing));
            let both = machine.bind(w.add(first, w.add(sum_of(a, self.sums[0]), majority)));
            let next_e = machine.bind(w.mul(twice, w.and(mask, w.add(first, d))));
            let next_a = machine.bind(w.mul(twice, w.and(mask, both)));
            differing = next_differing;
            [a, b, c, d, e, f, g, h] = [next_a, a, b, c, next_e, e, f, g];
        }
        [a, b, c, d, e, f, g, h]
    }
}
