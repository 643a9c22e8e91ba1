//! Code for a block over a wide field: for each value that becomes words, one pass for each modulus, then one reduction.
//!
//! Comments show the stack, its top at the right. Words there are tracked by name, so that they are copied from any
//! depth. Moduli lie below everything in a block with several reductions, as a copy takes one byte.

use super::sums::{Atom, Form, Linear, Origin, Source, Sums, gcd, sums};
use super::system::{Constant, RESIDUES, Residue, System};
use foldhash::{HashMap, HashMapExt};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, Zero};
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm;
use residue_passes::Slot;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a value in memory: a word for each residue.
pub const VALUE_BYTES: u32 = 128;

/// A word on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// Operand of the expression being computed.
    Other,
    /// A modulus.
    Modulus(Residue),
    /// q₂ = −T/(p·a₁) mod 2²⁵⁶ and q₁ = −T/(p·2²⁵⁶) mod a₁.
    Quotient(Residue),
    /// u₁ = r mod b₁.
    Lower,
    /// r modulo b₂, not reduced.
    Upper,
    /// u₂ = (r − u₁)/b₁ mod b₂.
    Digit,
    /// A parameter of a subroutine.
    Parameter(u8),
}

/// Written code, with the stack after it.
pub struct Emission<'a> {
    system: &'a System,
    code: &'a mut Assembly,
    /// The words that it knows of.
    pub stack: Vec<Name>,
    /// Memory offset of the constants, contiguous, if memory holds them.
    in_memory: Option<u32>,
}

/// Index of a constant in [`super::system::CONSTANTS`].
fn place(constant: Constant) -> u32 {
    let place = super::system::CONSTANTS.iter().position(|&other| other == constant);
    u32::try_from(place.expect("it is one of them")).expect("they are few")
}

impl<'a> Emission<'a> {
    /// Nothing on the stack yet.
    pub fn new(system: &'a System, code: &'a mut Assembly, in_memory: Option<u32>) -> Self {
        Self { system, code, stack: Vec::new(), in_memory }
    }

    /// [] → [number]
    pub fn push(&mut self, number: impl Into<BigUint>) {
        self.code.push(number);
        self.stack.push(Name::Other);
    }

    /// An operation on `takes` words with one result.
    pub fn op(&mut self, opcode: u8, takes: usize) {
        self.code.op(opcode);
        self.stack.truncate(self.stack.len() - takes);
        self.stack.push(Name::Other);
    }

    /// Names the word on top.
    pub fn name(&mut self, name: Name) {
        if let Some(top) = self.stack.last_mut() {
            *top = name;
        }
    }

    fn depth(&self, name: Name) -> Option<u8> {
        let place = self.stack.iter().rposition(|&other| other == name)?;
        u8::try_from(self.stack.len() - place).ok()
    }

    /// [] → [the word of this name], which lies within reach.
    pub fn dup(&mut self, name: Name) {
        let depth = self.depth(name).filter(|&depth| depth <= 16).expect("few words lie above it");
        self.code.op(evm::DUP1 - 1 + depth);
        self.stack.push(Name::Other);
    }

    /// [x] → [x, x]
    fn double(&mut self) {
        self.code.op(evm::DUP1);
        self.stack.push(Name::Other);
    }

    /// [x, … `below` − 1 words …, y] → [y, …, x]
    pub fn swap(&mut self, below: u8) {
        self.code.op(evm::SWAP1 - 1 + below);
        let top = self.stack.len() - 1;
        self.stack.swap(top, top - usize::from(below));
    }

    /// [x] → []
    pub fn pop(&mut self) {
        self.code.op(evm::POP);
        self.stack.pop();
    }

    /// [] → [constant]
    pub fn constant(&mut self, constant: Constant) {
        let held = match constant {
            Constant::Modulus(residue) => self.depth(Name::Modulus(residue)).filter(|&depth| depth <= 16),
            _ => None,
        };
        match (held, self.in_memory) {
            (Some(depth), _) => {
                self.code.op(evm::DUP1 - 1 + depth);
            }
            (None, Some(start)) => {
                self.code.push(start + 32 * place(constant));
                self.code.op(evm::MLOAD);
            }
            (None, None) => {
                self.code.push(self.system.constant(constant));
            }
        }
        self.stack.push(Name::Other);
    }

    /// [] → [modulus], but nothing for 2²⁵⁶
    fn modulus(&mut self, residue: Residue) {
        if residue != Residue::A2 {
            self.constant(Constant::Modulus(residue));
        }
    }

    /// [address] → [word of it]
    pub fn load(&mut self, address: u32) {
        self.push(address);
        self.op(evm::MLOAD, 1);
    }

    /// [x] → []
    pub fn store(&mut self, address: u32) {
        self.push(address);
        self.code.op(evm::MSTORE);
        self.stack.truncate(self.stack.len() - 2);
    }

    /// Reduction of the sum T with the words of `total`: [] → [q₂, q₁, u₁, r, u₂], r being the result modulo b₂. The
    /// caller ensures the bounds of T. T is `scale` times `total` modulo the moduli of base A.
    pub fn reduce(&mut self, scale: u64, mut total: impl FnMut(&mut Self, Residue)) {
        for residue in RESIDUES {
            match residue {
                Residue::A2 | Residue::A1 => {
                    self.modulus(residue);
                    if scale == 1 || self.in_memory.is_some() {
                        self.constant(Constant::Quotient(residue));
                    } else {
                        let scaled = self.system.constant(Constant::Quotient(residue)) * scale;
                        self.push(scaled % self.system.modulus(residue));
                    }
                    total(self, residue);
                    if scale > 1 && self.in_memory.is_some() {
                        self.push(scale);
                        self.op(evm::MUL, 2);
                    }
                    match residue {
                        Residue::A2 => self.op(evm::MUL, 2),
                        _ => self.op(evm::MULMOD, 3),
                    }
                    self.name(Name::Quotient(residue));
                }
                Residue::B1 | Residue::B2 => {
                    if residue == Residue::B1 {
                        self.modulus(residue);
                    }
                    total(self, residue);
                    for (quotient, constant) in
                        [(Residue::A1, Constant::First(residue)), (Residue::A2, Constant::Second(residue))]
                    {
                        self.modulus(residue);
                        self.constant(constant);
                        self.dup(Name::Quotient(quotient));
                        self.op(evm::MULMOD, 3);
                        self.op(evm::ADD, 2);
                    }
                    if residue == Residue::B1 {
                        self.op(evm::MOD, 2);
                        self.name(Name::Lower);
                    } else {
                        self.name(Name::Upper);
                    }
                }
            }
        }
        self.modulus(Residue::B2);
        self.constant(Constant::Inverse);
        self.dup(Name::Lower);
        self.constant(Constant::Above);
        self.op(evm::SUB, 2);
        self.dup(Name::Upper);
        self.op(evm::ADD, 2);
        self.op(evm::MULMOD, 3);
        self.name(Name::Digit);
    }

    /// Writes the words of a result: [q₂, q₁, u₁, r, u₂] → []. `store` takes the word on top to its place in the slot.
    pub fn finish(&mut self, mut store: impl FnMut(&mut Self, Residue)) {
        self.swap(1);
        store(self, Residue::B2); //    [q₂, q₁, u₁, u₂]
        self.dup(Name::Lower);
        self.dup(Name::Digit);
        self.op(evm::ADD, 2);
        store(self, Residue::A1);
        self.modulus(Residue::B1);
        self.op(evm::MUL, 2);
        self.dup(Name::Lower);
        self.op(evm::ADD, 2);
        store(self, Residue::A2); //    [q₂, q₁, u₁]
        store(self, Residue::B1);
        self.pop();
        self.pop();
    }
}

/// Place and bounds of an atom.
#[derive(Debug, Clone)]
struct Known {
    place: Place,
    /// The most of each word.
    words: [BigUint; 4],
    /// The most of the integer; none is below 0.
    most: BigUint,
}

#[derive(Debug, Clone)]
enum Place {
    /// The slot.
    Slot(Slot),
    /// The words.
    Constant([BigUint; 4]),
}

/// Memory of slots, and its permitted uses.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The address of slot 0.
    pub base: u32,
    /// Slots that hold something within blocks only.
    pub spare: Range<Slot>,
    /// Memory offset of the constants, if memory holds them.
    pub constants: Option<u32>,
}

impl Memory {
    /// The address of a slot.
    pub const fn address(&self, slot: Slot) -> u32 {
        self.base + VALUE_BYTES * slot
    }

    /// The address of a word of a slot.
    pub fn word(&self, slot: Slot, residue: Residue) -> u32 {
        self.address(slot) + 32 * u32::try_from(residue.place()).expect("there are four")
    }
}

/// Writes a block; true if it had room for the kept values. Without room it makes every result in its own slot. [] → []
pub fn block(code: &mut Assembly, source: &Source<'_>, memory: &Memory) -> bool {
    let start = code.items().len();
    if written(code, source, memory, false) {
        return true;
    }
    code.truncate(start);
    written(code, source, memory, true);
    false
}

/// The same with values made as [`sums`] says; whether there is room.
fn written(code: &mut Assembly, source: &Source<'_>, memory: &Memory, all: bool) -> bool {
    let found = sums(source, all);
    let mut writing = Writing::new(source, memory, &found, code);
    let reductions = found.made.iter().filter(|(_, form)| !form.products.is_empty()).count();
    let held = [Residue::B2, Residue::B1, Residue::A1];
    if reductions > 1 {
        for residue in held {
            writing.emission.constant(Constant::Modulus(residue));
            writing.emission.name(Name::Modulus(residue));
        }
    }
    for number in 0..found.made.len() {
        if !writing.result(number) {
            return false;
        }
    }
    writing.bring_home();
    if reductions > 1 {
        held.iter().for_each(|_| writing.emission.pop());
    }
    true
}

/// The values of a block as they are known, and where they are.
struct Values<'a> {
    system: &'a System,
    memory: &'a Memory,
    known: HashMap<Atom, Known>,
}

/// A block that is being written.
struct Writing<'a> {
    source: &'a Source<'a>,
    found: &'a Sums,
    values: Values<'a>,
    emission: Emission<'a>,
    /// The atoms of operations.
    atom_of: HashMap<usize, Atom>,
    /// The last result that reads an atom.
    last: HashMap<Atom, usize>,
    /// Atoms held by slots, while they may still be read.
    occupant: HashMap<Slot, Atom>,
    kept: Vec<bool>,
}

impl<'a> Writing<'a> {
    fn new(source: &'a Source<'a>, memory: &'a Memory, found: &'a Sums, code: &'a mut Assembly) -> Self {
        let system = source.system;
        let mut this = Self {
            source,
            found,
            values: Values { system, memory, known: HashMap::new() },
            emission: Emission::new(system, code, memory.constants),
            atom_of: HashMap::new(),
            last: HashMap::new(),
            occupant: HashMap::new(),
            kept: source.is_kept(),
        };
        for (number, (_, form)) in found.made.iter().enumerate() {
            this.last.extend(form.atoms().map(|atom| (atom, number)));
        }
        for (atom, origin) in found.atoms.iter().enumerate() {
            match origin {
                Origin::Slot(slot) => {
                    let words = RESIDUES.map(|residue| system.word_max(residue));
                    let known = Known { place: Place::Slot(*slot), words, most: system.integer_max() };
                    this.values.known.insert(atom, known);
                    this.occupant.insert(*slot, atom);
                }
                Origin::Constant(integer) => {
                    let words = system.words(integer);
                    let known = Known { place: Place::Constant(words.clone()), words, most: integer.clone() };
                    this.values.known.insert(atom, known);
                }
                Origin::Made(op) => {
                    this.atom_of.insert(*op, atom);
                }
            }
        }
        this
    }

    /// True if no operation after result `number` reads the slot.
    fn is_free(&self, slot: Slot, number: usize) -> bool {
        let occupant = self.occupant.get(&slot);
        occupant.is_none_or(|atom| self.last.get(atom).is_none_or(|&last| last <= number))
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
        let (words, most) = if form.products.is_empty() {
            self.values.sum(&mut self.emission, form, slot)
        } else {
            self.values.reduced(&mut self.emission, form, slot)
        };
        self.values.known.insert(atom, Known { place: Place::Slot(slot), words, most });
        self.occupant.insert(slot, atom);
        true
    }

    /// Copies kept values from spare slots to their own.
    fn bring_home(&mut self) {
        for (op, _) in &self.found.made {
            let home = self.source.ops[*op].out;
            let Place::Slot(slot) = self.values.known[&self.atom_of[op]].place else { continue };
            if self.kept[*op] && slot != home {
                for residue in RESIDUES {
                    self.emission.load(self.values.memory.word(slot, residue));
                    self.emission.store(self.values.memory.word(home, residue));
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
            Place::Slot(slot) => e.load(self.memory.word(*slot, residue)),
            Place::Constant(words) => e.push(words[residue.place()].clone()),
        }
        known.words[residue.place()].clone()
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

    /// [below, if there is one, above, if there is one] → [above − below + offset], with a multiple of the modulus that keeps it from being below 0; the most of
    /// it.
    fn difference(
        &self,
        e: &mut Emission<'_>,
        [below, above]: [Option<BigUint>; 2],
        offset: &BigUint,
        residue: Residue,
    ) -> BigUint {
        let modulus = self.system.modulus(residue);
        let mut constant = offset % modulus;
        if let Some(below) = below.as_ref().filter(|_| residue != Residue::A2) {
            constant += below.div_ceil(modulus) * modulus;
        }
        if above.is_none() {
            e.push(constant.clone());
        } else if !constant.is_zero() {
            e.push(constant.clone());
            e.op(evm::ADD, 2);
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
        self.difference(e, [below, above], offset, residue)
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
            Residue::A2 => e.op(evm::MUL, 2),
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
                most = Some(added(e, most, self.system.modulus(residue).clone()));
            }
            multiply(e, count);
            total = Some(added(e, total, most.unwrap_or_default() * count));
        }
        total
    }

    /// [] → [T modulo the modulus], without its scale modulo the moduli of base A; the most of it.
    fn total(&self, e: &mut Emission<'_>, (form, scale): (&Form, i64), offset: &BigUint, residue: Residue) -> BigUint {
        let mut part = |is_negative| {
            let products = self.products(e, (form, scale), is_negative, residue);
            if matches!(residue, Residue::A2 | Residue::A1) {
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
        let is_first = matches!(residue, Residue::A2 | Residue::A1);
        self.difference(e, parts, if is_first { &BigUint::ZERO } else { offset }, residue)
    }

    fn interval(&self, form: &Form) -> ([BigInt; 2], [BigInt; 2]) {
        form.interval(|atom| self.known[&atom].most.clone().into())
    }

    /// Writes a sum without products to a slot; the most of its words and of its integer. [] → []
    fn sum(&self, e: &mut Emission<'_>, form: &Form, slot: Slot) -> ([BigUint; 4], BigUint) {
        let (_, linear) = self.interval(form);
        let (multiple, most) = raised(linear, &self.system.p);
        let offset = multiple * &self.system.p;
        let words = RESIDUES.map(|residue| {
            let start = e.code.items().len();
            let mut word = self.linear(e, &form.linear, &offset, residue);
            if residue != Residue::A2 && word > self.system.word_max(residue) {
                // Once more, above its modulus.
                e.code.truncate(start);
                e.stack.pop();
                e.modulus(residue);
                self.linear(e, &form.linear, &offset, residue);
                e.op(evm::MOD, 2);
                word = self.system.modulus(residue) - 1u8;
            }
            e.store(self.memory.word(slot, residue));
            if residue == Residue::A2 { self.system.word_max(residue) } else { word }
        });
        (words, most)
    }

    /// Writes a reduced sum of products to a slot; the most of its words and of its integer. [] → []
    fn reduced(&self, e: &mut Emission<'_>, form: &Form, slot: Slot) -> ([BigUint; 4], BigUint) {
        let ([low, high], [least, most]) = self.interval(form);
        let a = BigInt::from(self.system.a.clone());
        let (multiple, highest) = raised([low + least * &a, high + most * &a], &(&self.system.p * &self.system.a));
        let offset = multiple * &self.system.p;
        let scale = form.products.values().fold(0, |scale, &count| gcd(scale, count));
        let mut upper = BigUint::ZERO;
        e.reduce(scale.unsigned_abs(), |e, residue| upper = self.total(e, (form, scale), &offset, residue));
        e.finish(|e, residue| e.store(self.memory.word(slot, residue)));
        let [b1, b2] = [Residue::B1, Residue::B2].map(|residue| self.system.modulus(residue));
        // Modulo b₂ the total comes last, and two products with quotients are added to it.
        let words = [self.system.word_max(Residue::A2), b1 + b2, b1 - 1u8, upper + b2 * 2u8];
        (words, highest / &self.system.a + &self.system.p * 2u8)
    }
}

/// The multiple of `unit` that an integer within these bounds must be raised by so that it is not below 0, and the most of it then.
fn raised([least, most]: [BigInt; 2], unit: &BigUint) -> (BigUint, BigUint) {
    let unit = BigInt::from(unit.clone());
    let multiple = if least.is_negative() { Integer::div_ceil(&-least, &unit) } else { BigInt::ZERO };
    let most = most + &multiple * unit;
    (multiple.magnitude().clone(), most.magnitude().clone())
}
