//! Products in short code: columns of a limb are one turn of a loop, and so is what a limb carries; constants stand in memory.

use super::limbs::{self, LIMB_BITS, radix};
use super::reduction::{Products, complement, inverse, quotient};
use crate::words::Words;
use residue_ir::{Array, Capacity, Machine, Variable};

/// Products modulo m' whose constants are in memory.
pub(super) struct Rolled<M: Machine, const N: usize> {
    numbers: Array<[M::Fe; N]>,
    /// Limbs of a factor, or what [`carry`] leaves.
    limbs: Array<M::Fe>,
    /// The lower N columns of a product.
    lower: Array<M::Fe>,
    /// The number of the last one but the complement of m', which is the next.
    last: Variable,
    /// ⌊2⁷⁴⁴·Bᴺ⁻¹ / m'⌋ or up to two less.
    inverse: Array<M::Fe>,
}

/// Puts the number that sums of products make into `limbs`, and gives what it has above them.
pub(super) fn carry<M: Machine, const N: usize>(machine: &M, limbs: Array<M::Fe>, columns: [M::Fe; N]) -> M::Fe {
    machine.function("carry", columns, |machine, columns| {
        for (place, column) in (0..).zip(columns) {
            machine.store(limbs, machine.small(place), column);
        }
        machine.repeat(machine.small(N as u64), machine.zero(), |machine, place, carry| {
            let column = machine.load(limbs, place) + carry;
            let above = machine.high(column, LIMB_BITS as u32); // 368
            machine.store(limbs, place, column - above * radix(machine));
            above
        })
    })
}

/// The limbs that [`carry`] leaves.
fn load<M: Machine, const N: usize>(machine: &M, limbs: Array<M::Fe>) -> [M::Fe; N] {
    machine.function("number", (), |machine, ()| limbs::load(machine, limbs))
}

impl<M: Machine, const N: usize> Rolled<M, N> {
    /// For m' whose columns these are.
    pub(super) fn new(
        machine: &M,
        columns: [M::Fe; N],
        (limbs, numbers): (Array<M::Fe>, Array<[M::Fe; N]>),
        last: Variable,
    ) -> Self {
        carry(machine, limbs, columns);
        let modulus: [M::Fe; N] = load(machine, limbs);
        let rolled = Self {
            numbers,
            limbs,
            lower: machine.array("lower columns", Capacity::Unbounded),
            last,
            inverse: machine.array("inverse", Capacity::Fixed(1)),
        };
        let place = rolled.complement_place(machine);
        let room = machine.bind(Words(machine).add(place, machine.small(1)));
        machine.reserve(rolled.lower, room);
        machine.reserve(numbers, room);
        machine.store(numbers, place, complement(machine, modulus));
        machine.store(rolled.inverse, machine.small(0), inverse(machine, modulus[N - 1], modulus[N - 2]));
        rolled.make_powers(machine);
        rolled
    }

    fn complement_place(&self, machine: &M) -> M::Word {
        machine.bind(Words(machine).add(machine.get(self.last), machine.small(1)))
    }

    fn complement(&self, machine: &M) -> [M::Fe; N] {
        machine.load(self.numbers, self.complement_place(machine))
    }
}

impl<M: Machine, const N: usize> Products<M, N> for Rolled<M, N> {
    fn numbers(&self) -> Array<[M::Fe; N]> {
        self.numbers
    }

    fn limbs(&self) -> Array<M::Fe> {
        self.limbs
    }

    fn reduce(&self, machine: &M, columns: [M::Fe; N]) -> [M::Fe; N] {
        machine.function("reduction", columns, |machine, columns| {
            let inverse = machine.load(self.inverse, machine.small(0));
            let quotient = quotient(machine, [columns[N - 1], columns[N - 2]], inverse);
            let complement = self.complement(machine);
            let sums: [M::Fe; N] = std::array::from_fn(|place| columns[place] + quotient * complement[place]);
            carry(machine, self.limbs, sums);
            load(machine, self.limbs)
        })
    }

    fn least(&self, machine: &M, number: [M::Fe; N]) -> [M::Fe; N] {
        let complement = self.complement(machine);
        let sums: [M::Fe; N] = std::array::from_fn(|place| number[place] + complement[place]);
        let is_above = carry(machine, self.limbs, sums);
        machine.branch(machine.word_of(is_above, 0), |machine| load(machine, self.limbs), |_| number)
    }

    fn product(&self, machine: &M, x: [M::Fe; N], y: [M::Fe; N]) -> [M::Fe; N] {
        machine.function("product", (x, y), |machine, (x, y)| {
            for (place, limb) in (0..).zip(y) {
                machine.store(self.limbs, machine.small(place), limb);
            }
            // Columns from the turn's own on.
            let upper = machine.repeat(machine.small(N as u64), [machine.zero(); N], |machine, place, columns| {
                let limb = machine.load(self.limbs, place);
                machine.store(self.lower, place, columns[0] + x[0] * limb);
                std::array::from_fn(|place| match x.get(place + 1) {
                    Some(&x) => columns[place + 1] + x * limb,
                    None => machine.zero(),
                })
            });
            carry(machine, self.limbs, upper);
            let lower: [M::Fe; N] = limbs::load(machine, self.lower);
            let sums = machine.repeat(machine.small(N as u64), lower, |machine, place, sums| {
                let row = machine.load(self.numbers, place);
                let limb = machine.load(self.limbs, place);
                std::array::from_fn(|place| sums[place] + limb * row[place])
            });
            self.reduce(machine, sums)
        })
    }

    fn square(&self, machine: &M, x: [M::Fe; N]) -> [M::Fe; N] {
        self.product(machine, x, x)
    }
}
