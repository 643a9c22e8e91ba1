//! Setting of a proof: rows of a shape that keep the bounds of a plan, and the constants of any modulus of that shape.

use std::cell::RefCell;
use std::cmp::Ordering;

use num_bigint::BigInt;

use super::facts::{Number, radix};
use super::machine::SymbolRows;
use super::polynomial::{Polynomial, Variable, Wide};
use super::symbols::{Proof, Symbol};
use crate::bounds::{Bounds, UNIT};
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::line::{LINE_LIMBS, ROW_LIMBS};
use crate::modulus_rows::{Constants, ProductConstants};
use crate::shape::Shape;

/// A number that the proof takes as any number of its range, and its value when a step runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// A limb of M.
    Modulus(usize),
    /// −M⁻¹ mod 2⁵².
    N0,
    /// µ of a reduction.
    Mu,
    /// A limb of the multiple added to operands of products.
    Lift(usize),
    /// A limb of the bias.
    Bias(usize),
    /// A limb of a row.
    Row(u16, usize),
}

/// Rows and constants.
pub struct Setting<'p> {
    pub proof: &'p Proof,
    pub shape: Shape,
    pub rows: SymbolRows,
    pub constants: Constants<Symbol, [Symbol; LINE_LIMBS]>,
    inputs: RefCell<Vec<(Variable, Input)>>,
    /// The limbs of each row at first, by number.
    given: RefCell<Vec<(u16, Vec<Polynomial>)>>,
}

impl<'p> Setting<'p> {
    /// The constants of every modulus of the shape: 2ᵇ⁻² ≤ M < 2ᵇ, limbs of 52 bits, n0·M₀ ≡ −1 mod 2⁵². All multiples are one, the bias,
    /// of limbs below 2⁵². `modulus_rows` makes them so; a test compares.
    pub fn new(proof: &'p Proof, shape: Shape) -> Self {
        let bits = shape.modulus_bits() - (shape.limbs() - 1) * ROW_LIMB_BITS;
        Self::with_top_limb(proof, shape, (1 << (bits - 2), (1 << bits) - 1))
    }

    /// The same for any other modulus: values leave modulo m itself, which may be narrower than the shape. Its top limb has this range.
    pub fn with_top_limb(proof: &'p Proof, shape: Shape, top_limb: (i128, i128)) -> Self {
        let inputs = RefCell::default();
        let zero = proof.number(0);
        let limbs = |input: &dyn Fn(usize) -> Input, (low, high): (i128, i128)| {
            std::array::from_fn::<_, ROW_LIMBS, _>(|i| match (i + 1).cmp(&shape.limbs()) {
                Ordering::Less => given(proof, &inputs, input(i), 0, i128::from(LIMB_MASK)),
                Ordering::Equal => given(proof, &inputs, input(i), low, high),
                Ordering::Greater => zero,
            })
        };
        let any = (0, i128::from(LIMB_MASK));
        let m = limbs(&Input::Modulus, top_limb);
        let (lift, bias) = (limbs(&Input::Lift, any), limbs(&Input::Bias, any));
        let n0 = given(proof, &inputs, Input::N0, 0, i128::from(LIMB_MASK));
        proof.facts.borrow_mut().state_negative_inverse(&proof.value(n0), &proof.value(m[0]));
        let top_bit = (shape.limbs() - 1) * ROW_LIMB_BITS;
        let top_shift = (shape.modulus_bits() - top_bit - crate::shape::TOP_LIMB_BITS_MIN) as u32; // At most 40.
        // 2⁵²·2ˢ·W/M lies between 2⁴⁰ and 2⁴².
        let mu = given(proof, &inputs, Input::Mu, 1 << 40, 1 << 42);
        let lines = |limbs: [Symbol; ROW_LIMBS]| [0, LINE_LIMBS].map(|at| std::array::from_fn(|i| limbs[at + i]));
        let negated = m.map(|limb| {
            let value = proof.value(limb);
            let polynomial = value.polynomial.map(|k| -k);
            proof.symbol(super::facts::Value { polynomial, low: -value.high, high: -value.low })
        });
        let shifted = std::array::from_fn(|i| if (1..shape.limbs()).contains(&i) { m[i - 1] } else { zero });
        let constants = Constants {
            product: ProductConstants { m, n0, lift },
            top_shift,
            mu,
            m_lines: lines(m),
            shifted_lines: lines(shifted),
            negated_lines: lines(negated),
            multiples: lines(bias)[..shape.lines()].to_vec(),
        };
        Self { proof, shape, rows: SymbolRows::default(), constants, inputs, given: RefCell::default() }
    }

    /// Any row within these bounds.
    pub fn set_row(&self, row: u16, bounds: Bounds) {
        let (low, high) = self.value_range(bounds);
        let below = (0..self.shape.limbs() - 1).fold(BigInt::ZERO, |sum, i| sum + radix(i) * bounds.limb);
        let top_bit = ROW_LIMB_BITS * (self.shape.limbs() - 1);
        let [low, high] = [(low - &below) >> top_bit, (high + below) >> top_bit]
            .map(|end| i128::try_from(end).expect("a top limb is small"));
        let limb = i128::from(bounds.limb);
        let limbs: [Symbol; ROW_LIMBS] = std::array::from_fn(|i| match (i + 1).cmp(&self.shape.limbs()) {
            Ordering::Less => given(self.proof, &self.inputs, Input::Row(row, i), -limb, limb),
            Ordering::Equal => given(self.proof, &self.inputs, Input::Row(row, i), low, high),
            Ordering::Greater => self.proof.number(0),
        });
        for line in 0..self.shape.lines() {
            let symbols = std::array::from_fn(|i| limbs[line * LINE_LIMBS + i]);
            self.rows.borrow_mut().insert((row, line), symbols);
        }
        let polynomials = limbs[..self.shape.limbs()].iter().map(|limb| self.proof.value(*limb).polynomial);
        self.given.borrow_mut().push((row, polynomials.collect()));
    }

    /// Any row within these bounds, also stated with the multiple of M for products.
    pub fn set_operand(&self, row: u16, bounds: Bounds) {
        self.set_row(row, bounds);
        let lift = &self.constants.product.lift;
        self.state_sum(row, lift, bounds.biased(self.shape.lift()));
    }

    /// The limbs of the bias.
    pub fn bias(&self) -> [Symbol; ROW_LIMBS] {
        let limbs = self.constants.multiples.concat();
        std::array::from_fn(|i| limbs.get(i).copied().unwrap_or_else(|| self.proof.number(0)))
    }

    /// States the range of a row with a constant added.
    pub fn state_sum(&self, row: u16, constant: &[Symbol; ROW_LIMBS], bounds: Bounds) {
        let limbs = self.given(row).into_iter().zip(constant);
        let limbs = limbs.map(|(limb, constant)| limb.plus(&self.proof.value(*constant).polynomial, 1)).collect();
        let (low, high) = self.value_range(bounds);
        self.proof.facts.borrow_mut().state_number(Number { limbs, low, high });
    }

    /// The limbs of a row at first.
    pub fn given(&self, row: u16) -> Vec<Polynomial> {
        let given = self.given.borrow();
        given.iter().find(|(number, _)| *number == row).expect("a row that was set").1.clone()
    }

    /// The limbs of a row now, if those beyond the shape's are zero.
    pub fn row(&self, row: u16) -> Result<Vec<Symbol>, String> {
        let lines = self.shape.lines();
        let rows = self.rows.borrow();
        let limbs = (0..lines).map(|line| rows.get(&(row, line)).copied().ok_or(format!("row {row} is not written")));
        let mut limbs = limbs.collect::<Result<Vec<_>, _>>()?.concat();
        let padding = limbs.split_off(self.shape.limbs());
        let is_zero = padding.iter().all(|limb| self.proof.value(*limb).polynomial.is_zero());
        if is_zero { Ok(limbs) } else { Err(format!("row {row} has limbs beyond its last")) }
    }

    /// Σ limbᵢ·2^(52i).
    pub fn sum(&self, limbs: &[Symbol]) -> Wide {
        let values: Vec<_> = limbs.iter().map(|limb| self.proof.value(*limb).polynomial).collect();
        Wide::of_limbs(&values)
    }

    /// M.
    pub fn modulus(&self) -> Wide {
        self.sum(&self.constants.product.m)
    }

    /// The variable of a constant.
    pub fn variable(&self, symbol: Symbol) -> Variable {
        self.proof.value(symbol).polynomial.as_variable().expect("a variable")
    }

    /// Meaning of an input variable.
    pub fn input(&self, variable: Variable) -> Input {
        let inputs = self.inputs.borrow();
        inputs.iter().find(|(given, _)| *given == variable).expect("a variable that was given").1
    }

    /// From the least to the greatest value within bounds, for any M of the shape.
    pub fn value_range(&self, bounds: Bounds) -> (BigInt, BigInt) {
        let least = BigInt::from(1) << (self.shape.modulus_bits() - 2);
        let most = (&least << 2) - 1;
        let end = |units: i64| [&least, &most].map(|m| m * units);
        let low = end(bounds.low).into_iter().min().expect("two ends") / UNIT - 1;
        let high = end(bounds.high).into_iter().max().expect("two ends") / UNIT + 1;
        (if bounds.low == 0 { BigInt::ZERO } else { low }, high)
    }
}

fn given(proof: &Proof, inputs: &RefCell<Vec<(Variable, Input)>>, input: Input, low: i128, high: i128) -> Symbol {
    let symbol = proof.given(low, high);
    let variable = proof.value(symbol).polynomial.as_variable().expect("a new variable");
    inputs.borrow_mut().push((variable, input));
    symbol
}
