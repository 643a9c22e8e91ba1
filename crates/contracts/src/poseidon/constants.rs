//! Sources of the round constants.

use num_bigint::BigUint;
use residue_ir::{Machine, Table};

/// Source of constants that are added once each, in order of use.
pub trait Constants<M: Machine> {
    /// The next one, which is `value`.
    fn next(&mut self, machine: &M, value: &BigUint) -> M::Fe;
}

/// From slots, where all constants of a program are from its start on.
#[derive(Debug)]
pub struct InSlots;

impl<M: Machine> Constants<M> for InSlots {
    fn next(&mut self, machine: &M, value: &BigUint) -> M::Fe {
        machine.constant(value)
    }
}

/// Out of code, so many at a time: that takes no slot longer than needed, and half the gas if each is wanted once.
#[derive(Debug)]
pub struct FromCode<M: Machine, const COUNT: usize> {
    table: Table<[M::Fe; COUNT]>,
    rows: u64,
    loaded: std::vec::IntoIter<M::Fe>,
}

impl<M: Machine, const COUNT: usize> FromCode<M, COUNT> {
    /// These constants.
    pub fn new(machine: &M, name: &'static str, sequence: &[BigUint]) -> Self {
        let row = |row: &[BigUint]| {
            let mut row = row.to_vec();
            row.resize(COUNT, BigUint::ZERO);
            row
        };
        let rows: Vec<Vec<BigUint>> = sequence.chunks(COUNT).map(row).collect();
        Self { table: machine.table(name, &rows), rows: 0, loaded: Vec::new().into_iter() }
    }
}

impl<M: Machine, const COUNT: usize> Constants<M> for FromCode<M, COUNT> {
    fn next(&mut self, machine: &M, _: &BigUint) -> M::Fe {
        if let Some(constant) = self.loaded.next() {
            return constant;
        }
        self.loaded = machine.lookup(self.table, machine.small(self.rows)).to_vec().into_iter();
        self.rows += 1;
        self.loaded.next().expect("a row is not empty")
    }
}
