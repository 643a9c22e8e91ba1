//! Selection of the values of a block over a wide field that become words of their own, and of their sums.
//!
//! A value that is written to a slot or read by a product becomes words; every other one stays a sum of products and of
//! values until it is read. So a sum of products is reduced once, however long it is, and additions become additions of
//! words at their readers. Sums with several readers become words once if that is cheaper. Judge: [`super::read`], and
//! random blocks in `tests`.

use super::system::{MULTIPLE_MAX, System};
use foldhash::{HashMap, HashMapExt};
use num_bigint::{BigInt, BigUint};
use num_traits::{ToPrimitive, Zero};
use residue_ir::FieldOp;
use residue_passes::{Slot, SlotOp};
use std::collections::{BTreeMap, BTreeSet};

/// A value that is words, or a constant, by its number in [`Sums::atoms`].
pub type Atom = usize;

/// Multiples of atoms, none of them 0.
pub type Linear = BTreeMap<Atom, i64>;

/// A sum of products of sums, of which the first factor is not above the second, and a sum of atoms.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form {
    /// Products with how often they are added.
    pub products: BTreeMap<(Linear, Linear), i64>,
    /// Linear part, added to the products.
    pub linear: Linear,
}

/// Origin of an atom's words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A slot, as it is before the block.
    Slot(Slot),
    /// The integer of a constant.
    Constant(BigUint),
    /// The operation of this number.
    Made(usize),
}

/// The values of a block that become words.
#[derive(Debug)]
pub struct Sums {
    /// The atoms.
    pub atoms: Vec<Origin>,
    /// The most of each atom's integer, in multiples of p.
    pub most: Vec<f64>,
    /// Operations whose results become words, ascending, as what. One with products is reduced.
    pub made: Vec<(usize, Form)>,
}

/// Terms of each kind that a sum has at most.
const TERMS_MAX: usize = 16;
/// The most that the multiples of a sum come to: 128 words of a value fit a word.
const MULTIPLES_MAX: i64 = 96;
/// The same for products, each of which is below a modulus.
const PRODUCTS_MAX: i64 = 1024;
/// Multiples of p that an integer which is not reduced comes to at most.
const LINEAR_MAX: f64 = 512.0;
/// Multiples of p·A that a sum of products comes to at most: its reduction is then a value as slots hold it.
const SUM_MAX: f64 = 25.0;
/// A constant up to this, or its negative, is a multiple.
const SMALL_MAX: u8 = 32;
/// Products of a block that are tried as words at most.
const TRIED_MAX: usize = 24;

/// Gas of what code for values does, about.
#[derive(Debug, Clone, Copy)]
struct Gas {
    /// A product and its addition, with loads.
    product: usize,
    /// A reduction, with stores and loads of the result.
    reduction: usize,
    /// An atom more in a sum.
    atom: usize,
    /// A difference, beside that.
    difference: usize,
    /// Stores and loads of a sum that is made once.
    made: usize,
    /// A load or a store of all words.
    words: usize,
    /// A product and its addition, without loads.
    multiply: usize,
}

impl Gas {
    fn of(system: &System) -> Self {
        let words = system.residues().len();
        let reduction = match system.count() {
            2 => 220,
            3 => 480,
            _ => 850,
        };
        Self {
            product: 55 * words / 2,
            reduction,
            atom: 9 * words,
            difference: 6 * (words - 1),
            made: 12 * words,
            words: 6 * words,
            multiply: 25 * words / 2,
        }
    }
}

impl Form {
    /// One atom.
    fn of(atom: Atom) -> Self {
        Self { linear: Linear::from([(atom, 1)]), ..Self::default() }
    }

    fn add(&mut self, other: &Self, times: i64) {
        for (key, count) in &other.products {
            add_to(&mut self.products, key.clone(), count * times);
        }
        for (&atom, count) in &other.linear {
            add_to(&mut self.linear, atom, count * times);
        }
    }

    /// Adds a product; signs and common factors of its factors are taken out.
    pub fn add_product(&mut self, x: &Linear, y: &Linear, times: i64) {
        let ([x, y], [a, b]) = ([x, y].map(primitive), [x, y].map(content));
        if a != 0 && b != 0 {
            let key = if x <= y { (x, y) } else { (y, x) };
            add_to(&mut self.products, key, a * b * times);
        }
    }

    /// Gas of its words, about.
    fn gas(&self, gas: Gas) -> usize {
        let read = |x: &Linear| gas.atom * x.len() - (gas.atom - gas.words);
        let factors = |(x, y): &(Linear, Linear)| read(x) + if x == y { gas.words / 2 } else { read(y) };
        let products: usize = self.products.keys().map(|product| gas.multiply + factors(product)).sum();
        match self.products.len() {
            0 => gas.words + gas.atom * self.linear.len(),
            _ => gas.reduction - gas.words + products + gas.atom / 2 * self.linear.len(),
        }
    }

    /// All atoms that it reads.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> {
        let factors = self.products.keys().flat_map(|(x, y)| x.keys().chain(y.keys()));
        factors.chain(self.linear.keys()).copied()
    }

    /// The products multiplied out.
    fn expanded(&self) -> BTreeMap<(Atom, Atom), i64> {
        let mut terms = BTreeMap::new();
        for ((x, y), count) in &self.products {
            for (&a, i) in x {
                for (&b, j) in y {
                    add_to(&mut terms, (a.min(b), a.max(b)), count * i * j);
                }
            }
        }
        terms
    }

    /// The least and the most of the products and of the rest, if `most` is the most of an atom; none is below 0.
    pub fn interval(&self, most: impl Fn(Atom) -> BigInt) -> ([BigInt; 2], [BigInt; 2]) {
        let mut products = [BigInt::zero(), BigInt::zero()];
        for ((a, b), count) in self.expanded() {
            products[usize::from(count > 0)] += most(a) * most(b) * count;
        }
        let mut linear = [BigInt::zero(), BigInt::zero()];
        for (&atom, count) in &self.linear {
            linear[usize::from(*count > 0)] += most(atom) * count;
        }
        (products, linear)
    }
}

fn add_to<K: Ord>(sum: &mut BTreeMap<K, i64>, key: K, times: i64) {
    let entry = sum.entry(key);
    match entry {
        std::collections::btree_map::Entry::Vacant(vacant) if times != 0 => _ = vacant.insert(times),
        std::collections::btree_map::Entry::Vacant(_) => {}
        std::collections::btree_map::Entry::Occupied(mut occupied) => {
            *occupied.get_mut() += times;
            if *occupied.get() == 0 {
                occupied.remove();
            }
        }
    }
}

/// The greatest common factor of the multiples, with the sign of the first.
fn content(x: &Linear) -> i64 {
    let factor = x.values().fold(0, |factor, &count| gcd(factor, count));
    if x.values().next().is_some_and(|&first| first < 0) { -factor } else { factor }
}

/// Without that factor.
fn primitive(x: &Linear) -> Linear {
    let factor = content(x);
    x.iter().map(|(&atom, count)| (atom, count / factor)).collect()
}

/// The greatest common factor, not negative.
pub fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The program's block, as input.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The operations.
    pub ops: &'a [SlotOp],
    /// The slots that are read after it, of those that it writes.
    pub kept: &'a BTreeSet<Slot>,
    /// Slots from this one on are constants,
    pub first_constant: Slot,
    /// which are these, canonical.
    pub constants: &'a [BigUint],
    /// The system of its field.
    pub system: &'a System,
}

impl Source<'_> {
    /// For each operation whether its slot is read after the block.
    pub fn is_kept(&self) -> Vec<bool> {
        let writer: HashMap<Slot, usize> = self.ops.iter().zip(0..).map(|(op, number)| (op.out, number)).collect();
        (0..self.ops.len())
            .map(|number| {
                let slot = self.ops[number].out;
                self.kept.contains(&slot) && writer[&slot] == number
            })
            .collect()
    }
}

/// Choice of the values of a block that become words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// All results.
    All,
    /// Those that have to, so that equal formulas have equal results: what subroutines make.
    Regular,
    /// Also products in several sums, where that is cheaper.
    Cheapest,
}

/// The values of a block that become words.
pub fn sums(source: &Source<'_>, choice: Choice) -> Sums {
    let kept = source.is_kept();
    let first = settled(source, &kept, kept.iter().map(|&kept| kept || choice == Choice::All).collect());
    if choice == Choice::All {
        return first.sums();
    }
    let mut best = without_linear(source, &kept, first);
    // A product in several sums may be cheaper reduced once: then sums of it with values are factors as they are.
    let mut tried = BTreeSet::new();
    while choice == Choice::Cheapest && tried.len() < TRIED_MAX {
        let next = best.shared_products().find(|number| !tried.contains(number));
        let Some(number) = next else { break };
        tried.insert(number);
        let mut made = best.made.clone();
        made[number] = true;
        let other = without_linear(source, &kept, settled(source, &kept, made));
        if other.total_gas() < best.total_gas() {
            best = other;
        }
    }
    best.sums()
}

/// The same without words for sums of values that are only factors: they were sums of products when they were met, of which summands became words later.
fn without_linear<'a>(source: &'a Source<'a>, kept: &'a [bool], walk: Walk<'a>) -> Walk<'a> {
    let needed = |number: usize| kept[number] || !walk.forms[number].products.is_empty();
    let made = (0..source.ops.len()).map(|number| walk.made[number] && needed(number)).collect();
    let other = settled(source, kept, made);
    if other.total_gas() < walk.total_gas() { other } else { walk }
}

/// Walks until no value more becomes words, from those that are.
fn settled<'a>(source: &'a Source<'a>, kept: &'a [bool], mut made: Vec<bool>) -> Walk<'a> {
    loop {
        let mut walk = Walk::new(source, kept, made.clone());
        (0..source.ops.len()).for_each(|number| walk.operation(number));
        walk.make_shared();
        if walk.made == made {
            return walk;
        }
        made = walk.made;
    }
}

/// One walk over the operations; values only become words.
struct Walk<'a> {
    source: &'a Source<'a>,
    kept: &'a [bool],
    made: Vec<bool>,
    atoms: Vec<Origin>,
    numbers: BTreeMap<Origin, Atom>,
    /// The most of each atom's integer, in multiples of p.
    most: Vec<f64>,
    /// Form of each operation's result.
    forms: Vec<Form>,
    /// Last operation that wrote each slot.
    writer: HashMap<Slot, usize>,
    /// Numbers of sums and of products that read each result.
    readers: Vec<[usize; 2]>,
    /// p/A.
    ratio: f64,
    gas: Gas,
}

/// Origin of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    Result(usize),
    Slot(Slot),
}

impl<'a> Walk<'a> {
    fn new(source: &'a Source<'a>, kept: &'a [bool], made: Vec<bool>) -> Self {
        // The exponent of a ratio of this size is an f64's.
        let bits = source.system.a.bits() - source.system.p.bits();
        let scaled = (&source.system.p << (bits + 40)) / &source.system.a;
        let power = 2f64.powi(i32::try_from(bits + 40).expect("moduli are short"));
        Self {
            source,
            kept,
            made,
            atoms: Vec::new(),
            numbers: BTreeMap::new(),
            most: Vec::new(),
            forms: Vec::new(),
            writer: HashMap::new(),
            readers: vec![[0; 2]; source.ops.len()],
            ratio: (scaled + 1u8).to_f64().expect("it is a number") / power,
            gas: Gas::of(source.system),
        }
    }

    /// Products that are no words and stand in several results that are.
    fn shared_products(&self) -> impl Iterator<Item = usize> {
        let mut uses: HashMap<&(Linear, Linear), usize> = HashMap::new();
        for (form, _) in self.forms.iter().zip(&self.made).filter(|(_, made)| **made) {
            form.products.keys().for_each(|product| *uses.entry(product).or_default() += 1);
        }
        let is_shared = move |form: &Form| {
            form.linear.is_empty()
                && form.products.len() == 1
                && form.products.keys().all(|product| uses.get(product).is_some_and(|&uses| uses > 1))
        };
        (0..self.forms.len()).filter(move |&number| !self.made[number] && is_shared(&self.forms[number]))
    }

    /// Gas of all results that become words, about.
    fn total_gas(&self) -> usize {
        self.forms.iter().zip(&self.made).filter(|(_, made)| **made).map(|(form, _)| form.gas(self.gas)).sum()
    }

    fn sums(self) -> Sums {
        let made = self.forms.into_iter().enumerate().filter(|(number, _)| self.made[*number]).collect();
        Sums { atoms: self.atoms, most: self.most, made }
    }

    fn atom(&mut self, origin: Origin, most: f64) -> Atom {
        if let Some(&atom) = self.numbers.get(&origin) {
            return atom;
        }
        self.numbers.insert(origin.clone(), self.atoms.len());
        self.atoms.push(origin);
        self.most.push(most);
        self.atoms.len() - 1
    }

    fn constant(&mut self, value: &BigUint) -> Atom {
        self.atom(Origin::Constant(self.source.system.integer(value)), 1.0)
    }

    fn operand(&self, slot: Slot) -> Operand {
        self.writer.get(&slot).map_or(Operand::Slot(slot), |&number| Operand::Result(number))
    }

    /// The canonical value of a slot that is a constant.
    fn known(&self, operand: Operand) -> Option<&'a BigUint> {
        let Operand::Slot(slot) = operand else { return None };
        Some(&self.source.constants[slot.checked_sub(self.source.first_constant)? as usize]) // u32 to usize widens
    }

    fn read(&mut self, operand: Operand) -> Form {
        match (operand, self.known(operand)) {
            (_, Some(value)) if value.is_zero() => Form::default(),
            (_, Some(value)) => Form::of(self.constant(value)),
            (Operand::Slot(slot), None) => Form::of(self.atom(Origin::Slot(slot), MULTIPLE_MAX.into())),
            (Operand::Result(number), _) if self.made[number] => Form::of(self.made_atom(number)),
            (Operand::Result(number), _) => self.forms[number].clone(),
        }
    }

    /// Atom of a result that is words. A sum that is too long for words is reduced, and summands beside products become
    /// products with 1 if the result would be too long.
    fn made_atom(&mut self, number: usize) -> Atom {
        if let Some(&atom) = self.numbers.get(&Origin::Made(number)) {
            return atom;
        }
        let mut most = self.result_most(&self.forms[number]);
        let limit =
            if self.forms[number].products.is_empty() && !self.kept[number] { LINEAR_MAX } else { MULTIPLE_MAX.into() };
        if most > limit {
            let one = Linear::from([(self.constant(&BigUint::from(1u8)), 1)]);
            let form = &mut self.forms[number];
            let linear = std::mem::take(&mut form.linear);
            form.add_product(&linear, &one, 1);
            most = self.result_most(&self.forms[number]);
        }
        self.atom(Origin::Made(number), most)
    }

    /// The most of the result, in multiples of p.
    fn result_most(&self, form: &Form) -> f64 {
        let ([low, high], [least, most]) = self.interval(form);
        let reduced = if form.products.is_empty() { 0.0 } else { self.source.system.count().into() };
        let offset = (-(low * self.ratio + least)).ceil().max(0.0);
        high * self.ratio + most + offset + reduced + 0.01
    }

    /// As [`Form::interval`], in multiples of p² and of p.
    fn interval(&self, form: &Form) -> ([f64; 2], [f64; 2]) {
        let (mut products, mut linear) = ([0.0; 2], [0.0; 2]);
        for ((a, b), count) in form.expanded() {
            products[usize::from(count > 0)] += self.most[a] * self.most[b] * count as f64; // small
        }
        for (&atom, &count) in &form.linear {
            linear[usize::from(count > 0)] += self.most[atom] * count as f64; // small
        }
        (products, linear)
    }

    /// True if all intermediate sums of the form fit words.
    fn fits(&self, form: &Form) -> bool {
        let multiples = |x: &Linear| x.values().map(|count| count.abs()).sum::<i64>() <= MULTIPLES_MAX;
        let is_short = form.products.len() <= TERMS_MAX && form.linear.len() <= TERMS_MAX;
        let products: i64 = form.products.values().map(|count| count.abs()).sum();
        if !is_short || products > PRODUCTS_MAX || !multiples(&form.linear) {
            return false;
        }
        let factors = form.products.keys().flat_map(|(x, y)| [x, y]);
        let small = |x: &Linear| {
            x.iter().map(|(&atom, &count)| self.most[atom] * count.abs() as f64).sum::<f64>() <= LINEAR_MAX
        };
        if !factors.clone().all(|x| multiples(x) && small(x)) || !small(&form.linear) {
            return false;
        }
        let ([low, high], _) = self.interval(form);
        // What is added may become a product with 1.
        (high - low + LINEAR_MAX) * self.ratio <= SUM_MAX
    }

    fn operation(&mut self, number: usize) {
        let op = self.source.ops[number];
        let operands = [self.operand(op.x), self.operand(op.y)];
        let factor = if op.operation == FieldOp::Mul { self.small_factor(operands) } else { None };
        let is_product = op.operation == FieldOp::Mul && factor.is_none();
        for (place, operand) in operands.iter().enumerate() {
            if let Operand::Result(read) = operand
                && (place == 0 || operands[0] != operands[1])
            {
                self.readers[*read][usize::from(is_product)] += 1;
            }
        }
        loop {
            let [x, y] = operands.map(|operand| self.read(operand));
            let mut form = Form::default();
            match (op.operation, factor) {
                (FieldOp::Mul, Some((of, times))) => form.add(if of == 0 { &x } else { &y }, times),
                (FieldOp::Mul, None) => {
                    if let Some(read) = operands.into_iter().zip([&x, &y]).find_map(|(operand, form)| match operand {
                        Operand::Result(read) if !form.products.is_empty() => Some(read),
                        _ => None,
                    }) {
                        self.made[read] = true;
                        continue;
                    }
                    form.add_product(&x.linear, &y.linear, 1);
                }
                (FieldOp::Add, _) => {
                    form.add(&x, 1);
                    form.add(&y, 1);
                }
                (FieldOp::Sub, _) => {
                    form.add(&x, 1);
                    form.add(&y, -1);
                }
            }
            let longest = operands.into_iter().zip([&x, &y]).filter_map(|(operand, form)| match operand {
                Operand::Result(read) if !self.made[read] => Some((form.products.len(), form.linear.len(), read)),
                _ => None,
            });
            match longest.max() {
                Some((.., read)) if !self.fits(&form) => self.made[read] = true,
                _ => {
                    self.forms.push(form);
                    break;
                }
            }
        }
        if self.made[number] {
            self.made_atom(number);
        }
        self.writer.insert(op.out, number);
    }

    /// The operand that is multiplied by a small constant, and by which.
    fn small_factor(&self, operands: [Operand; 2]) -> Option<(usize, i64)> {
        (0..2).find_map(|of| {
            let value = self.known(operands[1 - of])?;
            let negative = &self.source.system.p - value;
            let small = |value: &BigUint| value.to_i64().filter(|&value| value <= SMALL_MAX.into());
            small(value).or_else(|| small(&negative).map(|value| -value)).map(|times| (of, times))
        })
    }

    /// Makes words of results that are cheaper shared than made again for each reader.
    fn make_shared(&mut self) {
        for number in 0..self.forms.len() {
            let (form, [sums, products]) = (&self.forms[number], self.readers[number]);
            if self.made[number] {
                continue;
            }
            let again = if form.products.is_empty() {
                let has_difference = form.linear.values().any(|&count| count < 0);
                let gas = self.gas.atom * form.linear.len().saturating_sub(1)
                    + if has_difference && form.linear.len() > 1 { self.gas.difference } else { 0 };
                gas > 0 && products * gas > gas + self.gas.made
            } else {
                sums > 1 && (sums - 1) * self.gas.product * form.products.len() > self.gas.reduction
            };
            self.made[number] = again;
        }
    }
}
