//! Hints of a run, and those of a certificate, each compared with the program.

use super::{Step, refuse};
use crate::straight::Straight;
use crate::sum::{Atom, Number, Sum};
use crate::tables::{Tables, signed};
use crate::witness::Witness;
use residue_ir::Value;
use ruint::aliases::U256;
use std::sync::Arc;

/// Source of hints; [`Given`] has those that are judged.
pub(crate) trait Hints {
    /// The value that is parsed at an offset.
    fn parsed(&mut self, program: &Straight, offset: U256) -> Step<Atom>;

    /// x·y as a sum, of sums that are no constants.
    fn product(&mut self, x: &Sum, y: &Sum) -> Step<Sum>;

    /// The sum of an arithmetic instruction's result, by its name if it has one.
    fn named(&mut self, sum: Arc<Sum>) -> Step<Arc<Sum>>;

    /// True where nothing is judged: a way that is refused may be left.
    fn only_guesses(&self) -> bool {
        false
    }
}

/// The hints of a certificate, each compared with the program.
pub(crate) struct Given<'a> {
    tables: &'a Tables,
    p: Number,
    values: std::slice::Iter<'a, Atom>,
    names: std::slice::Iter<'a, Option<Atom>>,
}

impl<'a> Given<'a> {
    pub(crate) fn new(tables: &'a Tables, p: Number, witness: &'a Witness) -> Self {
        Self { tables, p, values: witness.values.iter(), names: witness.names.iter() }
    }

    fn value(&mut self) -> Step<Atom> {
        self.values.next().copied().map_or_else(|| refuse("the witness has no more values"), Ok)
    }
}

impl Hints for Given<'_> {
    fn parsed(&mut self, program: &Straight, offset: U256) -> Step<Atom> {
        let hint = self.value()?;
        let is_it = |&&(value, at): &&(Value, u32)| Atom::of(value) == hint && U256::from(at) == offset;
        match program.parses.iter().find(is_it) {
            Some(_) => Ok(hint),
            None => refuse(format!("the witness has {hint} here, which the program does not parse at byte {offset}")),
        }
    }

    fn product(&mut self, x: &Sum, y: &Sum) -> Step<Sum> {
        // A hint that does not fit is the next instruction's.
        let before = self.values.clone();
        let hint = self.value()?;
        if self.tables.is_product(hint, x, y, self.p).is_none() {
            self.values = before;
        }
        match (self.tables.is_product(hint, x, y, self.p), self.tables.products.get(&hint)) {
            (Some(is_negative), _) => Ok(signed(hint, is_negative, self.p)),
            (None, Some((a, b))) => {
                refuse(format!("the witness has {hint} here, the product of ({a}) and ({b}); found ({x}) and ({y})"))
            }
            (None, None) => refuse(format!("the witness has {hint} here, which is no product of the program")),
        }
    }

    fn named(&mut self, sum: Arc<Sum>) -> Step<Arc<Sum>> {
        let Some(Some(name)) = self.names.next().copied() else { return Ok(sum) };
        match (self.tables.is_value(name, &sum, self.p), self.tables.definitions.get(&name)) {
            (Some(is_negative), _) => Ok(Arc::new(signed(name, is_negative, self.p))),
            (None, Some(definition)) => {
                refuse(format!("the witness names this word {name}, which is ({definition}); found ({sum})"))
            }
            (None, None) => refuse(format!("the witness names this word {name}, which is no sum of the program")),
        }
    }
}
