//! Montgomery products of residues. Bajard, Didier and Kornerup 1998, “An RNS Montgomery Modular Multiplication Algorithm”; the quotient by M′ as
//! Kawamura and others 2000, “Cox-Rower Architecture for Fast Parallel Montgomery Multiplication”, section 3.
//!
//! A number x is held as y of the second base: x over M′/m′ⱼ modulo m′ⱼ, below 2m′ⱼ, its negative for m′ⱼ above T. An extension makes of them S of
//! the first base, x but for a constant factor. The quotient q = −x²/n modulo M is held there as σ, q over M/mᵢ modulo mᵢ. An extension
//! makes of them q of the second base but for a factor, and up to eight times M too much: then (x² + q·n)/M, of which y is the next one.

use super::bases::{self, BITS, Bases, Row};
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Factor of x.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Factor {
    /// Itself.
    Same,
    /// The number whose y and S are at `other` and `other_sums` of [`Bases::cells`].
    Other,
}

/// T + ρ·k.
pub(super) fn modulus<M: Machine>(machine: &M, k: i64) -> M::Word {
    machine.word(bases::word(&bases::modulus(k)))
}

fn constant<M: Machine>(machine: &M, number: &BigUint) -> M::Word {
    machine.word(bases::word(number))
}

impl Bases {
    /// The modulus of the second base with this number.
    pub(super) fn second_modulus<M: Machine>(self, machine: &M, number: usize) -> M::Word {
        match self.moduli {
            Some(moduli) => machine.at(place(moduli, 1 + number)),
            None => modulus(machine, self.second_of(self.second_count() + 1)[number]),
        }
    }
}

/// y ← y of x²/M modulo n.
pub(super) fn square<M: Machine>(machine: &M, bases: Bases) {
    machine.function(bases.names.square, (), |machine, ()| product(machine, bases, Factor::Same));
}

/// The same of x times the other number.
pub(super) fn multiply<M: Machine>(machine: &M, bases: Bases) {
    machine.function(bases.names.multiply, (), |machine, ()| product(machine, bases, Factor::Other));
}

fn product<M: Machine>(machine: &M, bases: Bases, factor: Factor) {
    quotient(machine, bases, factor);
    divide(machine, bases, factor);
}

/// Writes S of the other number.
pub(super) fn extend_other<M: Machine>(machine: &M, bases: Bases) {
    machine.function(bases.names.extend, (), |machine, ()| {
        let sums = Sums::of_second(machine, bases, bases.cells.other);
        let place = |number: usize| place(bases.cells.other_sums, number);
        machine.put(place(0), sums.row(machine, &bases.row_of_first(0, bases.second_count()))[0]);
        for (pair, k) in bases.first.iter().copied().enumerate() {
            let [even, odd] =
                sums.row(machine, &bases.row_of_first(k, bases.second_count())).map(|sum| machine.bind(sum));
            let w = Words(machine);
            machine.put(place(1 + 2 * pair), w.sub(even, odd));
            machine.put(place(2 + 2 * pair), w.add(even, odd));
        }
    });
}

/// −α times the modulus T − ρ·`highest`, if the sum of y over the moduli, with signs, is α and a fraction below a tenth: that much more of its y, and α is 0.
///
/// The sums of a row are not below zero after it: what that y becomes is its modulus times the fraction, the y above T over their moduli, and less those
/// below T over theirs; and those have larger coefficients. `differences` is the sum of y with signs: all moduli are T, as far as this goes. It is
/// within 32 times T.
pub(super) fn correction<M: Machine>(machine: &M, differences: M::Word, highest: i64) -> M::Word {
    let w = Words(machine);
    let offset = machine.word((U256::ONE << (BITS as usize + 5)) + (U256::ONE << (BITS as usize - 1))); // u64 to usize
    let multiples = w.sub(w.number(32), w.high(w.add(offset, differences), BITS));
    w.mul(modulus(machine, -highest), multiples)
}

/// Address of a word.
pub(super) fn place(base: u64, number: usize) -> u64 {
    base + 32 * number as u64 // usize to u64 widens
}

/// Summands of an extension's rows: words on the stack.
struct Sums<W> {
    /// Sums of the residues of pairs.
    sums: Vec<W>,
    /// Their differences.
    differences: Vec<W>,
    /// The one without a pair.
    last: Option<W>,
}

impl<W: Copy> Sums<W> {
    /// Of y at `from`. The last one has no pair: it is sum and difference.
    fn of_second<M: Machine<Word = W>>(machine: &M, bases: Bases, from: u64) -> Self {
        let w = Words(machine);
        let at = |number: usize| machine.at(place(from, number));
        let last = bases.second.len() - 1;
        let mut sums: Vec<W> = (0..last).map(|pair| machine.bind(w.add(at(2 * pair), at(2 * pair + 1)))).collect();
        let mut differences: Vec<W> =
            (0..last).map(|pair| machine.bind(w.sub(at(2 * pair), at(2 * pair + 1)))).collect();
        let alone = machine.bind(at(2 * last));
        let all = differences.iter().fold(alone, |sum, &each| w.add(each, sum));
        let alone = machine.bind(w.add(correction(machine, all, bases.second[last]), alone));
        sums.push(alone);
        differences.push(alone);
        Self { sums, differences, last: None }
    }

    /// Of σ, which [`quotient`] has written as sums and differences.
    fn of_first<M: Machine<Word = W>>(machine: &M, bases: Bases) -> Self {
        let at = |number: usize| machine.bind(machine.at(place(bases.cells.quotient, number)));
        let pairs = bases.first.len();
        Self {
            sums: (0..pairs).map(|pair| at(1 + 2 * pair)).collect(),
            differences: (0..pairs).map(|pair| at(2 + 2 * pair)).collect(),
            last: Some(at(0)),
        }
    }

    /// Sum over the terms that the rows of k and −k share, and over those that are added in one and subtracted in the
    /// other: the second base begins with −k, so from there it is subtracted in the row of k.
    fn row<M: Machine<Word = W>>(&self, machine: &M, row: &Row) -> [W; 2] {
        let sums = row.of_sums.iter().zip(&self.sums).chain([&row.of_last].into_iter().zip(&self.last));
        let differences = row.of_differences.iter().zip(&self.differences);
        [products(machine, sums), products(machine, differences)]
    }
}

/// The sum of products with these coefficients.
fn products<'a, M: Machine>(machine: &M, terms: impl Iterator<Item = (&'a u64, &'a M::Word)>) -> M::Word
where
    M::Word: 'a,
{
    let w = Words(machine);
    let term = |(&coefficient, &word)| if coefficient == 1 { word } else { w.mul(w.number(coefficient), word) };
    terms.map(term).reduce(|sum, term| w.add(term, sum)).expect("rows are not empty")
}

/// Writes σ: of each pair the sum and the difference.
fn quotient<M: Machine>(machine: &M, bases: Bases, factor: Factor) {
    let w = Words(machine);
    let sums = Sums::of_second(machine, bases, bases.cells.number);
    let other = |sum: M::Word, number: usize| match factor {
        Factor::Same => sum,
        Factor::Other => machine.at(place(bases.cells.other_sums, number)),
    };
    let of_modulus = |number: usize| machine.at(place(bases.cells.of_first, number));

    let sum = machine.bind(sums.row(machine, &bases.row_of_first(0, bases.second_count()))[0]);
    let product = w.mul(w.mul(sum, other(sum, 0)), of_modulus(0));
    machine.put(bases.cells.quotient, w.and(product, machine.ones(BITS as usize))); // u64 to usize
    for (pair, k) in bases.first.iter().copied().enumerate() {
        let [even, odd] = sums.row(machine, &bases.row_of_first(k, bases.second_count())).map(|sum| machine.bind(sum));
        let sigma = |sum: M::Word, number: usize, k: i64| {
            let product = machine.mulmod(sum, other(sum, number), modulus(machine, k));
            machine.bind(machine.mulmod(product, of_modulus(number), modulus(machine, k)))
        };
        let (above, below) = (1 + 2 * pair, 2 + 2 * pair);
        let [one, two] = [sigma(w.sub(even, odd), above, k), sigma(w.add(even, odd), below, -k)];
        machine.put(place(bases.cells.quotient, above), w.add(one, two));
        machine.put(place(bases.cells.quotient, below), w.sub(one, two));
    }
}

/// y ← y of (x·x′ + q·n)/M.
fn divide<M: Machine>(machine: &M, bases: Bases, factor: Factor) {
    let w = Words(machine);
    let sums = Sums::of_first(machine, bases);
    for (pair, k) in bases.second.iter().copied().enumerate() {
        let [even, odd] = sums.row(machine, &bases.row_of_second(k)).map(|sum| machine.bind(sum));
        let rows = [(2 * pair, -k, w.sub(even, odd)), (2 * pair + 1, k, w.add(even, odd))];
        for (number, k, sum) in rows.into_iter().filter(|&(number, ..)| number < bases.second_count()) {
            let at = |base: u64| machine.at(place(base, number));
            let y = at(bases.cells.number);
            let other = if factor == Factor::Same { y } else { at(bases.cells.other) };
            // Products by another number are few, squares many.
            let m = || if factor == Factor::Same { modulus(machine, k) } else { bases.second_modulus(machine, number) };
            let of_squares = constant(machine, &bases.of_second(k).of_squares());
            let square = machine.mulmod(machine.mulmod(y, other, m()), of_squares, m());
            let multiple = machine.mulmod(sum, at(bases.cells.of_second), m());
            machine.put(place(bases.cells.number, number), w.add(square, multiple));
        }
    }
}

/// Writes y of 1 and S of 1 as those of the other number.
pub(super) fn other_is_one<M: Machine>(machine: &M, bases: Bases) {
    let ys = bases.all_second().into_iter().map(|k| bases.of_second(k).one()).enumerate();
    ys.for_each(|(number, one)| machine.put(place(bases.cells.other, number), constant(machine, &one)));
    let sums = bases.all_first().into_iter().map(|k| bases.of_first(k).one()).enumerate();
    sums.for_each(|(number, one)| machine.put(place(bases.cells.other_sums, number), constant(machine, &one)));
}
