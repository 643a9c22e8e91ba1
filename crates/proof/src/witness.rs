//! The witness of a certificate: which value of the program a word of the code is. It is found here, and judged by [`Job::check`].
//!
//! All values are computed at some points, pseudorandom elements in place of calldata. Code is run on symbolic words once more, and a word
//! that has the numbers of a value at these points is taken for it. Nothing depends on the way that code was made.

use crate::check::{Given, Hints, Ran, Refused, Start, TurnAt, run};
use crate::flow::paths::End;
use crate::semantics::Semantics;
use crate::straight::{Operation, Read, Straight};
use crate::sum::{Atom, Number, Sum};
use crate::tables::{Tables, signed};
use foldhash::{HashMap, HashMapExt, HashSet};
use residue_ir::FieldOp;
use ruint::aliases::U256;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Points at which values are computed: with a modulus of 31 bits other values have the same numbers once in 2⁹³.
const POINTS: usize = 3;
/// Terms of a sum that needs no name: longer ones would grow with each round.
const TERMS_WITHOUT_NAME: usize = 3;

/// Hints in the order of instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witness {
    /// For each CALLDATALOAD the parsed value, and for each MUL, MULMOD and lane of MULMODX of two operands that are no constants the product that it is, or the negative of.
    pub values: Vec<Atom>,
    /// For each ADD, SUB, MUL, MOD, ADDMOD and MULMOD, and each lane of ADDMODX, SUBMODX and MULMODX, the value that its result is, or the negative of, if that has a name.
    pub names: Vec<Option<Atom>>,
}

impl Witness {
    /// The values with names: each is an atom of later sums.
    pub fn named(&self) -> HashSet<Atom> {
        self.names.iter().copied().flatten().collect()
    }
}

/// Code that is to be shown right: of a straight program, or of one with branches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The operations, of all paths.
    pub(crate) program: &'a Straight,
    /// The ends of paths; none of a straight program.
    pub(crate) ends: Option<&'a [End]>,
    pub(crate) semantics: Semantics,
    pub(crate) code: &'a [u8],
    /// The state that code is begun in, if that is not its first byte.
    pub(crate) start: Option<&'a Start>,
    pub(crate) turn_at: TurnAt,
}

/// Finds a witness for code of a program. What it finds [`crate::check()`] accepts; the refusal if nothing is found.
pub fn witness(program: &Straight, semantics: Semantics, code: &[u8]) -> Result<Witness, Refused> {
    Job::straight(program, semantics, code).witness()
}

impl<'a> Job<'a> {
    /// Code of a straight program.
    pub(crate) const fn straight(program: &'a Straight, semantics: Semantics, code: &'a [u8]) -> Self {
        Self { program, ends: None, semantics, code, start: None, turn_at: TurnAt::Nowhere }
    }

    /// Finds a witness, which [`Self::check`] accepts.
    pub(crate) fn witness(self) -> Result<Witness, Refused> {
        let Self { program, semantics, code, .. } = self;
        // The values that code has as words, each with a name: sums stay short, and nothing is compared.
        let too_long = |why| Refused::at(0, code, semantics, why);
        let every = self.tables(|_, _| true).map_err(too_long)?;
        let numbers = Numbers::of(program, &every);
        let mut found = Guess::new(program, &numbers, &every, false);
        // Of equal values another one may have been found: what is refused is looked at below.
        let _ = self.run(&every, &mut found);
        let mut named: HashSet<Atom> = found.witness.named();
        loop {
            let mut has_name = HashSet::default();
            let tables = self
                .tables(|atom, sum| {
                    let is_named = named.contains(&atom) && sum.terms().len() > TERMS_WITHOUT_NAME;
                    is_named && has_name.insert(atom)
                })
                .map_err(too_long)?;
            let mut guess = Guess::new(program, &numbers, &tables, true);
            let ran = self.run(&tables, &mut guess);
            let Guess { witness, in_the_way, .. } = guess;
            // A name that code has no word for where the program has the value.
            let before = has_name.len();
            named = has_name;
            named.retain(|atom| !in_the_way.contains(atom));
            if named.len() == before {
                ran?;
                self.check(&witness)?;
                return Ok(witness);
            }
        }
    }

    /// The program's tables. Paths have values in common, each of which is one atom.
    fn tables(&self, is_named: impl FnMut(Atom, &Sum) -> bool) -> Result<Tables, String> {
        Tables::of(self.program, is_named, self.ends.is_some())
    }

    /// Those with the names of a witness.
    pub(crate) fn named(&self, witness: &Witness) -> Result<Tables, String> {
        let named = witness.named();
        self.tables(|atom, _| named.contains(&atom))
    }

    /// Runs the code.
    fn run(&self, tables: &Tables, hints: &mut impl Hints) -> Result<Ran, Refused> {
        let ends: Option<Vec<End>> = self.ends.map(|ends| ends.iter().map(|end| end.lifted(tables)).collect());
        run(self, tables, ends.as_deref(), hints)
    }

    /// Shows that the code ends as the program does, for all calldata, with any gas from the result on: that of the way that takes most, and the
    /// instructions of the longest one.
    pub(crate) fn check(&self, witness: &Witness) -> Result<Ran, Refused> {
        let tables = self.named(witness).map_err(|why| Refused::at(0, self.code, self.semantics, why))?;
        self.run(&tables, &mut Given::new(&tables, self.program.modulus, witness))
    }
}

/// Numbers of a value at all points.
type At = [Number; POINTS];

/// The numbers of a program's values at the points, and the values by their numbers.
struct Numbers {
    p: Number,
    of: HashMap<Atom, At>,
    /// Products, with `true` for the number of −x.
    products: HashMap<At, (Atom, bool)>,
    /// Other values of operations.
    sums: HashMap<At, (Atom, bool)>,
}

impl Numbers {
    fn of(program: &Straight, tables: &Tables) -> Self {
        let p = program.modulus;
        let mut numbers = Self { p, of: HashMap::new(), products: HashMap::new(), sums: HashMap::new() };
        numbers.of.insert(Atom::ONE, [Number::ONE; POINTS]);
        let words = program.words.iter().map(|word| word.value);
        for value in program.parses.iter().map(|&(value, _)| value).chain(words).chain(program.told.iter().copied()) {
            let atom = Atom::of(value);
            numbers.of.insert(atom, std::array::from_fn(|point| element(point, atom, p)));
        }
        for &Operation { value, kind, x, y } in &program.operations {
            let atom = Atom::of(value);
            let is_product = tables.products.contains_key(&atom);
            let [x, y] = [x, y].map(|read| match read {
                Read::Value(value) => numbers.of[&Atom::of(value)],
                Read::Number(number) => [number; POINTS],
            });
            let at: At = std::array::from_fn(|point| match kind {
                FieldOp::Add => x[point].add_mod(y[point], p),
                FieldOp::Sub => x[point].add_mod(p - y[point] % p, p),
                FieldOp::Mul => x[point].mul_mod(y[point], p),
            });
            numbers.of.insert(atom, at);
            if tables.aliases.contains_key(&atom) {
                continue;
            }
            let known = if is_product { &mut numbers.products } else { &mut numbers.sums };
            known.entry(at).or_insert((atom, false));
            known.entry(at.map(|number| (p - number) % p)).or_insert((atom, true));
        }
        numbers
    }

    fn sum(&self, sum: &Sum) -> At {
        std::array::from_fn(|point| {
            let term = |&(atom, c): &(Atom, Number)| self.of[&atom][point].mul_mod(c, self.p);
            sum.terms().iter().map(term).fold(Number::ZERO, |all, one| all.add_mod(one, self.p))
        })
    }
}

/// A pseudorandom number below p, the same in each run.
fn element(point: usize, atom: Atom, p: Number) -> Number {
    let digest = Sha256::digest(format!("{point} {atom}"));
    Number::from_be_slice(&digest) % p
}

/// Hints by numbers, noted in a witness.
struct Guess<'a> {
    program: &'a Straight,
    numbers: &'a Numbers,
    tables: &'a Tables,
    /// True if a name that does not fit is not given.
    compares: bool,
    witness: Witness,
    /// Values whose names the program's sums have where code has other words.
    in_the_way: HashSet<Atom>,
}

impl<'a> Guess<'a> {
    fn new(program: &'a Straight, numbers: &'a Numbers, tables: &'a Tables, compares: bool) -> Self {
        Self { program, numbers, tables, compares, witness: Witness::default(), in_the_way: HashSet::default() }
    }

    /// Notes the names in `expected` that are not in `found`.
    fn note(&mut self, expected: &[&Sum], found: &[&Sum]) {
        let found: HashSet<Atom> = found.iter().flat_map(|sum| sum.terms()).map(|&(atom, _)| atom).collect();
        let expected = expected.iter().flat_map(|sum| sum.terms()).map(|&(atom, _)| atom);
        let definitions = &self.tables.definitions;
        self.in_the_way.extend(expected.filter(|atom| !found.contains(atom) && definitions.contains_key(atom)));
    }
}

impl Hints for Guess<'_> {
    fn only_guesses(&self) -> bool {
        !self.compares
    }

    fn parsed(&mut self, program: &Straight, offset: U256) -> Result<Atom, String> {
        let parse = program.parses.iter().find(|&&(_, at)| U256::from(at) == offset);
        let &(value, _) = parse.ok_or_else(|| format!("the program parses nothing at byte {offset} of calldata"))?;
        self.witness.values.push(Atom::of(value));
        Ok(Atom::of(value))
    }

    fn product(&mut self, x: &Sum, y: &Sum) -> Result<Sum, String> {
        let p = self.program.modulus;
        let [a, b] = [x, y].map(|sum| self.numbers.sum(sum));
        let at: At = std::array::from_fn(|point| a[point].mul_mod(b[point], p));
        let found = self.numbers.products.get(&at).copied();
        let (atom, is_negative) = found.ok_or_else(|| format!("the program has no product of ({x}) and ({y})"))?;
        let fits = !self.compares || self.tables.is_product(atom, x, y, p).is_some();
        if let (false, Some((a, b))) = (fits, self.tables.products.get(&atom)) {
            self.note(&[a, b], &[x, y]);
        }
        self.witness.values.push(atom);
        Ok(signed(atom, is_negative, p))
    }

    fn named(&mut self, sum: Arc<Sum>) -> Result<Arc<Sum>, String> {
        let p = self.program.modulus;
        let found = self.numbers.sums.get(&self.numbers.sum(&sum)).copied();
        let found = found.filter(|(atom, _)| self.tables.definitions.contains_key(atom));
        let fits = |&(atom, _): &(Atom, bool)| !self.compares || self.tables.is_value(atom, &sum, p).is_some();
        let name = found.filter(fits);
        self.witness.names.push(name.map(|(atom, _)| atom));
        match (name, found) {
            (Some((atom, is_negative)), _) => Ok(Arc::new(signed(atom, is_negative, p))),
            (None, Some((atom, is_negative))) => {
                let definition = self.tables.definitions[&atom].clone();
                // The word may be the name itself already.
                if *sum != signed(atom, is_negative, p) {
                    self.note(&[&definition], &[&sum]);
                }
                Ok(sum)
            }
            (None, None) => Ok(sum),
        }
    }
}
