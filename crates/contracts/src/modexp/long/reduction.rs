//! Products modulo a number m' of N limbs, whose highest bit is bit 368·N − 4.
//!
//! B = 2³⁶⁸. A product's upper limbs dⱼ are replaced by Σ dⱼ·ρⱼ with ρⱼ ≡ Bᴺ⁺ʲ; of the sum S, which is below 2N·B·Bᴺ, a multiple of m' is
//! taken, q = ⌊S/m'⌋ or one less (Barrett 1986, "Implementing the Rivest Shamir and Adleman public key encryption algorithm on a
//! standard digital signal processor", of which this is the case of one digit). What is left is below 1.5·m'. It is made as
//! S + q·(Bᴺ − m') modulo Bᴺ, so that nothing is negative.

use super::limbs::{LIMB_BITS, LIMB_BYTES, limb, normal, radix, read};
use crate::modexp::calldata::Calldata;
use crate::words::Words;
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_ir::{Array, Feature, Machine};

/// Limbs from which on all ρⱼ are loaded where they are used: they would not fit the slots.
const LOADED_FROM: usize = 13;
/// The most limbs of them that are in slots, of which portable code has 223.
const KEPT_LIMBS: usize = 108;
/// 46 bytes.
const SHIFT: u32 = LIMB_BITS as u32;

/// Products modulo m' of numbers of N limbs, each below 1.5·m'.
pub(super) trait Products<M: Machine, const N: usize> {
    /// The ρⱼ, and room for other numbers after them.
    fn numbers(&self) -> Array<[M::Fe; N]>;

    /// Room for N limbs.
    fn limbs(&self) -> Array<M::Fe>;

    /// The columns, each below 2N·B², as a number.
    fn reduce(&self, machine: &M, columns: [M::Fe; N]) -> [M::Fe; N];

    /// `number`, below 2·m', modulo m'.
    fn least(&self, machine: &M, number: [M::Fe; N]) -> [M::Fe; N];

    fn product(&self, machine: &M, x: [M::Fe; N], y: [M::Fe; N]) -> [M::Fe; N];

    fn square(&self, machine: &M, x: [M::Fe; N]) -> [M::Fe; N];

    /// The square of x if the word is not 0, else its product by y.
    fn square_or_product(
        &self,
        machine: &M,
        is_square: M::Word,
        x: [M::Fe; N],
        y: impl FnOnce(&M) -> [M::Fe; N],
    ) -> [M::Fe; N] {
        machine.branch(is_square, |machine| self.square(machine, x), |machine| self.product(machine, x, y(machine)))
    }

    /// Puts the ρⱼ to their places.
    fn make_powers(&self, machine: &M) {
        let w = Words(machine);
        let mut first = [machine.zero(); N];
        first[N - 1] = radix(machine);
        let first = self.reduce(machine, first);
        machine.store(self.numbers(), w.number(0), first);
        machine.repeat(w.number(N as u64 - 1), first, |machine, place, row| {
            let row = self.next(machine, row, machine.zero());
            machine.store(self.numbers(), Words(machine).add(place, machine.small(1)), row);
            row
        });
    }

    /// number·B + `lowest`, reduced.
    fn next(&self, machine: &M, number: [M::Fe; N], lowest: M::Fe) -> [M::Fe; N] {
        let mut columns: [M::Fe; N] = std::array::from_fn(|place| if place == 0 { lowest } else { number[place - 1] });
        columns[N - 1] = columns[N - 1] + number[N - 1] * radix(machine);
        self.reduce(machine, columns)
    }

    /// The base, in N limbs.
    fn base(&self, machine: &M) -> [M::Fe; N] {
        let w = Words(machine);
        let base = Calldata::read(machine).base;
        let count = w.div(w.add(base.bytes, w.number(LIMB_BYTES as u64 - 1)), w.number(LIMB_BYTES as u64)); // 46
        let count = machine.bind(count);
        let more = w.mul(w.is_below(w.number(N as u64), count), w.sub(count, w.number(N as u64))); // widens
        let more = machine.bind(more);
        let highest = read(machine, self.limbs(), |machine, place| {
            limb(machine, Calldata::read(machine).base, Words(machine).add(place, more))
        });
        machine.repeat(more, highest, |machine, turn, number| {
            let w = Words(machine);
            let place = w.sub(w.sub(more, turn), w.number(1));
            let lowest = limb(machine, Calldata::read(machine).base, place);
            self.next(machine, number, lowest)
        })
    }
}

/// Constants computed once from m'.
pub(super) struct Reduction<M: Machine, const N: usize> {
    /// Bᴺ − m', its lowest limb not reduced.
    complement: [M::Fe; N],
    /// ⌊2⁷⁴⁴·Bᴺ⁻¹ / m'⌋ or up to two less.
    inverse: M::Fe,
    /// The first of the ρⱼ, which are in slots, if any are.
    rows: Vec<[M::Fe; N]>,
    /// The ρⱼ are the first of these.
    pub numbers: Array<[M::Fe; N]>,
    limbs: Array<M::Fe>,
}

impl<M: Machine, const N: usize> Reduction<M, N> {
    pub(super) fn new(machine: &M, modulus: [M::Fe; N], numbers: Array<[M::Fe; N]>, limbs: Array<M::Fe>) -> Self {
        let complement = complement(machine, modulus);
        let inverse = inverse(machine, modulus[N - 1], modulus[N - 2]);
        let mut reduction = Self { complement, inverse, rows: Vec::new(), numbers, limbs };
        reduction.make_powers(machine);
        if N < LOADED_FROM {
            let kept = N.min(KEPT_LIMBS / N);
            reduction.rows = (0..kept).map(|place| machine.load(numbers, machine.small(place as u64))).collect(); // widens
        }
        reduction
    }

    /// The number with these 2N − 1 columns, reduced.
    fn fold(&self, machine: &M, columns: Vec<M::Fe>) -> [M::Fe; N] {
        let lower: [M::Fe; N] = std::array::from_fn(|place| columns[place]);
        let mut upper = Vec::new();
        let mut carry: Option<M::Fe> = None;
        for &column in &columns[N..] {
            let column = carry.map_or(column, |carry| column + carry);
            let above = machine.high(column, SHIFT);
            upper.push(column - above * radix(machine));
            carry = Some(above);
        }
        upper.extend(carry);
        let sums = if self.rows.is_empty() {
            let w = Words(machine);
            for (place, limb) in (0..).zip(upper) {
                machine.store(self.limbs, w.number(place), limb);
            }
            machine.repeat(w.number(N as u64), lower, |machine, place, sums| {
                let row = machine.load(self.numbers, place);
                let limb = machine.load(self.limbs, place);
                std::array::from_fn(|place| sums[place] + limb * row[place])
            })
        } else {
            (0..).zip(upper).fold(lower, |sums, (number, limb)| {
                let row = match self.rows.get(number) {
                    Some(&row) => row,
                    None => machine.load(self.numbers, machine.small(number as u64)), // usize to u64 widens
                };
                std::array::from_fn(|place| sums[place] + limb * row[place])
            })
        };
        reduce(machine, sums, (self.complement, self.inverse))
    }
}

impl<M: Machine, const N: usize> Products<M, N> for Reduction<M, N> {
    fn numbers(&self) -> Array<[M::Fe; N]> {
        self.numbers
    }

    fn limbs(&self) -> Array<M::Fe> {
        self.limbs
    }

    fn reduce(&self, machine: &M, columns: [M::Fe; N]) -> [M::Fe; N] {
        machine.branch(
            machine.has(Feature::ShortCode),
            |machine| {
                let constants = (self.complement, self.inverse);
                machine.function("reduction of limbs", (columns, constants), |machine, (columns, constants)| {
                    reduce(machine, columns, constants)
                })
            },
            |machine| reduce(machine, columns, (self.complement, self.inverse)),
        )
    }

    fn least(&self, machine: &M, number: [M::Fe; N]) -> [M::Fe; N] {
        let sums = std::array::from_fn(|place| number[place] + self.complement[place]);
        let (difference, is_above) = normal(machine, sums);
        machine.branch(machine.word_of(is_above, 0), |_| difference, |_| number)
    }

    fn product(&self, machine: &M, x: [M::Fe; N], y: [M::Fe; N]) -> [M::Fe; N] {
        self.fold(machine, Columns::<M, N>::of_product(x, y))
    }

    fn square(&self, machine: &M, x: [M::Fe; N]) -> [M::Fe; N] {
        self.fold(machine, Columns::<M, N>::of_square(x))
    }

    fn square_or_product(
        &self,
        machine: &M,
        is_square: M::Word,
        x: [M::Fe; N],
        y: impl FnOnce(&M) -> [M::Fe; N],
    ) -> [M::Fe; N] {
        // The column in the middle is in both halves.
        let halves = |columns: Vec<M::Fe>| -> [[M::Fe; N]; 2] {
            [0, N - 1].map(|first| std::array::from_fn(|place| columns[first + place]))
        };
        let [lower, upper] = machine.branch(
            is_square,
            |_| halves(Columns::<M, N>::of_square(x)),
            |machine| halves(Columns::<M, N>::of_product(x, y(machine))),
        );
        self.fold(machine, [&lower, &upper[1..]].concat())
    }
}

/// The columns, each below 2N·B², reduced with the complement of m' and its inverse.
fn reduce<M: Machine, const N: usize>(
    machine: &M,
    columns: [M::Fe; N],
    (complement, inverse): ([M::Fe; N], M::Fe),
) -> [M::Fe; N] {
    let quotient = quotient(machine, [columns[N - 1], columns[N - 2]], inverse);
    let sums = std::array::from_fn(|place| columns[place] + quotient * complement[place]);
    normal(machine, sums).0
}

/// Bᴺ − m', its lowest limb not reduced.
pub(super) fn complement<M: Machine, const N: usize>(machine: &M, modulus: [M::Fe; N]) -> [M::Fe; N] {
    let largest = machine.constant(&((BigUint::from(1u8) << LIMB_BITS) - 1u8));
    let mut complement = modulus.map(|limb| largest - limb);
    complement[0] = complement[0] + machine.one();
    complement
}

/// A multiple of m' that a number, whose two highest columns these are, is above: its quotient, or one less.
pub(super) fn quotient<M: Machine>(machine: &M, [highest, next]: [M::Fe; 2], inverse: M::Fe) -> M::Fe {
    let top = highest + machine.high(next, SHIFT); //    u = ⌊S / Bᴺ⁻¹⌋ or a little less
    machine.high(machine.high(top, 360) * inverse, 384) // q = ⌊⌊u / 2³⁶⁰⌋·v / 2³⁸⁴⌋
}

/// Sums of products by the power of B that they belong to.
struct Columns<M: Machine, const N: usize>(Vec<Option<M::Fe>>);

impl<M: Machine, const N: usize> Columns<M, N> {
    fn new() -> Self {
        Self(vec![None; 2 * N - 1])
    }

    fn of_product(x: [M::Fe; N], y: [M::Fe; N]) -> Vec<M::Fe> {
        let mut columns = Self::new();
        for (place, &limb) in y.iter().enumerate() {
            for (other, &x) in x.iter().enumerate() {
                columns.add(place + other, x * limb);
            }
        }
        columns.all()
    }

    fn of_square(x: [M::Fe; N]) -> Vec<M::Fe> {
        let double = x.map(|limb| limb + limb);
        let mut columns = Self::new();
        for place in 0..N {
            columns.add(2 * place, x[place].square());
            for (after, &limb) in x[place + 1..].iter().enumerate() {
                columns.add(2 * place + 1 + after, double[place] * limb);
            }
        }
        columns.all()
    }

    fn add(&mut self, place: usize, product: M::Fe) {
        let column = &mut self.0[place];
        *column = Some(column.map_or(product, |sum| sum + product));
    }

    fn all(self) -> Vec<M::Fe> {
        self.0.into_iter().map(|column| column.expect("every column has a product")).collect()
    }
}

/// ⌊2⁷⁴⁴ / ν⌋ or up to two less, for ν = m' / Bᴺ⁻¹ in [2³⁶⁴, 2³⁶⁵), of which the two highest limbs are taken: with d = ⌊2²⁴·ν⌋ + 1, 2⁷⁶⁸ / d by
/// Newton's steps from 126 bits. No step gives too much.
pub(super) fn inverse<M: Machine>(machine: &M, highest: M::Fe, next: M::Fe) -> M::Fe {
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| {
            machine.function("inverse", (highest, next), |machine, (highest, next)| inverse_of(machine, highest, next))
        },
        |machine| inverse_of(machine, highest, next),
    )
}

fn inverse_of<M: Machine>(machine: &M, highest: M::Fe, next: M::Fe) -> M::Fe {
    let w = Words(machine);
    let power = |bits: u32| machine.constant(&(BigUint::from(1u8) << bits));
    let d = highest * power(24) + machine.high(next, 344) + machine.one();
    let top = w.high(machine.word_of(d, 256), 5); //                     ⌊d / 2²⁶¹⌋
    let y = w.div(w.shl(w.number(1), w.number(255)), w.add(top, w.number(1)));
    let y = machine.element_of(&[y]); //                                 y ≤ 2⁵¹⁶ / d
    let y = y * power(124) + machine.high(y * (power(516) - y * d), 392); // y ≤ 2⁶⁴⁰ / d
    y * power(128) + machine.high(y * (power(640) - y * d), 512) //      y ≤ 2⁷⁶⁸ / d
}
