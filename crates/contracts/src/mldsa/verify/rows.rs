//! w₁ of the rows: hints and high parts. FIPS 204, algorithms 36, 40 and 28.

use super::{Cell, Form, LANE_BITS, POLYNOMIAL, SUM_BITS, VECTOR, Verifier, WORK, lanes, transform_of};
use crate::encoding::unless_return_zero;
use crate::mldsa::{MODULUS, Scheme, narrow};
use crate::ntt::DILITHIUM;
use crate::ntt::residues::WORDS;
use residue_ir::{LaneStep, Machine, ModOp, WordOp};
use ruint::aliases::U256;

impl<M: Machine> Verifier<'_, M> {
    /// w₁ row by row.
    pub(super) fn rows(&self) {
        let Self { machine, ref w, scheme, at, .. } = *self;
        self.set(Cell::Done, w.number(0));
        self.set(Cell::To, w.number(at.hashed + 64));
        for row in 0..scheme.rows as u64 {
            // few
            match self.form {
                Form::Words => {
                    machine.copy_scratch(narrow(WORK), narrow(VECTOR + POLYNOMIAL * row), narrow(POLYNOMIAL))
                }
                Form::Slots => self.last_layers(row as usize), // few
            }
            let count =
                machine.word_op(WordOp::Byte, machine.calldata_word(self.before_end(scheme.rows)), w.number(row));
            self.set(Cell::Count, w.sub(count, self.get(Cell::Done)));
            match self.form {
                Form::Words => machine.function("row", (), |_, ()| {
                    self.back();
                    self.row();
                }),
                Form::Slots => machine.function("row of slots", (), |_, ()| self.row()),
            }
        }
    }

    /// A row from its residues.
    fn back(&self) {
        let read = |word| Some(LaneStep::Read { word, from: narrow(WORK) + 32 * word, bits: SUM_BITS });
        self.machine.lanes(&transform_of(DILITHIUM.backward(|word| narrow(word as u64), read))); // few
    }

    /// High parts of a row, with the hints that are next.
    fn row(&self) {
        let Self { machine, ref w, .. } = *self;
        let count = machine.bind(self.get(Cell::Count));
        let done = machine.bind(self.get(Cell::Done));
        let from = machine.bind(w.add(done, w.sub(self.hints_from(), w.number(1))));
        // A count that is less than the one before leaves so many that places stop increasing, after 256 of them at most.
        machine.repeat(count, (), |machine, hint, ()| {
            // The place before and this one, which is greater.
            let places = machine.bind(w.high(machine.calldata_word(w.add(hint, from)), 240));
            let place = machine.bind(w.and(w.number(0xff), places));
            let is_after = w.is_below(w.high(places, 8), place);
            unless_return_zero(machine, w.or(machine.not(hint), is_after));
            match self.form {
                Form::Words => self.hint(place),
                Form::Slots => self.hint_of_slots(place),
            }
        });
        self.set(Cell::Done, w.add(count, done));
        self.high();
    }

    /// Moves the coefficient at a place by 2γ₂, up if its low part is above 0, else down: so much is its high part moved by 1, around its end too.
    fn hint(&self, place: M::Word) {
        let Self { machine, ref w, scheme, .. } = *self;
        let step = 2 * scheme.low_range;
        let at = machine.bind(w.xor(w.number(24), w.shl(place, w.number(3))));
        let word = machine.bind(machine.scratch_word(at));
        let value = machine.bind(w.high(word, 192));
        // 1 to γ₂ modulo 2γ₂.
        let low = w.modulo(w.add(w.number(step - 1), value), w.number(step));
        let is_above = w.is_below(low, w.number(scheme.low_range));
        let by = w.add(w.number(MODULUS - step), w.mul(w.number(2 * step), is_above));
        let moved = machine.mod_op(ModOp::Add, by, value, w.number(MODULUS));
        let difference = w.shl(w.sub(moved, value), w.number(192));
        machine.set_scratch(at, w.add(difference, word));
    }

    /// High parts of the coefficients, packed.
    fn high(&self) {
        let Self { machine, ref w, scheme, .. } = *self;
        let bits = scheme.high_bits();
        let pair_bits = 8 * bits;
        // A power of two of pairs whose numbers fit a word.
        let words = 2 << (256 / pair_bits).ilog2();
        let bytes = u64::from(words * 4 * bits / 8);
        let to = machine.bind(self.get(Cell::To));
        machine.repeat(w.number(WORDS as u64 / u64::from(words)), (), |machine, turn, ()| {
            // few
            let from = machine.bind(w.mul(w.number(u64::from(32 * words)), turn));
            let mut all = None;
            for pair in 0..words / 2 {
                let moved = self.pair([2 * pair, 2 * pair + 1].map(|word| w.add(w.number(u64::from(32 * word)), from)));
                // The first one goes to the top.
                let up = 256 - pair_bits * (pair + 1);
                let moved = if up == 0 { moved } else { w.shl(moved, w.number(up.into())) };
                all = Some(machine.bind(match all {
                    None => moved,
                    Some(all) => w.or(moved, all),
                }));
            }
            let all = self.bytes_of_groups(all.expect("pairs are many"));
            machine.set_scratch(w.add(w.mul(w.number(bytes), turn), to), all);
        });
        self.set(Cell::To, w.add(w.number(bytes * WORDS as u64 / u64::from(words)), to));
    }

    /// High parts of two words of coefficients, in so many bits together; the first word's above the second one's, and in each the first one's lowest.
    fn pair(&self, places: [M::Word; 2]) -> M::Word {
        let Self { machine, ref w, scheme, .. } = *self;
        let (bits, (factor, shift)) = (scheme.high_bits(), scheme.quotient());
        let group = 4 * bits;
        if self.form == Form::Slots {
            let both = self.high_of_slots(places, group);
            return self.together(both, scheme.high_shift() - group);
        }
        let [first, second] = places.map(|place| {
            let value = machine.scratch_word(place);
            let moved = w.mul(w.number(factor), w.add(machine.word(lanes(scheme.low_range - 1)), value));
            w.and(machine.word(lanes(0xff << shift)), moved)
        });
        // The second one's begin at this bit.
        let base = shift - group;
        let both = machine.bind(w.or(w.high(second, group.into()), first));
        let fields = |number: u64| machine.word(lanes((number | number << group) << base));
        let count = (MODULUS - 1) / (2 * scheme.low_range);
        // Where the number is one too large it is 0.
        let both = match count == 1 << bits {
            true => w.and(fields(count - 1), both),
            false => {
                let moved = w.add(fields((1 << bits) - count), both);
                let is_too_large = w.and(fields(1), w.high(moved, bits.into()));
                w.sub(both, w.mul(w.number(count), is_too_large))
            }
        };
        self.together(both, base)
    }

    /// Those of all lanes, of which the second one's begin at this bit, at the bottom of a word.
    fn together(&self, both: M::Word, base: u32) -> M::Word {
        let Self { machine, ref w, scheme, .. } = *self;
        let bits = scheme.high_bits();
        let group = 4 * bits;
        // They move together, to the top.
        let top = 256 - 2 * group - base;
        let factor = (0..4).fold(U256::ZERO, |sum, lane| sum | U256::ONE << (top - lane * (LANE_BITS - bits)) as usize);
        w.high(w.mul(machine.word(factor), both), (256 - 2 * group).into())
    }

    /// Groups of two or three bytes, of which the last one is to be the first.
    fn bytes_of_groups(&self, word: M::Word) -> M::Word {
        let Self { machine, ref w, scheme, .. } = *self;
        let group = scheme.high_bits() as usize * 4; // u32 to usize widens
        let fields = |number: u64| {
            let firsts = (0..256 / group).map(|at| 256 - group * (at + 1));
            machine.word(firsts.fold(U256::ZERO, |sum, at| sum | U256::from(number) << at))
        };
        let word = machine.bind(word);
        let apart = w.number(group as u64 - 8); // few
        let up = w.shl(w.and(fields(0xff), word), apart);
        let down = w.and(fields(0xff), w.shr(word, apart));
        match group {
            16 => w.or(up, down),
            _ => w.or(w.and(fields(0xff00), word), w.or(up, down)),
        }
    }
}

impl Scheme {
    /// ⌊v / 2γ₂⌋ is ⌊v·factor / 2^shift⌋ for v below q + γ₂: the factor exceeds 2^shift / 2γ₂ by so little.
    const fn quotient(self) -> (u64, u32) {
        let (step, shift) = (2 * self.low_range, 43);
        ((1u64 << shift).div_ceil(step), shift)
    }
}
