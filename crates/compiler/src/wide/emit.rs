//! Code for a block over a wide field: for each value that becomes words, one pass for each modulus, then one reduction.
//!
//! Comments show the stack, its top at the right. Moduli lie
//! below everything in a block with several reductions, as a copy takes one byte; where code has to be short, so do the other constants. A block
//! that runs seldom has its results made by subroutines then ([`super::calls`]).

use super::calls::{Calls, Shape};
use super::emission::{Emission, Name};
use super::sums::{Atom, Choice, Form, Linear, Origin, Source, Sums, gcd, sums};
use super::system::{Constant, POWER, Residue, System};
use foldhash::{HashMap, HashMapExt};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, Zero};
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm;
use residue_passes::Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Known properties of an atom.
#[derive(Debug, Clone)]
pub struct Known {
    /// Place of its words.
    pub place: Place,
    /// Its bound.
    pub bounds: Bounds,
}

/// Bound of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The most of each word.
    pub words: Vec<BigUint>,
    /// The most of the integer; none is below 0.
    pub most: BigUint,
}

/// Place of a value's words.
#[derive(Debug, Clone)]
pub enum Place {
    /// The slot.
    Slot(Slot),
    /// The words themselves.
    Constant(Vec<BigUint>),
    /// At the address that a parameter of a subroutine says.
    Parameter(u8),
}

impl Bounds {
    /// Those of values between blocks.
    pub fn between_blocks(system: &System) -> Self {
        let words = system.residues().iter().map(|&residue| system.word_max(residue));
        Self { words: words.collect(), most: system.integer_max() }
    }
}

/// Memory of slots, and its permitted uses.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The address of slot 0.
    pub base: u32,
    /// Bytes of a slot.
    pub value_bytes: u32,
    /// Slots that hold something within blocks only.
    pub spare: Range<Slot>,
}

/// Form of a block's code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way<'a> {
    /// True if all constants of several reductions lie on the stack: that takes 40 gas more for the block, and 200 bytes less for each reduction after the first.
    pub holds_constants: bool,
    /// The subroutines there are.
    pub calls: Option<&'a Calls>,
    /// True if they make its results.
    pub is_called: bool,
    /// True if code has to be short and the block runs so seldom that subroutines may make its results: those of equal formulas have to be equal then.
    pub is_regular: bool,
    /// True if it runs so seldom that each operation's result may be one of few formulas that subroutines make.
    pub is_rare: bool,
}

impl Memory {
    /// The address of a slot.
    pub const fn address(&self, slot: Slot) -> u32 {
        self.base + self.value_bytes * slot
    }

    /// The address of the word in this place of a slot ([`System::place`]).
    pub fn word(&self, slot: Slot, place: usize) -> u32 {
        self.address(slot) + 32 * u32::try_from(place).expect("there are few")
    }
}

/// Writes a block; whether it had room for what it keeps, and for constants that subroutines read. Without room for these they stay numbers, and without the
/// former it makes every result in its own slot. [] → []
pub fn block(code: &mut Assembly, source: &Source<'_>, memory: &Memory, way: Way<'_>) -> bool {
    let start = code.items().len();
    let choice = match way {
        Way { is_rare: true, .. } => Choice::All,
        Way { is_regular: true, .. } => Choice::Regular,
        _ => Choice::Cheapest,
    };
    for (number, (choice, places)) in [(choice, true), (choice, false), (Choice::All, false)].into_iter().enumerate() {
        code.truncate(start);
        if written(code, source, (memory, way), (choice, places)) {
            return number == 0;
        }
    }
    false
}

/// The same with values made as [`sums`] says; whether there is room.
fn written(
    code: &mut Assembly,
    source: &Source<'_>,
    (memory, way): (&Memory, Way<'_>),
    (choice, places): (Choice, bool),
) -> bool {
    let start = code.items().len();
    let found = sums(source, choice);
    let called = way.calls.filter(|_| way.is_called);
    let is_in_place = |form: &Form| !form.products.is_empty() && called.is_none_or(|calls| !calls.may_make(form));
    let reductions = found.made.iter().filter(|(_, form)| is_in_place(form)).count();
    let mut held: Vec<Constant> = match reductions {
        0 | 1 => Vec::new(),
        _ => source.system.held(way.holds_constants).collect(),
    };
    // Constants that nothing copied are left out the second time.
    loop {
        code.truncate(start);
        let mut writing = Writing::new(source, memory, &found, (code, way));
        if !writing.all(&held, called.filter(|_| places)) {
            return false;
        }
        let Writing { emission: Emission { copied, .. }, shapes, .. } = writing;
        if held.iter().all(|constant| copied.contains(constant)) {
            if let Some(calls) = way.calls {
                calls.count(shapes);
            }
            return true;
        }
        held.retain(|constant| copied.contains(constant));
    }
}

/// The values of a block as they are known, and where they are.
pub struct Values<'a> {
    /// The system of its field.
    pub system: &'a System,
    /// Places of slots.
    pub memory: &'a Memory,
    /// The atoms.
    pub known: HashMap<Atom, Known>,
}

/// A block that is being written.
struct Writing<'a> {
    source: &'a Source<'a>,
    found: &'a Sums,
    values: Values<'a>,
    emission: Emission<'a>,
    way: Way<'a>,
    /// The atoms of operations.
    atom_of: HashMap<usize, Atom>,
    /// The last result that reads an atom.
    last: HashMap<Atom, usize>,
    /// Atoms held by slots, while they may still be read.
    occupant: HashMap<Slot, Atom>,
    kept: Vec<bool>,
    /// Shapes of its results.
    shapes: Vec<Shape>,
}

impl<'a> Writing<'a> {
    fn new(
        source: &'a Source<'a>,
        memory: &'a Memory,
        found: &'a Sums,
        (code, way): (&'a mut Assembly, Way<'a>),
    ) -> Self {
        let system = source.system;
        let mut this = Self {
            source,
            found,
            values: Values { system, memory, known: HashMap::new() },
            emission: Emission::new(system, code),
            way,
            atom_of: HashMap::new(),
            last: HashMap::new(),
            occupant: HashMap::new(),
            kept: source.is_kept(),
            shapes: Vec::new(),
        };
        for (number, (_, form)) in found.made.iter().enumerate() {
            this.last.extend(form.atoms().map(|atom| (atom, number)));
        }
        for (atom, origin) in found.atoms.iter().enumerate() {
            match origin {
                Origin::Slot(slot) => {
                    let known = Known { place: Place::Slot(*slot), bounds: Bounds::between_blocks(system) };
                    this.values.known.insert(atom, known);
                    this.occupant.insert(*slot, atom);
                }
                Origin::Constant(integer) => {
                    let words = system.words(integer);
                    let bounds = Bounds { words: words.clone(), most: integer.clone() };
                    let known = Known { place: Place::Constant(words), bounds };
                    this.values.known.insert(atom, known);
                }
                Origin::Made(op) => {
                    this.atom_of.insert(*op, atom);
                }
            }
        }
        this
    }

    /// Makes all results with constants held below them, those that `placed` reads in slots; whether there is room. [] → []
    fn all(&mut self, held: &[Constant], placed: Option<&Calls>) -> bool {
        for &constant in held {
            self.emission.constant(constant);
            self.emission.name(Name::Constant(constant));
        }
        if !placed.is_none_or(|calls| self.place_constants(calls))
            || !(0..self.found.made.len()).all(|n| self.result(n))
        {
            return false;
        }
        self.bring_home();
        held.iter().for_each(|_| self.emission.pop());
        true
    }

    /// True if no operation after result `number` reads the slot.
    fn is_free(&self, slot: Slot, number: usize) -> bool {
        let occupant = self.occupant.get(&slot);
        occupant.is_none_or(|atom| self.last.get(atom).is_none_or(|&last| last <= number))
    }

    /// Writes constants to spare slots that subroutines read; whether there is room for them.
    fn place_constants(&mut self, calls: &Calls) -> bool {
        let forms = self.found.made.iter().map(|(_, form)| form).filter(|form| calls.may_make(form));
        let read: BTreeSet<Atom> = forms.flat_map(Form::atoms).collect();
        for atom in read {
            let Some(Known { place: Place::Constant(words), .. }) = self.values.known.get(&atom).cloned() else {
                continue;
            };
            let mut spare = self.values.memory.spare.clone();
            let Some(slot) = spare.find(|slot| !self.occupant.contains_key(slot)) else { return false };
            for (place, word) in words.into_iter().enumerate() {
                self.emission.push(word);
                self.emission.store(self.values.memory.word(slot, place));
            }
            self.occupant.insert(slot, atom);
            self.values.known.entry(atom).and_modify(|known| known.place = Place::Slot(slot));
        }
        true
    }

    /// Makes the words of a result; whether there is room for them.
    fn result(&mut self, number: usize) -> bool {
        let (op, form) = &self.found.made[number];
        let home = self.source.ops[*op].out;
        let mut candidates = std::iter::once(home).chain(self.values.memory.spare.clone());
        let Some(slot) = candidates.find(|&slot| self.is_free(slot, number)) else { return false };
        let atom = self.atom_of[op];
        if slot != home && self.kept[*op] {
            self.last.insert(atom, usize::MAX);
        }
        if self.way.calls.is_some() {
            self.shapes.extend(Shape::in_slots(&self.values, form).map(|(shape, _)| shape));
        }
        let most = self.found.most[atom];
        let calls = self.way.calls.filter(|_| self.way.is_called);
        let called = calls.and_then(|calls| calls.call(&mut self.emission, &self.values, (form, slot), most));
        let bounds = called.unwrap_or_else(|| self.values.made(&mut self.emission, form, &Place::Slot(slot)));
        self.values.known.insert(atom, Known { place: Place::Slot(slot), bounds });
        self.occupant.insert(slot, atom);
        true
    }

    /// Copies kept values from spare slots to their own.
    fn bring_home(&mut self) {
        for (op, _) in &self.found.made {
            let home = self.source.ops[*op].out;
            let Place::Slot(slot) = self.values.known[&self.atom_of[op]].place else { continue };
            if self.kept[*op] && slot != home {
                for place in 0..self.values.system.residues().len() {
                    self.emission.load(self.values.memory.word(slot, place));
                    self.emission.store(self.values.memory.word(home, place));
                }
            }
        }
    }
}

/// [x] → [times·x], for `times` of 1 or more.
fn multiply(e: &mut Emission<'_>, times: u64) {
    match times {
        1 => {}
        2 => {
            e.double();
            e.op(evm::ADD, 2);
        }
        _ => {
            e.push(times);
            e.op(evm::MUL, 2);
        }
    }
}

/// [before, if there is one, next] → [their sum]; the most of it.
fn added(e: &mut Emission<'_>, before: Option<BigUint>, next: BigUint) -> BigUint {
    let Some(before) = before else { return next };
    e.op(evm::ADD, 2);
    before + next
}

impl Values<'_> {
    /// [] → [a word of the atom]; the most of it.
    fn load(&self, e: &mut Emission<'_>, atom: Atom, residue: Residue) -> BigUint {
        let known = &self.known[&atom];
        match &known.place {
            Place::Slot(slot) => e.load(self.memory.word(*slot, self.system.place(residue))),
            Place::Constant(words) => e.push(words[self.system.place(residue)].clone()),
            Place::Parameter(number) => {
                e.address(Name::Parameter(*number), residue);
                e.op(evm::MLOAD, 1);
            }
        }
        known.bounds.words[self.system.place(residue)].clone()
    }

    /// [word] → [] into a word of a place that holds no constant.
    fn store(&self, e: &mut Emission<'_>, to: &Place, residue: Residue) {
        match to {
            Place::Slot(slot) => e.push(self.memory.word(*slot, self.system.place(residue))),
            Place::Parameter(number) => e.address(Name::Parameter(*number), residue),
            Place::Constant(_) => unreachable!("results are no constants"),
        }
        e.store_at();
    }

    /// Writes a value to a place. [] → []
    pub fn made(&self, e: &mut Emission<'_>, form: &Form, to: &Place) -> Bounds {
        if form.products.is_empty() { self.sum(e, form, to) } else { self.reduced(e, form, to) }
    }

    /// [] → [sum of the atoms with multiples of this sign]; the most of it, none and nothing on the stack if there are none.
    fn one_sign(&self, e: &mut Emission<'_>, sum: &Linear, is_negative: bool, residue: Residue) -> Option<BigUint> {
        let mut total = None;
        for (&atom, count) in sum.iter().filter(|(_, count)| count.is_negative() == is_negative) {
            let most = self.load(e, atom, residue) * count.unsigned_abs();
            multiply(e, count.unsigned_abs());
            total = Some(added(e, total, most));
        }
        total
    }

    /// [below, if there is one, above, if there is one] → [above − below + offset], with a multiple of the modulus that keeps it from being below `least`, which is
    /// 0 or C; the most of it.
    fn difference(
        &self,
        e: &mut Emission<'_>,
        [below, above]: [Option<BigUint>; 2],
        (offset, least): (&BigUint, &BigUint),
        residue: Residue,
    ) -> BigUint {
        let modulus = self.system.modulus(residue);
        let mut constant = offset % &modulus;
        if let Some(below) = below.as_ref().filter(|_| residue != POWER) {
            constant += below.div_ceil(&modulus) * modulus;
        }
        // C alone may lie on the stack.
        let is_apart = !least.is_zero() && above.is_some() && constant.is_zero();
        if !is_apart {
            constant += least;
        }
        if above.is_none() {
            e.push(constant.clone());
        } else if !constant.is_zero() {
            e.push(constant.clone());
            e.op(evm::ADD, 2);
        }
        if is_apart {
            e.raise(residue);
            constant += least;
        }
        if below.is_some() {
            e.op(evm::SUB, 2);
        }
        above.unwrap_or_default() + constant
    }

    /// [] → [the sum modulo the modulus, not reduced]; the most of it.
    fn linear(&self, e: &mut Emission<'_>, sum: &Linear, offset: &BigUint, residue: Residue) -> BigUint {
        let below = self.one_sign(e, sum, true, residue);
        let above = self.one_sign(e, sum, false, residue);
        self.difference(e, [below, above], (offset, &BigUint::ZERO), residue)
    }

    /// [] → [x·y modulo the modulus, and below it]
    fn product(&self, e: &mut Emission<'_>, (x, y): &(Linear, Linear), residue: Residue) {
        e.modulus(residue);
        self.linear(e, x, &BigUint::ZERO, residue);
        if x == y {
            e.double();
        } else {
            self.linear(e, y, &BigUint::ZERO, residue);
        }
        match residue {
            POWER => e.op(evm::MUL, 2),
            _ => e.op(evm::MULMOD, 3),
        }
    }

    /// [] → [the sum of the products with multiples of this sign, over `scale`]; the most of it, none and nothing on the stack if there are none.
    fn products(
        &self,
        e: &mut Emission<'_>,
        (form, scale): (&Form, i64),
        is_negative: bool,
        residue: Residue,
    ) -> Option<BigUint> {
        let mut by_count: BTreeMap<u64, Vec<&(Linear, Linear)>> = BTreeMap::new();
        for (product, count) in form.products.iter().filter(|(_, count)| count.is_negative() == is_negative) {
            by_count.entry((count / scale).unsigned_abs()).or_default().push(product);
        }
        let mut total = None;
        for (count, products) in by_count {
            let mut most = None;
            for product in products {
                self.product(e, product, residue);
                most = Some(added(e, most, self.system.modulus(residue)));
            }
            multiply(e, count);
            total = Some(added(e, total, most.unwrap_or_default() * count));
        }
        total
    }

    /// [] → [T modulo the modulus], without its scale modulo the moduli of base A, and at least b₀ modulo those of base B but the first; the most of it.
    fn total(&self, e: &mut Emission<'_>, (form, scale): (&Form, i64), offset: &BigUint, residue: Residue) -> BigUint {
        let mut part = |is_negative| {
            let products = self.products(e, (form, scale), is_negative, residue);
            if matches!(residue, Residue::A(_)) {
                return products;
            }
            let products = products.map(|most| {
                multiply(e, scale.unsigned_abs());
                most * scale.unsigned_abs()
            });
            // What is added comes out as it is: A is 1 here.
            match self.one_sign(e, &form.linear, is_negative, residue) {
                Some(linear) => Some(added(e, products, linear)),
                None => products,
            }
        };
        let parts = [true, false].map(&mut part);
        let constants = match residue {
            Residue::A(_) => (&BigUint::ZERO, &BigUint::ZERO),
            Residue::B(0) => (offset, &BigUint::ZERO),
            Residue::B(number) => (offset, self.system.constant(Constant::Above(number))),
        };
        self.difference(e, parts, constants, residue)
    }

    fn interval(&self, form: &Form) -> ([BigInt; 2], [BigInt; 2]) {
        form.interval(|atom| self.known[&atom].bounds.most.clone().into())
    }

    /// Writes a sum without products. [] → []
    fn sum(&self, e: &mut Emission<'_>, form: &Form, to: &Place) -> Bounds {
        let (_, linear) = self.interval(form);
        let (multiple, most) = raised(linear, &self.system.p);
        let offset = multiple * &self.system.p;
        let word = |&residue: &Residue| {
            let start = e.code.items().len();
            let mut word = self.linear(e, &form.linear, &offset, residue);
            if residue != POWER && word > self.system.word_max(residue) {
                // Once more, above its modulus.
                e.code.truncate(start);
                e.stack.pop();
                e.modulus(residue);
                self.linear(e, &form.linear, &offset, residue);
                e.op(evm::MOD, 2);
                word = self.system.modulus(residue) - 1u8;
            }
            self.store(e, to, residue);
            if residue == POWER { self.system.word_max(residue) } else { word }
        };
        let words = self.system.residues().iter().map(word).collect();
        Bounds { words, most }
    }

    /// Writes a reduced sum of products. [] → []
    fn reduced(&self, e: &mut Emission<'_>, form: &Form, to: &Place) -> Bounds {
        let ([low, high], [least, most]) = self.interval(form);
        let a = BigInt::from(self.system.a.clone());
        let (multiple, highest) = raised([low + least * &a, high + most * &a], &(&self.system.p * &self.system.a));
        let offset = multiple * &self.system.p;
        let scale = form.products.values().fold(0, |scale, &count| gcd(scale, count));
        let mut words = Bounds::between_blocks(self.system).words;
        let total = |e: &mut Emission<'_>, residue| {
            words[self.system.place(residue)] = self.total(e, (form, scale), &offset, residue);
        };
        e.reduced(scale.unsigned_abs(), total, |e, residue| self.store(e, to, residue));
        for &residue in self.system.residues() {
            let most = self.result_max(residue, &words);
            words[self.system.place(residue)] = most;
        }
        Bounds { words, most: highest / &self.system.a + &self.system.p * self.system.count() }
    }

    /// The most of a word of a reduction, of which `totals` has the most of T.
    fn result_max(&self, residue: Residue, totals: &[BigUint]) -> BigUint {
        let b = |digit: u8| self.system.factor(Residue::B(digit));
        match residue {
            POWER => self.system.word_max(residue),
            // Digits of two moduli are added.
            Residue::A(_) if self.system.count() == 2 => b(0) + b(1),
            Residue::A(_) => self.system.factor(residue) + b(0),
            Residue::B(0) => b(0) - 1u8,
            // Products with quotients are added to T.
            Residue::B(digit) => &totals[self.system.place(residue)] + b(digit) * self.system.count(),
        }
    }
}

/// The multiple of `unit` that an integer within these bounds must be raised by so that it is not below 0, and the most of it then.
fn raised([least, most]: [BigInt; 2], unit: &BigUint) -> (BigUint, BigUint) {
    let unit = BigInt::from(unit.clone());
    let multiple = if least.is_negative() { Integer::div_ceil(&-least, &unit) } else { BigInt::ZERO };
    let most = most + &multiple * unit;
    (multiple.magnitude().clone(), most.magnitude().clone())
}
