//! Numbers of limbs of 29 bytes: products, and remainders modulo a number that begins in the second byte of the highest limb.
//!
//! A column of products is summed twice, modulo 2²⁵⁶ and modulo 2²⁵⁰ − 1, and never carried in between: both residues together say what the
//! sum is. Its lowest 232 bits are a limb; what is above them is the difference of the residues, divided by 2²³² modulo
//! 2²⁵⁰ − 1, as the sum is below 2⁴⁸². A product's upper limbs are replaced by multiples of 2²³²⁽ᴺ⁺ʲ⁾ modulo the modulus, and one estimate gives the multiple of the modulus
//! that is taken off (Barrett 1986). Remainders are not the least ones: they are below 2²³²ᴺ/32.

use crate::modexp::expressions::Expressions;
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Bytes of a limb.
pub(super) const LIMB_BYTES: u64 = 29;
/// Bits of a limb.
pub(super) const LIMB_BITS: u64 = 8 * LIMB_BYTES;
/// Bits of the odd modulus of sums.
const SUM_BITS: usize = 250;
/// Operands of products that are kept on the stack, if there are no more.
const KEPT_MAX: u64 = 9;
/// Bytes of the longest number.
pub(super) const NUMBER_BYTES_MAX: u64 = 1024;

/// A number of limbs that there is code for.
#[derive(Clone, Copy)]
pub(super) struct Width {
    /// Number of limbs.
    pub limbs: u64,
    /// Addresses of numbers.
    pub place: Place,
    /// Its functions.
    pub names: Names,
    /// True if squares have code of their own; else they are products of A and its copy.
    pub has_square: bool,
}

/// Addresses of numbers in scratch memory.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The first number.
    pub first: u64,
    /// Limbs from one number to the next.
    pub stride: u64,
    /// Powers of 2²³² if each limb's are together, from the highest on; else they follow the numbers, those of each power together.
    pub powers_by_limb: Option<u64>,
}

/// Names of functions.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// [`Width::multiply`], before the product is reduced.
    pub multiply: &'static str,
    /// [`Width::square`], before that.
    pub square: &'static str,
    /// Reduction of a product.
    pub reduce: &'static str,
    /// [`Width::shift`].
    pub shift: &'static str,
    /// Constants of the modulus that remainders need.
    pub modulus: &'static str,
    /// Reader of the base.
    pub base: &'static str,
    /// Power of the base by the exponent.
    pub power: &'static str,
}

/// Words of scratch memory that have names.
pub(super) mod cell {
    /// The multiple of the modulus that is taken off.
    pub const QUOTIENT: u64 = 0;
    /// ⌊2⁵⁰²/D⌋ for D a little above the highest 263 bits of the modulus' limbs.
    pub const RECIPROCAL: u64 = 32;
    /// ⌊D/2⁸⌋ + 1.
    pub const DIVISOR: u64 = 64;
    /// Limb that [`super::Width::shift`] puts below the others.
    pub const LOWEST: u64 = 96;
    /// Bytes by which the modulus is shifted.
    pub const SHIFT: u64 = 128;
    /// Bytes of the modulus, or the power by that.
    pub const BYTES: u64 = 160;
    /// State of a loop.
    pub const STATE: u64 = 192;
    /// Free for a few statements.
    pub const FREE: [u64; 4] = [224, 256, 288, 320];
    /// Sums of the two highest columns.
    pub const TOP: [[u64; 2]; 2] = [[352, 384], [416, 448]];
    /// Address of the first number.
    pub const END: u64 = 480;
}

/// Modulus of a sum's residue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Residue {
    /// Modulo 2²⁵⁶.
    Low,
    /// Modulo 2²⁵⁰ − 1; the sum of residues is not reduced.
    Odd,
}

/// Names of the functions of so many limbs, with what tells those of other addresses apart.
macro_rules! names {
    ($limbs:literal, $place:literal) => {
        $crate::modexp::in_words::limbs::Names {
            multiply: concat!("product of ", $limbs, " limbs", $place),
            square: concat!("square of ", $limbs, " limbs", $place),
            reduce: concat!("remainder of ", $limbs, " limbs", $place),
            shift: concat!("shift of ", $limbs, " limbs", $place),
            modulus: concat!("modulus of ", $limbs, " limbs", $place),
            base: concat!("base of ", $limbs, " limbs", $place),
            power: concat!("power of ", $limbs, " limbs", $place),
        }
    };
}
pub(super) use names;

impl Residue {
    pub(super) const ALL: [Residue; 2] = [Residue::Low, Residue::Odd];

    /// a·b.
    pub(super) fn product<M: Machine>(self, machine: &M, a: M::Word, b: M::Word) -> M::Word {
        match self {
            Residue::Low => Words(machine).mul(a, b),
            Residue::Odd => machine.mulmod(a, b, machine.ones(SUM_BITS)),
        }
    }
}

/// `term` and what was there before.
fn plus<M: Machine>(machine: &M, term: M::Word, before: Option<M::Word>) -> M::Word {
    before.map_or(term, |before| Words(machine).add(term, before))
}

/// The lowest bits of `word`, as many as a limb has.
pub(super) fn limb_of<M: Machine>(machine: &M, word: M::Word) -> M::Word {
    Words(machine).and(machine.ones(LIMB_BITS as usize), word) // u64 to usize
}

/// Carry above the limb `limb` of a number with this odd residue.
pub(super) fn above<M: Machine>(machine: &M, odd: M::Word, limb: M::Word, carry: Option<M::Word>) -> M::Word {
    let w = Words(machine);
    let modulus = machine.ones(SUM_BITS);
    let rest = w.add(plus(machine, w.sub(modulus, limb), carry), odd);
    // 2²³²·2¹⁸ = 1.
    machine.mulmod(rest, machine.word(U256::ONE << (SUM_BITS - LIMB_BITS as usize)), modulus) // u64 to usize
}

/// Writes the limb of a column with this sum and carry; gives the next carry.
fn column<M: Machine>(machine: &M, to: u64, carry: Option<M::Word>, sum: impl Fn(Residue) -> M::Word) -> M::Word {
    let limb = machine.bind(limb_of(machine, plus(machine, sum(Residue::Low), carry)));
    let next = machine.bind(above(machine, sum(Residue::Odd), limb, carry));
    machine.put(to, limb);
    next
}

/// The same for the last one.
fn last_column<M: Machine>(machine: &M, to: u64, carry: Option<M::Word>, sum: impl Fn(Residue) -> M::Word) {
    machine.put(to, limb_of(machine, plus(machine, sum(Residue::Low), carry)));
}

impl Width {
    /// Address of a number of N limbs.
    const fn number(self, place: u64) -> u64 {
        self.place.first + 32 * self.place.stride * place
    }

    /// The number that all is done to.
    pub const fn a(self) -> u64 {
        self.number(0)
    }

    /// The other factor.
    pub const fn b(self) -> u64 {
        self.number(1)
    }

    /// A product, of 2N limbs.
    const fn product(self) -> u64 {
        self.number(2)
    }

    /// 2²³²ᴺ less the modulus.
    const fn complement(self) -> u64 {
        self.number(4)
    }

    /// 2²³²⁽ᴺ⁺ʲ⁾ modulo the modulus, for j from 0 to N − 1.
    const fn powers(self) -> u64 {
        self.number(5)
    }

    /// Limb `column` of 2²³²⁽ᴺ⁺ʲ⁾ modulo the modulus, for j = `limb`.
    const fn power(self, limb: u64, column: u64) -> u64 {
        match self.place.powers_by_limb {
            Some(powers) => powers + 32 * (column * self.limbs + self.limbs - 1 - limb),
            None => self.powers() + 32 * (limb * self.limbs + column),
        }
    }

    /// Address of the modulus' copy, with zeros before and after it.
    pub const fn modulus(self) -> u64 {
        self.number(5 + self.limbs) + 32
    }

    /// Address of the base's copy.
    pub const fn base(self) -> u64 {
        self.modulus() + NUMBER_BYTES_MAX + 2 * LIMB_BYTES * self.limbs + 96
    }

    /// End address of the output, if the modulus is not shifted, with zeros before it.
    const fn output_end(self) -> u64 {
        self.base() + 2 * (NUMBER_BYTES_MAX + LIMB_BYTES * self.limbs) + 96
    }

    /// Powers 0 to 15 of the base.
    pub const fn table(self) -> u64 {
        self.output_end().next_multiple_of(32)
    }

    /// Bytes of scratch memory.
    pub const fn bytes(self) -> u64 {
        self.table() + 16 * 32 * self.limbs
    }

    fn each(self) -> std::ops::Range<u64> {
        0..self.limbs
    }

    /// Copies a number.
    pub fn copy<M: Machine>(self, machine: &M, from: u64, to: u64) {
        self.each().for_each(|limb| machine.put(to + 32 * limb, machine.at(from + 32 * limb)));
    }

    /// The same to an offset known at run time, which is bound.
    pub fn copy_to<M: Machine>(self, machine: &M, from: u64, to: M::Word) {
        let w = Words(machine);
        self.each().for_each(|limb| machine.set_scratch(w.add(to, w.number(32 * limb)), machine.at(from + 32 * limb)));
    }

    /// The same from an offset known at run time, which is bound.
    pub fn copy_from<M: Machine>(self, machine: &M, from: M::Word, to: u64) {
        let w = Words(machine);
        self.each()
            .for_each(|limb| machine.put(to + 32 * limb, machine.scratch_word(w.add(from, w.number(32 * limb)))));
    }

    /// Makes a number one limb and zeros above it.
    pub fn set<M: Machine>(self, machine: &M, to: u64, lowest: u64) {
        self.each().for_each(|limb| machine.put(to + 32 * limb, machine.small(if limb == 0 { lowest } else { 0 })));
    }

    /// Writes N limbs of the bytes of scratch memory that end at `end`, which is bound.
    pub fn read<M: Machine>(self, machine: &M, end: M::Word, to: u64) {
        self.each().for_each(|limb| machine.put(to + 32 * limb, limb_before(machine, end, limb)));
    }

    /// The factor of A in products, where squares are products too: where the modulus was read.
    const fn factor(self) -> u64 {
        if self.has_square { self.b() } else { self.modulus() }
    }

    /// A ← A·B.
    pub fn multiply<M: Machine>(self, machine: &M) {
        match self.has_square {
            true => self.multiply_by_factor(machine),
            false => {
                self.copy(machine, self.b(), self.factor());
                self.multiply_by_factor(machine);
            }
        }
    }

    fn multiply_by_factor<M: Machine>(self, machine: &M) {
        machine.function(self.names.multiply, (), |machine, ()| {
            let kept = self.kept(machine, self.a());
            let a = |limb: u64| kept.get(limb as usize).copied().unwrap_or_else(|| machine.at(self.a() + 32 * limb));
            self.columns(machine, |residue, column| {
                let pairs = self.pairs(column).map(|limb| (limb, column - limb));
                pairs.fold(None, |sum, (one, other)| {
                    let product = residue.product(machine, a(one), machine.at(self.factor() + 32 * other));
                    Some(plus(machine, product, sum))
                })
            });
        });
        self.reduce(machine);
    }

    /// A ← A².
    pub fn square<M: Machine>(self, machine: &M) {
        if !self.has_square {
            self.copy(machine, self.a(), self.factor());
            return self.multiply_by_factor(machine);
        }
        machine.function(self.names.square, (), |machine, ()| {
            let kept = self.kept(machine, self.a());
            let a = |limb: u64| kept.get(limb as usize).copied().unwrap_or_else(|| machine.at(self.a() + 32 * limb));
            self.columns(machine, |residue, column| {
                let pairs = self.pairs(column).map(|limb| (limb, column - limb)).filter(|(one, other)| one < other);
                let half = pairs.fold(None, |sum, (one, other)| {
                    Some(plus(machine, residue.product(machine, a(one), a(other)), sum))
                });
                let twice = half.map(|half| Words(machine).shl(half, machine.small(1)));
                if column.is_multiple_of(2) {
                    let limb = a(column / 2);
                    Some(plus(machine, residue.product(machine, limb, limb), twice))
                } else {
                    twice
                }
            });
        });
        self.reduce(machine);
    }

    /// The limbs of a number, on the stack if they find room there.
    fn kept<M: Machine>(self, machine: &M, number: u64) -> Vec<M::Word> {
        if self.limbs > KEPT_MAX {
            return Vec::new();
        }
        self.each().map(|limb| machine.bind(machine.at(number + 32 * limb))).collect()
    }

    /// Limbs of a factor that have a part in a column of the product.
    fn pairs(self, column: u64) -> std::ops::RangeInclusive<u64> {
        column.saturating_sub(self.limbs - 1)..=column.min(self.limbs - 1)
    }

    /// Writes the product whose columns are these.
    fn columns<M: Machine>(self, machine: &M, sum: impl Fn(Residue, u64) -> Option<M::Word>) {
        let mut carry = None;
        for number in 0..2 * self.limbs - 1 {
            let sum = |residue| sum(residue, number).expect("a column has a product");
            carry = Some(column(machine, self.product() + 32 * number, carry, sum));
        }
        let highest = self.product() + 32 * (2 * self.limbs - 1);
        carry.into_iter().for_each(|carry| machine.put(highest, carry));
    }

    /// A ← the product modulo the modulus.
    fn reduce<M: Machine>(self, machine: &M) {
        machine.function(self.names.reduce, (), |machine, ()| {
            let upper = self.product() + 32 * self.limbs;
            let kept = self.kept(machine, upper);
            let upper = |limb: u64| kept.get(limb as usize).copied().unwrap_or_else(|| machine.at(upper + 32 * limb));
            let sum = |residue: Residue, column: u64| {
                self.each().fold(machine.at(self.product() + 32 * column), |sum, limb| {
                    let power = machine.at(self.power(limb, column));
                    plus(machine, residue.product(machine, upper(limb), power), Some(sum))
                })
            };
            let w = Words(machine);
            let tops = [self.limbs - 2, self.limbs - 1];
            for (cells, top) in cell::TOP.iter().zip(tops) {
                Residue::ALL.iter().zip(cells).for_each(|(&residue, &at)| machine.put(at, sum(residue, top)));
            }
            let [low, carry, high, top] = cell::FREE;
            let [[second, second_odd], [first, first_odd]] = cell::TOP;
            machine.put(low, limb_of(machine, machine.at(second)));
            machine.put(carry, above(machine, machine.at(second_odd), machine.at(low), None));
            machine.put(high, limb_of(machine, w.add(machine.at(first), machine.at(carry))));
            machine.put(top, above(machine, machine.at(first_odd), machine.at(high), Some(machine.at(carry))));
            quotient(machine, top, high);
            self.take_off(machine, self.a(), |residue, column| match tops.iter().position(|&top| top == column) {
                Some(top) => machine.at(cell::TOP[top][usize::from(residue == Residue::Odd)]),
                None => sum(residue, column),
            });
        });
    }

    /// Writes N columns of a number less so many times the modulus as [`cell::QUOTIENT`] says.
    fn take_off<M: Machine>(self, machine: &M, to: u64, sum: impl Fn(Residue, u64) -> M::Word) {
        let mut carry = None;
        for number in self.each() {
            let sum = |residue: Residue| {
                let complement = machine.at(self.complement() + 32 * number);
                let multiple = residue.product(machine, machine.at(cell::QUOTIENT), complement);
                plus(machine, multiple, Some(sum(residue, number)))
            };
            if number + 1 == self.limbs {
                return last_column(machine, to + 32 * number, carry, sum);
            }
            carry = Some(column(machine, to + 32 * number, carry, sum));
        }
    }

    /// A ← A·2²³² plus what [`cell::LOWEST`] has.
    pub fn shift<M: Machine>(self, machine: &M) {
        machine.function(self.names.shift, (), |machine, ()| {
            let highest = self.a() + 32 * (self.limbs - 1);
            quotient(machine, highest, highest - 32);
            self.take_off(machine, self.product(), |_, column| {
                machine.at(if column == 0 { cell::LOWEST } else { self.a() + 32 * (column - 1) })
            });
            self.copy(machine, self.product(), self.a());
        });
    }

    /// Makes all that remainders need of the modulus, which has `bytes` bytes, the first of them not 0, and ends at `end`.
    pub fn prepare<M: Machine>(self, machine: &M, end: M::Word) {
        let w = Words(machine);
        machine.put(cell::SHIFT, w.sub(w.number(LIMB_BYTES * self.limbs - 1), machine.at(cell::BYTES)));
        let end = machine.bind(w.add(end, machine.at(cell::SHIFT)));
        let mut carry = machine.small(1);
        for limb in self.each() {
            let inverted = w.xor(machine.ones(LIMB_BITS as usize), limb_before(machine, end, limb)); // u64 to usize
            let sum = machine.bind(w.add(inverted, carry));
            machine.put(self.complement() + 32 * limb, limb_of(machine, sum));
            carry = w.high(sum, LIMB_BITS);
        }
        let [highest, second] = [1, 2].map(|after| limb_before(machine, end, self.limbs - after));
        reciprocal(machine, highest, second);

        machine.put(cell::LOWEST, w.number(0));
        self.copy(machine, self.complement(), self.a());
        self.copy(machine, self.complement(), self.powers());
        machine.repeat(w.number(self.limbs - 1), (), |machine, turn, ()| {
            self.shift(machine);
            let w = Words(machine);
            let to =
                machine.bind(w.add(w.mul(turn, w.number(32 * self.limbs)), w.number(self.powers() + 32 * self.limbs)));
            self.copy_to(machine, self.a(), to);
        });
    }

    /// Returns A modulo the modulus as it was before the shift, in `bytes` bytes.
    pub fn finish<M: Machine>(self, machine: &M, bytes: M::Word) {
        let w = Words(machine);
        self.set(machine, self.b(), 0);
        let shift = machine.bind(machine.at(cell::SHIFT));
        let bits = w.mul(w.number(8), w.modulo(shift, w.number(LIMB_BYTES)));
        let place = w.mul(w.number(32), w.div(shift, w.number(LIMB_BYTES)));
        machine.set_scratch(w.add(place, w.number(self.b())), w.shl(w.number(1), bits));
        self.multiply(machine);

        let highest = self.a() + 32 * (self.limbs - 1);
        let top = w.or(w.shl(machine.at(highest), w.number(23)), w.high(machine.at(highest - 32), LIMB_BITS - 23));
        machine.put(cell::QUOTIENT, w.div(top, machine.at(cell::DIVISOR)));
        let subtract = |multiple: &dyn Fn(M::Word) -> M::Word, to: u64| {
            self.each().for_each(|limb| {
                let sum = w.add(machine.at(self.a() + 32 * limb), multiple(machine.at(self.complement() + 32 * limb)));
                let carry = (limb > 0).then(|| w.high(machine.at(cell::STATE), LIMB_BITS));
                machine.put(cell::STATE, plus(machine, sum, carry));
                machine.put(to + 32 * limb, limb_of(machine, machine.at(cell::STATE)));
            });
        };
        subtract(&|limb| w.mul(machine.at(cell::QUOTIENT), limb), self.a());
        subtract(&|limb| limb, self.product());
        let is_less = w.high(machine.at(cell::STATE), LIMB_BITS);
        let from = machine.bind(w.add(w.mul(is_less, w.number(self.product() - self.a())), w.number(self.a())));
        for limb in self.each() {
            let to = self.output_end() - 32 - LIMB_BYTES * limb;
            machine.put(to, machine.scratch_word(w.add(from, w.number(32 * limb))));
        }
        let end = w.sub(w.number(self.output_end()), machine.at(cell::SHIFT));
        machine.return_scratch(w.sub(end, bytes), bytes);
    }
}

/// Makes what quotients need of the modulus' two highest limbs.
pub(super) fn reciprocal<M: Machine>(machine: &M, highest: M::Word, second: M::Word) {
    let w = Words(machine);
    let divisor = w.add(w.or(w.shl(highest, w.number(31)), w.high(second, LIMB_BITS - 31)), w.number(1));
    let [divisor_cell, inverse, ..] = cell::FREE;
    machine.put(divisor_cell, w.or(divisor, w.number(1)));
    let divisor = |machine: &M| machine.at(divisor_cell);
    machine.put(cell::DIVISOR, w.add(w.high(divisor(machine), 8), w.number(1)));
    // The quotient is exact without what is left over, and D is odd: five bits of its inverse, then twice as many each time.
    machine.put(inverse, w.xor(w.mul(divisor(machine), w.number(3)), w.number(2)));
    for _ in 0..6 {
        let rest = w.sub(w.number(2), w.mul(divisor(machine), machine.at(inverse)));
        machine.put(inverse, w.mul(machine.at(inverse), rest));
    }
    let half = machine.word(U256::ONE << 251);
    let rest = machine.mulmod(half, half, divisor(machine));
    machine.put(cell::RECIPROCAL, w.mul(w.sub(w.number(0), rest), machine.at(inverse)));
}

/// The limb `limb` of the number in the bytes of scratch memory that end at `end`.
fn limb_before<M: Machine>(machine: &M, end: M::Word, limb: u64) -> M::Word {
    let w = Words(machine);
    limb_of(machine, machine.scratch_word(w.sub(end, w.number(32 + LIMB_BYTES * limb))))
}

/// Makes [`cell::QUOTIENT`] about what a number has times the modulus, whose limb N is at `top` and limb N − 1 at `high`: never too much.
pub(super) fn quotient<M: Machine>(machine: &M, top: u64, high: u64) {
    let w = Words(machine);
    let [.., low, odd] = cell::FREE;
    let number = w.or(w.shl(machine.at(top), w.number(17)), w.high(machine.at(high), LIMB_BITS - 17));
    machine.put(cell::QUOTIENT, number);
    let both = || (machine.at(cell::QUOTIENT), machine.at(cell::RECIPROCAL));
    let (a, b) = both();
    machine.put(low, w.mul(a, b));
    let (a, b) = both();
    machine.put(odd, machine.mulmod(a, b, machine.word(U256::MAX)));
    // The upper word of the product: the difference, and 1 less if it wraps.
    let (low, odd) = (machine.at(low), machine.at(odd));
    machine.put(cell::QUOTIENT, w.sub(w.sub(odd, low), w.is_below(odd, low)));
}
