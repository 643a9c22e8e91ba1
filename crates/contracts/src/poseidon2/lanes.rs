//! Partial rounds of Poseidon2 over a field of 31 bits, on the EVM of today, with their linear layers in lanes of words.
//!
//! With z the first element after round k's S-box and yᵢ the others before the partial rounds, the sum that round k adds to all elements is
//! σₖ = zₖ + Σᵢ dᵢᵏ·yᵢ + Σⱼ₍ⱼ﹤ₖ₎ (Σᵢ dᵢᵏ⁻¹⁻ʲ)·σⱼ, and after all of them element i is dᵢᴿ·yᵢ + Σⱼ dᵢᴿ⁻¹⁻ʲ·σⱼ. So the state need not be made in each round:
//! one MUL of a value by a word of constants multiplies it for three rounds, or for three elements.

use super::permutation::Permutation;
use crate::words::Words;
use residue_formula::Number;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Lanes of a word.
const LANES: usize = 3;
/// Bits of a lane: up to 2⁶ products of 62 bits are summed. No more, as constants are pushed in fewer bytes so.
const LANE_BITS: usize = 68;

/// Byte of a word of scratch memory.
fn place(number: usize) -> u32 {
    u32::try_from(32 * number).expect("states are short")
}

/// An integer below 2³¹.
fn integer<F: Number>(value: &F) -> U256 {
    let value = value.to_canonical();
    U256::from(u64::try_from(&value).ok().filter(|value| value >> 31 == 0).expect("the field has 31 bits at most"))
}

/// Numbers in lanes, the first one in the lowest.
fn packed<F: Number>(numbers: impl Iterator<Item = F>) -> U256 {
    numbers.enumerate().fold(U256::ZERO, |word, (lane, number)| word | integer(&number) << (LANE_BITS * lane))
}

fn power<F: Number>(base: F, exponent: usize) -> F {
    (0..exponent).fold(F::ONE, |product, _| product * base)
}

impl<F: Number> Permutation<F> {
    /// The state after the partial rounds.
    pub(super) fn partial_in_lanes<M: Machine>(&self, machine: &M, state: &[M::Fe]) -> Vec<M::Fe> {
        let w = Words(machine);
        let modulus = || machine.word(U256::from(u64::try_from(&F::modulus()).expect("the field has 31 bits at most")));
        let reduced = |word: M::Word| machine.bind(w.modulo(word, modulus()));
        let word = |number: &F| machine.word(integer(number));
        let diagonal = &self.diagonal;
        assert!(state.len() + self.partial().count() <= 1 << (LANE_BITS - 62), "a lane has room for fewer products");
        machine.scratch(place(state.len() - 1 + self.partial().count()));
        let get = |number: usize| machine.scratch_word(w.number(place(number).into()));
        let set = |number: usize, word: M::Word| machine.set_scratch(w.number(place(number).into()), word);
        for (number, &value) in state[1..].iter().enumerate() {
            set(number, machine.word_of(value, 0));
        }
        let others = || (0..state.len() - 1).map(get).zip(diagonal[1..].iter().copied());
        let added = |rounds: usize| (state.len() - 1..).take(rounds).map(get);
        let lane = |word: M::Word, lane: usize| {
            let moved = if lane == 0 { word } else { w.high(word, (LANE_BITS * lane) as u64) }; // few
            if lane == LANES - 1 { moved } else { w.and(machine.word((U256::ONE << LANE_BITS) - U256::ONE), moved) }
        };
        let total =
            |terms: Vec<M::Word>| terms.into_iter().reduce(|sum, term| w.add(term, sum)).expect("there are terms");
        let rounds: Vec<&F> = self.partial().collect();
        // Σᵢ dᵢᵉ without the first element.
        let sums = |exponent: usize| diagonal[1..].iter().fold(F::ZERO, |sum, &d| sum + power(d, exponent));
        let mut first = machine.word_of(state[0], 0);
        let mut sums_word = None;
        for (round, constant) in rounds.iter().enumerate() {
            let within = round % LANES;
            if within == 0 {
                let here = || round..rounds.len().min(round + LANES);
                let of_state = others().map(|(y, d)| w.mul(machine.word(packed(here().map(|m| power(d, m)))), y));
                let of_rounds = added(round)
                    .enumerate()
                    .map(|(k, sum)| w.mul(machine.word(packed(here().map(|m| sums(m - 1 - k)))), sum));
                sums_word = Some(machine.bind(total(of_state.chain(of_rounds).collect())));
            }
            let mut terms = lane(sums_word.expect("the first round of a word makes it"), within);
            for (k, sum) in added(round).enumerate().skip(round - within) {
                terms = w.add(w.mul(word(&sums(round - 1 - k)), sum), terms);
            }
            let x = reduced(w.add(word(constant), first));
            let z = machine.bind(self.power_of_word(machine, x));
            let sum = reduced(w.add(z, terms));
            first = w.add(w.mul(word(&diagonal[0]), z), sum);
            set(state.len() - 1 + round, sum);
        }
        let mut out = vec![machine.reduce(first)];
        let numbered: Vec<(M::Word, F)> = others().collect();
        for group in numbered.chunks(LANES) {
            let terms = added(rounds.len()).enumerate().map(|(k, sum)| {
                let powers = group.iter().map(|&(_, d)| power(d, rounds.len() - 1 - k));
                w.mul(machine.word(packed(powers)), sum)
            });
            let word_of_sums = machine.bind(total(terms.collect()));
            for (place, &(y, d)) in group.iter().enumerate() {
                out.push(machine.reduce(w.add(w.mul(word(&power(d, rounds.len())), y), lane(word_of_sums, place))));
            }
        }
        out
    }

    /// x to the power of the S-box, for x below 2³¹: the product of seven has 217 bits, and room for one more factor.
    fn power_of_word<M: Machine>(&self, machine: &M, x: M::Word) -> M::Word {
        let w = Words(machine);
        let square = machine.bind(w.mul(x, x));
        match self.power {
            3 => w.mul(square, x),
            _ => w.mul(w.mul(machine.bind(w.mul(square, square)), square), x),
        }
    }
}
