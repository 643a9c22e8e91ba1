//! Tables of a program: its values as sums, its products as pairs of sums, and the sums of values with names.

use crate::straight::{Read, Straight};
use crate::sum::{Atom, Number, Sum};
use foldhash::{HashMap, HashMapExt};
use residue_ir::{FieldOp, Value};

/// Terms of all sums that a checker makes of a program, and as many of its code: 416 MiB each. Without a limit a short text whose values have no names
/// could ask for more than any machine has.
const TERMS_MAX: usize = 1 << 22;

/// Terms that may still be made.
#[derive(Debug)]
pub struct Budget(usize);

impl Budget {
    /// That of one run.
    pub const fn new() -> Self {
        Self(TERMS_MAX)
    }

    /// Takes terms off; a fault if there are not so many left.
    pub fn take(&mut self, terms: usize) -> Result<(), String> {
        let left = self.0.checked_sub(terms);
        self.0 = left.ok_or_else(|| format!("sums have more than {TERMS_MAX} terms in all: values need names"))?;
        Ok(())
    }
}

/// Equations of a program, modulo p.
#[derive(Debug, Default)]
pub struct Tables {
    /// Each value as a sum.
    pub sums: HashMap<Atom, Sum>,
    /// Each product of two sums that are no constants.
    pub products: HashMap<Atom, (Sum, Sum)>,
    /// Each value with a name that is no product, as the sum that it is the name of.
    pub definitions: HashMap<Atom, Sum>,
    /// Values that are an earlier product, or an earlier value with a name.
    pub aliases: HashMap<Atom, Atom>,
}

impl Tables {
    /// Those of a program, or a fault if sums are too long. `is_named` chooses the values with names, of a value and its sum. Equal values become one
    /// if they are to be `joined`.
    pub fn of(program: &Straight, mut is_named: impl FnMut(Atom, &Sum) -> bool, joined: bool) -> Result<Self, String> {
        let p = program.modulus;
        let mut budget = Budget::new();
        let mut tables = Self::default();
        let (mut named, mut products) = (HashMap::new(), HashMap::new());
        let words = program.words.iter().map(|word| word.value);
        for value in program.parses.iter().map(|&(value, _)| value).chain(words).chain(program.told.iter().copied()) {
            tables.sums.insert(Atom::of(value), Sum::atom(Atom::of(value)));
        }
        for operation in &program.operations {
            let atom = Atom::of(operation.value);
            let [x, y] = [operation.x, operation.y].map(|read| tables.read(read, p));
            budget.take(x.terms().len() + y.terms().len())?;
            let sum = match operation.kind {
                FieldOp::Add => x.plus(&y, p),
                FieldOp::Sub => x.plus(&y.negated(p), p),
                FieldOp::Mul => match (x.as_constant(), y.as_constant()) {
                    (Some(k), _) => y.times(k, p),
                    (None, Some(k)) => x.times(k, p),
                    (None, None) => {
                        let pair = if !joined || x.terms() <= y.terms() { (x, y) } else { (y, x) };
                        let first = if joined { *products.entry(pair.clone()).or_insert(atom) } else { atom };
                        tables.sums.insert(atom, Sum::atom(first));
                        match first == atom {
                            true => drop(tables.products.insert(atom, pair)),
                            false => drop(tables.aliases.insert(atom, first)),
                        }
                        continue;
                    }
                },
            };
            if let Some(&first) = named.get(&sum).filter(|_| joined) {
                tables.aliases.insert(atom, first);
                tables.sums.insert(atom, Sum::atom(first));
            } else if is_named(atom, &sum) {
                named.insert(sum.clone(), atom);
                tables.definitions.insert(atom, sum);
                tables.sums.insert(atom, Sum::atom(atom));
            } else {
                tables.sums.insert(atom, sum);
            }
        }
        Ok(tables)
    }

    /// Values that are earlier ones, by ascending value.
    pub fn aliases(self) -> Vec<(Atom, Atom)> {
        let mut aliases: Vec<(Atom, Atom)> = self.aliases.into_iter().collect();
        aliases.sort_unstable();
        aliases
    }

    /// The sum of a value that has been defined.
    pub fn sum(&self, value: Value) -> &Sum {
        self.sums.get(&Atom::of(value)).expect("a verified program defines a value before it is read")
    }

    fn read(&self, read: Read, p: Number) -> Sum {
        match read {
            Read::Value(value) => self.sum(value).clone(),
            Read::Number(number) => Sum::constant(number, p),
        }
    }

    /// True if product `atom` is x·y (`false` for its sign), or −x·y (`true`); `None` if it is neither.
    pub fn is_product(&self, atom: Atom, x: &Sum, y: &Sum, p: Number) -> Option<bool> {
        let (a, b) = self.products.get(&atom)?;
        let is = |x: &Sum, y: &Sum| (x == a && y == b) || (y == a && x == b);
        let (minus_x, minus_y) = (x.negated(p), y.negated(p));
        if is(x, y) || is(&minus_x, &minus_y) {
            Some(false)
        } else {
            (is(&minus_x, y) || is(x, &minus_y)).then_some(true)
        }
    }

    /// True if value `atom` is the sum (`false` for its sign) or its negative (`true`); `None` if it is neither or has no name.
    pub fn is_value(&self, atom: Atom, sum: &Sum, p: Number) -> Option<bool> {
        let definition = self.definitions.get(&atom)?;
        if sum == definition { Some(false) } else { (sum.negated(p) == *definition).then_some(true) }
    }
}

/// ± an atom.
pub fn signed(atom: Atom, is_negative: bool, p: Number) -> Sum {
    if is_negative { Sum::minus(atom, p) } else { Sum::atom(atom) }
}
