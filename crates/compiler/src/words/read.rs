//! Checker of blocks without field instructions: reads stack and memory code back, and compares the contents of slots
//! with the program's block.
//!
//! A word is represented by its value mod p, a sum of multiples of values and products, and by bounds: ADD must not
//! wrap around, SUB not go below zero, and stored words must be below p. Nothing else about the bytes is assumed; their
//! origin does not matter here.

use super::field::{Field, GIVEN_LEAST, word_max};
use super::places::Form;
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use num_integer::Integer as _;
use num_traits::{One, Zero};
use residue_ir::FieldOp;
use residue_ir::program::{Block, Function, Operand, Value};
use residue_isa::opcode::evm;
use std::collections::BTreeMap;

/// Number mod p as a linear combination of atoms with coefficients other than 0. Atom 0 is the number 1.
type Sum = BTreeMap<usize, BigUint>;

/// An element of the field by its number: equal elements, as far as sums and products tell, have the same.
pub type Element = usize;

/// Elements that code computes or stores, each with the offset after the instruction that does, ascending.
pub type Made = Vec<(usize, Element)>;

/// Elements by number.
#[derive(Debug)]
pub struct Elements {
    field: Field,
    /// Modulus of coefficients: p, or for a given modulus a prime far above all coefficients that occur.
    modulus: BigUint,
    sums: Vec<Sum>,
    known: HashMap<Sum, Element>,
    products: HashMap<(Element, Element), usize>,
    /// Of products that are multiples of a divisor of p, whatever their factors are: p divided by it, modulo which their own multiples count.
    orders: HashMap<usize, BigUint>,
    atoms: usize,
    /// True if products of sums are identified by factors without constants and without common multiples.
    are_bare: bool,
}

impl Elements {
    /// None yet.
    pub fn new(field: Field) -> Self {
        let modulus = match &field {
            Field::Known(modulus) => modulus.clone(),
            Field::Given => (BigUint::one() << 521u32) - 1u8,
        };
        Self {
            field,
            modulus,
            sums: Vec::new(),
            known: HashMap::new(),
            products: HashMap::new(),
            orders: HashMap::new(),
            atoms: 1,
            are_bare: false,
        }
    }

    /// None yet, of products whose factors may have had constants and multiples taken out.
    pub fn bare(modulus: &BigUint) -> Self {
        Self { are_bare: true, ..Self::new(Field::Known(modulus.clone())) }
    }

    fn element(&mut self, mut sum: Sum) -> Element {
        if !self.orders.is_empty() {
            sum.retain(|atom, multiple| {
                if let Some(order) = self.orders.get(atom) {
                    *multiple %= order;
                }
                !multiple.is_zero()
            });
        }
        if let Some(&element) = self.known.get(&sum) {
            return element;
        }
        self.sums.push(sum.clone());
        self.known.insert(sum, self.sums.len() - 1);
        self.sums.len() - 1
    }

    /// One that nothing is known of.
    pub(crate) fn fresh(&mut self) -> Element {
        self.atoms += 1;
        self.element(Sum::from([(self.atoms - 1, BigUint::one())]))
    }

    /// A constant.
    pub fn constant(&mut self, value: &BigUint) -> Element {
        let value = value % &self.modulus;
        let sum = if value.is_zero() { Sum::new() } else { Sum::from([(0, value)]) };
        self.element(sum)
    }

    /// x + factor·y.
    pub(crate) fn combined(&mut self, x: Element, y: Element, factor: &BigUint) -> Element {
        let mut sum = self.sums[x].clone();
        for (&atom, multiple) in &self.sums[y] {
            let entry = sum.entry(atom).or_default();
            *entry = (&*entry + multiple * factor) % &self.modulus;
            if entry.is_zero() {
                sum.remove(&atom);
            }
        }
        self.element(sum)
    }

    pub(crate) fn product(&mut self, x: Element, y: Element) -> Element {
        for (constant, other) in [(x, y), (y, x)] {
            let sum = &self.sums[constant];
            let value = match sum.iter().next() {
                None => Some(BigUint::zero()),
                Some((&0, value)) if sum.len() == 1 => Some(value.clone()),
                _ => None,
            };
            if let Some(value) = value {
                let zero = self.element(Sum::new());
                return self.combined(zero, other, &value);
            }
        }
        if self.are_bare {
            return self.bare_product(x, y);
        }
        // −a·b is a·(−b): products are known by factors of one sign.
        let ((x, x_is_turned), (y, y_is_turned)) = (self.without_sign(x), self.without_sign(y));
        let atom = self.product_atom(x, y);
        let multiple = if x_is_turned == y_is_turned { BigUint::one() } else { &self.modulus - 1u8 };
        self.element(Sum::from([(atom, multiple)]))
    }

    fn product_atom(&mut self, x: Element, y: Element) -> usize {
        if let Some(&atom) = self.products.get(&(x.min(y), x.max(y))) {
            return atom;
        }
        let atom = self.atoms;
        self.atoms += 1;
        self.products.insert((x.min(y), x.max(y)), atom);
        let common = (self.divisor(x) * self.divisor(y)).gcd(&self.modulus);
        if !common.is_one() {
            self.orders.insert(atom, &self.modulus / common);
        }
        atom
    }

    /// Multiples of an atom count modulo this.
    fn order(&self, atom: usize) -> &BigUint {
        self.orders.get(&atom).unwrap_or(&self.modulus)
    }

    /// A divisor of p that divides the element, whatever its atoms are.
    fn divisor(&self, element: Element) -> BigUint {
        let mut divisor = self.modulus.clone();
        for (&atom, multiple) in &self.sums[element] {
            divisor = divisor.gcd(&(multiple * (&self.modulus / self.order(atom))));
            if divisor.is_one() {
                break;
            }
        }
        divisor
    }

    /// (x + i)·(y + j) as x·y + i·y + j·x + i·j, where i and j are constants, and x and y multiples of the elements
    /// that identify products.
    fn bare_product(&mut self, x: Element, y: Element) -> Element {
        let [(x, i, k), (y, j, l)] = [x, y].map(|element| self.without_constant(element));
        let mut sum = self.constant(&(&i * &j));
        let [bare_x, bare_y] = [&x, &y].map(|sum| self.element(sum.clone()));
        sum = self.combined(sum, bare_y, &(&l * i % &self.modulus));
        sum = self.combined(sum, bare_x, &(&k * j % &self.modulus));
        let atom = self.product_atom(bare_x, bare_y);
        let product = self.element(Sum::from([(atom, BigUint::one())]));
        self.combined(sum, product, &(k * l % &self.modulus))
    }

    /// An element that is not constant as a constant and a multiple of a sum whose first multiple that has an inverse
    /// is 1: (sum, constant, multiple). If none has an inverse, the common divisor of the multiples is taken out first.
    fn without_constant(&self, element: Element) -> (Sum, BigUint, BigUint) {
        let mut sum = self.sums[element].clone();
        let constant = sum.remove(&0).unwrap_or_default();
        let mut taken = BigUint::one();
        loop {
            let inverse = sum.values().find_map(|multiple| Some((multiple.clone(), multiple.modinv(&self.modulus)?)));
            if let Some((multiple, inverse)) = inverse {
                sum.values_mut().for_each(|entry| *entry = &*entry * &inverse % &self.modulus);
                return (sum, constant, taken * multiple % &self.modulus);
            }
            // Of a multiple and its negative the lesser one.
            let negative = |multiple: &BigUint| &self.modulus - multiple;
            let lesser = |multiple: &BigUint| multiple.min(&negative(multiple)).clone();
            let common = sum.values().fold(BigUint::zero(), |common, multiple| common.gcd(&lesser(multiple)));
            if common.is_one() {
                return (sum, constant, taken);
            }
            for entry in sum.values_mut() {
                let is_positive = *entry <= negative(entry);
                let divided = lesser(entry) / &common;
                *entry = if is_positive { divided } else { &self.modulus - divided };
            }
            taken = taken * common % &self.modulus;
        }
    }

    /// An element or its negative, whichever has the smaller multiple of the first atom in which they differ, and true
    /// if it is the negative.
    pub(crate) fn without_sign(&mut self, element: Element) -> (Element, bool) {
        let mut doubled = self.sums[element].iter().map(|(&atom, multiple)| (multiple * 2u8, self.order(atom)));
        if doubled.find(|(doubled, order)| doubled != *order).is_none_or(|(doubled, order)| doubled < *order) {
            return (element, false);
        }
        let zero = self.element(Sum::new());
        let minus = &self.modulus - 1u8;
        (self.combined(zero, element, &minus), true)
    }

    pub(crate) fn operation(&mut self, operation: FieldOp, x: Element, y: Element) -> Element {
        match operation {
            FieldOp::Add => self.combined(x, y, &BigUint::one()),
            FieldOp::Sub => {
                let minus = &self.modulus - 1u8;
                self.combined(x, y, &minus)
            }
            FieldOp::Mul => self.product(x, y),
        }
    }

    /// The elements that the values of a function are; `constants` are the program's.
    pub fn of_function(&mut self, function: &Function, constants: &[BigUint]) -> Vec<Element> {
        let mut of: Vec<Element> = (0..function.value_count).map(|_| self.fresh()).collect();
        function.body.for_each_block(&mut |block: &Block| {
            for (value, op) in &block.ops {
                let mut read = |operand: Operand| match operand {
                    Operand::Value(Value(number)) => of[number as usize], // u32 to usize widens
                    Operand::Constant(id) => self.constant(&constants[id.0 as usize]),
                };
                let (x, y) = (read(op.x), read(op.y));
                of[value.0 as usize] = self.operation(op.kind, x, y);
            }
        });
        of
    }
}

/// A word that is known.
#[derive(Debug, Clone)]
struct Word {
    element: Element,
    least: BigUint,
    most: BigUint,
    /// True if it is p, for a given modulus.
    is_modulus: bool,
    /// True if it is the address of the next code, only copied and exchanged so far.
    is_next: bool,
}

impl Word {
    fn new(element: Element, least: BigUint, most: BigUint) -> Self {
        Self { element, least, most, is_modulus: false, is_next: false }
    }
}

/// A word on the stack where a block begins or ends.
#[derive(Debug, Clone)]
pub enum Held {
    /// Address of the next code.
    Next,
    /// p.
    Modulus,
    /// This number.
    Number(BigUint),
    /// This element, or its negative.
    Value(Element, Form),
}

/// Contents of the places that code names.
#[derive(Debug)]
pub struct Places {
    /// Memory address of p, for a given modulus.
    pub modulus: Option<BigUint>,
    /// Numbers that addresses hold all the time.
    pub numbers: Vec<(BigUint, BigUint)>,
    /// Contents of addresses at the start of the block, canonical.
    pub before: HashMap<BigUint, Element>,
    /// The addresses that the block may write.
    pub own: Vec<BigUint>,
    /// Required contents of addresses after it, canonical.
    pub after: Vec<(BigUint, Element)>,
    /// Stack at its start, lowest first.
    pub entry: Vec<Held>,
    /// Required stack after it, and nothing else.
    pub exit: Vec<Held>,
}

/// Reads the bytes of a block; an error describes the first mistake. Bounds are multiples of p plus numbers, so a block
/// is right for every given modulus if it is right for the least and for the greatest.
pub fn check(elements: &mut Elements, places: &Places, code: &[u8]) -> Result<Made, String> {
    match &elements.field {
        Field::Known(modulus) => check_modulo(&modulus.clone(), elements, places, code),
        Field::Given => {
            check_modulo(&GIVEN_LEAST.into(), elements, places, code)?;
            check_modulo(&word_max(), elements, places, code)
        }
    }
}

fn check_modulo(p: &BigUint, elements: &mut Elements, places: &Places, code: &[u8]) -> Result<Made, String> {
    let canonical = |element: Element| Word::new(element, BigUint::zero(), p - 1u8);
    let mut reading = Reading { stack: Vec::new(), memory: HashMap::new(), p: p.clone() };
    for (address, &element) in &places.before {
        reading.memory.insert(address.clone(), canonical(element));
    }
    for (address, number) in &places.numbers {
        let element = elements.constant(number);
        reading.memory.insert(address.clone(), Word::new(element, number.clone(), number.clone()));
    }
    if let Some(address) = &places.modulus {
        let element = elements.constant(&BigUint::zero());
        let word = Word { is_modulus: true, ..Word::new(element, p.clone(), p.clone()) };
        reading.memory.insert(address.clone(), word);
    }
    for held in &places.entry {
        let word = held.word(elements, p);
        reading.stack.push(word);
    }
    let mut made = Made::new();
    let mut at = 0;
    while at < code.len() {
        let opcode = code[at];
        let end = at + 1 + usize::from(opcode.checked_sub(evm::PUSH0).filter(|&bytes| bytes <= 32).unwrap_or(0));
        let immediate = code.get(at + 1..end).ok_or("a push ends behind the block")?;
        let element = reading.instruction(elements, places, opcode, immediate);
        let element = element.map_err(|what| format!("offset {at}: {what}"))?;
        made.extend(element.map(|element| (end, element)));
        at = end;
    }
    if reading.stack.len() != places.exit.len() {
        return Err(format!("{} words are left on the stack, not {}", reading.stack.len(), places.exit.len()));
    }
    for (at, (word, held)) in reading.stack.iter().zip(&places.exit).enumerate() {
        if !held.is_met(word, &held.word(elements, p)) {
            return Err(format!("word {at} that is left on the stack is another one, or too large"));
        }
    }
    for (address, element) in &places.after {
        match reading.memory.get(address) {
            Some(word) if word.element == *element && word.most < *p => {}
            Some(word) if word.element == *element => {
                return Err(format!("address {address} is not below the modulus"));
            }
            _ => return Err(format!("address {address} holds another value after the block")),
        }
    }
    Ok(made)
}

impl Held {
    /// The word that it stands for, with all that it may be.
    fn word(&self, elements: &mut Elements, p: &BigUint) -> Word {
        let zero = elements.constant(&BigUint::zero());
        match self {
            Held::Next => Word { is_next: true, ..Word::new(zero, BigUint::zero(), word_max()) },
            Held::Modulus => Word::new(zero, p.clone(), p.clone()),
            Held::Number(number) => {
                let element = elements.constant(number);
                Word::new(element, number.clone(), number.clone())
            }
            &Held::Value(element, form) => {
                let element = if form.is_negative { elements.operation(FieldOp::Sub, zero, element) } else { element };
                Word::new(element, BigUint::zero(), form.most(p))
            }
        }
    }

    /// True if `word` satisfies the requirement.
    fn is_met(&self, word: &Word, asked: &Word) -> bool {
        match self {
            Held::Next => word.is_next,
            _ => !word.is_next && word.element == asked.element && word.least >= asked.least && word.most <= asked.most,
        }
    }
}

/// POP, DUP or SWAP on the words of a block; an error if they reach below them.
pub fn moved<W: Clone>(stack: &mut Vec<W>, opcode: u8) -> Result<(), String> {
    let place = |depth| stack.len().checked_sub(depth).ok_or_else(|| "something below the block is read".to_owned());
    match opcode {
        evm::DUP1..=evm::DUP16 => {
            let place = place(usize::from(opcode - evm::DUP1) + 1)?;
            stack.push(stack[place].clone());
        }
        evm::SWAP1..=evm::SWAP16 => {
            let (top, place) = (place(1)?, place(usize::from(opcode - evm::SWAP1) + 2)?);
            stack.swap(top, place);
        }
        _ => {
            stack.truncate(place(1)?);
        }
    }
    Ok(())
}

struct Reading {
    stack: Vec<Word>,
    memory: HashMap<BigUint, Word>,
    p: BigUint,
}

impl Reading {
    fn pop(&mut self) -> Result<Word, String> {
        self.stack.pop().ok_or_else(|| "something below the block is read".to_owned())
    }

    /// Executes an instruction; the element that it computes or stores, if it does.
    fn instruction(
        &mut self,
        elements: &mut Elements,
        places: &Places,
        opcode: u8,
        immediate: &[u8],
    ) -> Result<Option<Element>, String> {
        match opcode {
            evm::PUSH0..=evm::PUSH32 => {
                let value = BigUint::from_bytes_be(immediate);
                let element = elements.constant(&value);
                self.stack.push(Word::new(element, value.clone(), value));
            }
            evm::POP | evm::DUP1..=evm::SWAP16 => moved(&mut self.stack, opcode)?,
            evm::MLOAD => {
                let address = self.pop()?;
                let word = self.memory.get(&address.most).filter(|_| address.least == address.most);
                self.stack.push(word.ok_or("memory is read that holds no known value")?.clone());
            }
            evm::MSTORE => {
                let (address, word) = (self.pop()?, self.pop()?);
                if word.is_next {
                    return Err("where control goes next is stored".to_owned());
                }
                if address.least != address.most || !places.own.contains(&address.most) {
                    return Err("memory is written that belongs to no value of the block".to_owned());
                }
                let element = word.element;
                self.memory.insert(address.most, word);
                return Ok(Some(element));
            }
            evm::ADD | evm::SUB | evm::MUL | evm::MOD | evm::ADDMOD | evm::MULMOD => {
                let word = self.arithmetic(elements, opcode)?;
                let element = word.element;
                self.stack.push(word);
                return Ok(Some(element));
            }
            _ => return Err(format!("opcode {opcode:#04x} is none of a block")),
        }
        Ok(None)
    }

    /// An operand; the address of the next code is none.
    fn operand(&mut self) -> Result<Word, String> {
        let word = self.pop()?;
        if word.is_next { Err("where control goes next is an operand".to_owned()) } else { Ok(word) }
    }

    fn arithmetic(&mut self, elements: &mut Elements, opcode: u8) -> Result<Word, String> {
        let a = self.operand()?;
        if opcode == evm::MOD {
            let modulus = self.operand()?;
            self.require_modulus(elements, &modulus)?;
            return Ok(self.below_p(a.element));
        }
        let b = self.operand()?;
        Ok(match opcode {
            evm::ADD => {
                let most = a.most + b.most;
                if most > word_max() {
                    return Err("a sum may not fit a word".to_owned());
                }
                let element = elements.operation(FieldOp::Add, a.element, b.element);
                Word::new(element, a.least + b.least, most)
            }
            evm::SUB => {
                if a.least < b.most {
                    return Err("a difference may be below zero".to_owned());
                }
                let element = elements.operation(FieldOp::Sub, a.element, b.element);
                Word::new(element, a.least - b.most, a.most - b.least)
            }
            evm::MUL => {
                let most = a.most * b.most;
                if most > word_max() {
                    return Err("a product may not fit a word".to_owned());
                }
                let element = elements.operation(FieldOp::Mul, a.element, b.element);
                Word::new(element, a.least * b.least, most)
            }
            _ => {
                let modulus = self.operand()?;
                self.require_modulus(elements, &modulus)?;
                let operation = if opcode == evm::ADDMOD { FieldOp::Add } else { FieldOp::Mul };
                let element = elements.operation(operation, a.element, b.element);
                self.below_p(element)
            }
        })
    }

    fn below_p(&self, element: Element) -> Word {
        Word::new(element, BigUint::zero(), &self.p - 1u8)
    }

    fn require_modulus(&self, elements: &Elements, word: &Word) -> Result<(), String> {
        let is_right = match elements.field {
            Field::Known(_) => word.least == self.p && word.most == self.p,
            Field::Given => word.is_modulus,
        };
        if is_right { Ok(()) } else { Err("something is reduced by another number than the modulus".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of random sums and products, with the numbers that they are for all values of three atoms.
    fn random(p: u64, are_bare: bool, seed: u64) -> (Elements, Vec<(Element, Vec<u64>)>) {
        let mut state = seed;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let modulus = BigUint::from(p);
        let mut elements =
            if are_bare { Elements::bare(&modulus) } else { Elements::new(Field::Known(modulus.clone())) };
        let places = 0..p.pow(3);
        let mut all: Vec<(Element, Vec<u64>)> = Vec::new();
        for atom in 0..3 {
            all.push((elements.fresh(), places.clone().map(|place| place / p.pow(atom) % p).collect()));
        }
        for number in 0..p {
            all.push((elements.constant(&number.into()), vec![number; places.end as usize]));
        }
        for _ in 0..60 {
            let [(x, a), (y, b)] = [0; 2].map(|_| all[below(all.len())].clone());
            let kind = [FieldOp::Add, FieldOp::Sub, FieldOp::Mul, FieldOp::Mul][below(4)];
            let number = |(&a, &b): (&u64, &u64)| match kind {
                FieldOp::Add => (a + b) % p,
                FieldOp::Sub => (a + p - b) % p,
                FieldOp::Mul => a * b % p,
            };
            all.push((elements.operation(kind, x, y), a.iter().zip(&b).map(number).collect()));
        }
        (elements, all)
    }

    #[test]
    fn equal_elements_are_equal_numbers() {
        for p in [2, 3, 4, 6, 8, 9, 12] {
            for seed in 0..40 {
                let (_, all) = random(p, seed % 2 == 1, seed);
                let mut numbers: HashMap<Element, &Vec<u64>> = HashMap::new();
                for (element, found) in &all {
                    let first = numbers.entry(*element).or_insert(found);
                    assert!(*first == found, "modulo {p}, seed {seed}: one element for two");
                }
            }
        }
    }

    #[test]
    fn a_product_of_what_is_its_own_negative_is_too() {
        let mut elements = Elements::new(Field::Known(4u8.into()));
        let [x, a, b] = [(); 3].map(|()| elements.fresh());
        let double = elements.operation(FieldOp::Add, x, x);
        let [there, back] = [(a, b), (b, a)].map(|(a, b)| {
            let difference = elements.operation(FieldOp::Sub, a, b);
            elements.operation(FieldOp::Mul, double, difference)
        });
        assert_eq!(there, back);
        let four = elements.operation(FieldOp::Mul, double, there);
        assert_eq!(four, elements.constant(&BigUint::zero()));
    }
}
