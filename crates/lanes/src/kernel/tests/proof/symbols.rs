//! Symbols, and instructions on them: they record the values, and report lanes that could overflow.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::facts::{Facts, Value};
use super::mutants::{Fault, Mutant};
use super::polynomial::Polynomial;
use crate::line::ROW_LIMB_BITS;

const WORD_BITS: u32 = ROW_LIMB_BITS as u32;

/// A value, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symbol(u32);

/// Running proof, with the facts known so far.
pub struct Proof {
    pub facts: RefCell<Facts>,
    values: RefCell<Vec<Value>>,
    failure: RefCell<Option<String>>,
    mutant: Option<Mutant>,
    /// Places for every fault so far.
    places: [Cell<usize>; Fault::ALL.len()],
    /// Symbols by which the mutant differs.
    spoiled: RefCell<HashMap<Symbol, Symbol>>,
    is_noticed: Cell<bool>,
    /// Outcomes so far: the lanes often have the same operands.
    outcomes: RefCell<HashMap<(&'static str, [Symbol; 3]), Symbol>>,
    /// True if the sign that selections assume is negative, for a value whose range does not decide it.
    pub is_negative: Cell<bool>,
    asked: Cell<Option<Symbol>>,
}

impl Proof {
    /// With nothing known.
    pub fn new(mutant: Option<Mutant>) -> Self {
        Self {
            facts: RefCell::default(),
            values: RefCell::default(),
            failure: RefCell::default(),
            mutant,
            places: Default::default(),
            spoiled: RefCell::default(),
            is_noticed: Cell::default(),
            outcomes: RefCell::default(),
            is_negative: Cell::default(),
            asked: Cell::default(),
        }
    }

    /// A symbol for any integer from `low` to `high`.
    pub fn given(&self, low: i128, high: i128) -> Symbol {
        let value = self.facts.borrow_mut().given(low, high);
        self.symbol(value)
    }

    /// A symbol for a number.
    pub fn number(&self, number: i128) -> Symbol {
        self.symbol(Value { polynomial: Polynomial::constant(number), low: number, high: number })
    }

    /// Value of a symbol.
    pub fn value(&self, symbol: Symbol) -> Value {
        self.values.borrow()[symbol.0 as usize].clone()
    }

    /// The first thing that did not hold.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Number of places for a fault.
    pub fn places(&self, fault: Fault) -> usize {
        self.places[fault as usize].get()
    }

    /// Does the mutant differ from the program? It does not where an instruction has nothing to do, and where its outcome is never read.
    pub fn is_noticed(&self) -> bool {
        self.is_noticed.get()
    }

    /// The sign that selections asked for.
    pub fn asked(&self) -> Option<Value> {
        self.asked.get().map(|symbol| self.value(symbol))
    }

    /// A symbol for a value, which a lane must hold: with a sign, or without one.
    pub fn symbol(&self, value: Value) -> Symbol {
        let is_signed = value.low >= -(1 << 63) && value.high < 1 << 63;
        let is_unsigned = value.low >= 0 && value.high < 1 << 64;
        self.require(is_signed || is_unsigned, "a lane overflows", &value);
        let mut values = self.values.borrow_mut();
        values.push(value);
        Symbol(values.len() as u32 - 1) // Far below.
    }

    fn require(&self, holds: bool, what: &str, value: &Value) {
        if !holds {
            self.fail(format!("{what}: {} to {}", value.low, value.high));
        }
    }

    /// Something does not hold.
    pub fn fail(&self, what: String) {
        self.failure.borrow_mut().get_or_insert(what);
    }

    /// The value of a symbol that an instruction reads.
    fn read(&self, symbol: Symbol) -> Value {
        if self.spoiled.borrow().values().any(|spoiled| *spoiled == symbol) {
            self.is_noticed.set(true);
        }
        self.value(symbol)
    }

    /// Counts a place for a fault; is it that of the mutant?
    pub fn has(&self, fault: Fault) -> bool {
        let at = self.places[fault as usize].replace(self.places(fault) + 1);
        let is_here = self.mutant == Some(Mutant { fault, at });
        if is_here && matches!(fault, Fault::OtherHalf | Fault::ShiftedLess) {
            self.is_noticed.set(true);
        }
        is_here
    }

    /// A symbol for the same value, whose readers notice the mutant.
    pub fn spoiled(&self, symbol: Symbol) -> Symbol {
        *self.spoiled.borrow_mut().entry(symbol).or_insert_with(|| self.symbol(self.value(symbol)))
    }

    /// Notes a store. False if it is removed by the mutant.
    pub fn stores(&self, value: &[Symbol]) -> bool {
        value.iter().for_each(|symbol| drop(self.read(*symbol)));
        let is_spoiled = self.has(Fault::Unmoved);
        self.is_noticed.set(self.is_noticed.get() || is_spoiled);
        !is_spoiled
    }

    fn cached(&self, name: &'static str, operands: [Symbol; 3], outcome: impl FnOnce() -> Symbol) -> Symbol {
        if let Some(outcome) = self.outcomes.borrow().get(&(name, operands)) {
            return *outcome;
        }
        let outcome = outcome();
        self.outcomes.borrow_mut().insert((name, operands), outcome);
        outcome
    }

    pub fn shift(&self) -> u32 {
        WORD_BITS - u32::from(self.has(Fault::ShiftedLess))
    }

    pub fn sum(&self, x: Symbol, y: Symbol, sign: i128) -> Symbol {
        self.cached(if sign < 0 { "sub" } else { "add" }, [x, y, x], || self.new_sum(x, y, sign))
    }

    fn new_sum(&self, x: Symbol, y: Symbol, sign: i128) -> Symbol {
        let [x, y] = [self.read(x), self.read(y)];
        let (low, high) = if sign < 0 { (x.low - y.high, x.high - y.low) } else { (x.low + y.low, x.high + y.high) };
        let value = self.facts.borrow().value(x.polynomial.plus(&y.polynomial, sign), low, high);
        self.symbol(value)
    }

    fn rest(&self, x: &Value, bits: u32) -> Value {
        self.facts.borrow_mut().split(x, bits).0
    }

    pub fn quotient(&self, x: Symbol, bits: u32, is_signed: bool) -> Symbol {
        let x = self.facts.borrow().refined(self.read(x));
        match is_signed {
            true => self.require(x.high < 1 << 63, "a sign is shifted in", &x),
            false => self.require(x.low >= 0, "a sign is shifted away", &x),
        }
        let quotient = self.facts.borrow_mut().split(&x, bits).1;
        self.symbol(quotient)
    }

    pub fn half(&self, t: Symbol, x: Symbol, y: Symbol, is_high: bool) -> Symbol {
        self.cached(if is_high { "high" } else { "low" }, [t, x, y], || self.new_half(t, x, y, is_high))
    }

    fn new_half(&self, t: Symbol, x: Symbol, y: Symbol, is_high: bool) -> Symbol {
        let [t, x, y] = [t, x, y].map(|symbol| self.read(symbol));
        let mut facts = self.facts.borrow_mut();
        let [x, y] = [facts.word(&x), facts.word(&y)];
        let product = facts.value(x.polynomial.times(&y.polynomial), x.low * y.low, x.high * y.high);
        let (low, high) = facts.split(&product, WORD_BITS);
        let half = if is_high { high } else { low };
        let sum = facts.value(t.polynomial.plus(&half.polynomial, 1), t.low + half.low, t.high + half.high);
        drop(facts);
        self.symbol(sum)
    }

    pub fn masked(&self, x: Symbol, y: Symbol) -> Symbol {
        let [x, y] = [self.read(x), self.read(y)];
        let mask = y.polynomial.as_constant().map(|mask| mask + 1).filter(|end| *end > 0 && end.count_ones() == 1);
        self.require(mask.is_some(), "no mask of low bits", &y);
        let rest = self.rest(&x, mask.map_or(0, i128::trailing_zeros));
        self.symbol(rest)
    }

    pub fn joined(&self, x: Symbol, y: Symbol) -> Symbol {
        let [x, y] = [self.read(x), self.read(y)];
        let lies_above = |x: &Value, y: &Value| {
            let step = y.polynomial.terms().map(|(_, k)| k.trailing_zeros()).min().unwrap_or(64);
            x.low >= 0 && y.low >= 0 && x.high < 1 << step.min(64)
        };
        self.require(lies_above(&x, &y) || lies_above(&y, &x), "bits overlap", &x);
        let sum = self.facts.borrow().value(x.polynomial.plus(&y.polynomial, 1), x.low + y.low, x.high + y.high);
        self.symbol(sum)
    }

    pub fn moved_up(&self, x: Symbol, bits: u32) -> Symbol {
        let mut x = self.read(x);
        if x.low < 0 || x.high >= 1 << (64 - bits) {
            x = self.rest(&x, 64 - bits);
        }
        let value = Value { polynomial: x.polynomial.map(|k| k << bits), low: x.low << bits, high: x.high << bits };
        self.symbol(value)
    }

    pub fn chosen(&self, sign: Symbol, negative: Symbol, other: Symbol) -> Symbol {
        let value = self.read(sign);
        self.require(value.high < 1 << 63, "a sign is read where there is none", &value);
        let is_negative = match (value.high < 0, value.low >= 0) {
            (true, _) => true,
            (_, true) => false,
            _ => {
                let asked = self.asked.get().unwrap_or(sign);
                self.asked.set(Some(asked));
                self.require(asked == sign, "another sign is asked for", &value);
                self.is_negative.get()
            }
        };
        if is_negative { negative } else { other }
    }

    pub fn flipped(&self, x: Symbol, y: Symbol) -> Symbol {
        let [x, y] = [self.read(x), self.read(y)];
        let is_flipped = y.polynomial.as_constant();
        self.require(matches!(is_flipped, Some(0 | -1)), "neither all bits nor none are flipped", &y);
        self.require(x.high < 1 << 63, "a sign is flipped", &x);
        let value = match is_flipped {
            Some(0) => x,
            _ => Value {
                polynomial: Polynomial::constant(-1).plus(&x.polynomial, -1),
                low: -1 - x.high,
                high: -1 - x.low,
            },
        };
        self.symbol(value)
    }
}
