//! Products, sums and differences modulo a number of `N` limbs: in instructions of this machine, or one call each.

use ruint::algorithms;

use crate::system;

/// Numbers of the calls for products, sums and differences of 256 bits; those of 384 bits are three higher.
const FIRST_CALL: usize = 0x5250;

/// An operation modulo a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Mul,
    Add,
    Sub,
}

/// out = x ∘ y mod m by one call. Operands below m; limbs with the least first.
#[inline(always)]
pub fn by_call<const N: usize>(operation: Operation, x: &[u64; N], y: &[u64; N], modulus: &[u64; N]) -> [u64; N] {
    let mut out = [0; N];
    let number = FIRST_CALL + operation as usize + if N == 4 { 0 } else { 3 };
    system::compute(number, &mut out, [x, y, modulus]);
    out
}

/// A modulus with its constants, and the form that values have: Montgomery's for odd ones in software, canonical elsewhere.
pub struct Modulus<const N: usize> {
    limbs: [u64; N],
    form: Form<N>,
}

enum Form<const N: usize> {
    /// −m⁻¹ mod 2⁶⁴, and 2^(128·N) mod m.
    Montgomery { inverse: u64, square: [u64; N] },
    /// An even modulus in software.
    Canonical,
    /// One call an operation.
    Calls,
}

impl<const N: usize> Modulus<N> {
    /// The modulus of these limbs, which are not all zero.
    pub fn new(limbs: [u64; N], by_calls: bool) -> Self {
        let form = if by_calls {
            Form::Calls
        } else if limbs[0] & 1 == 0 {
            Form::Canonical
        } else {
            // Newton's iteration doubles the bits that are right: 3, 6, … 96.
            let mut inverse = limbs[0];
            for _ in 0..5 {
                inverse = inverse.wrapping_mul(2_u64.wrapping_sub(limbs[0].wrapping_mul(inverse)));
            }
            Form::Montgomery { inverse: inverse.wrapping_neg(), square: power_of_two(128 * N, &limbs) }
        };
        Self { limbs, form }
    }

    /// x ∘ y mod m.
    #[inline(always)]
    pub fn compute(&self, operation: Operation, x: &[u64; N], y: &[u64; N]) -> [u64; N] {
        match (&self.form, operation) {
            (Form::Calls, operation) => by_call(operation, x, y, &self.limbs),
            (_, Operation::Add) => sum(x, y, &self.limbs),
            (_, Operation::Sub) => difference(x, y, &self.limbs),
            (Form::Montgomery { inverse, .. }, Operation::Mul) => algorithms::mul_redc(*x, *y, self.limbs, *inverse),
            (Form::Canonical, Operation::Mul) => product(x, y, &self.limbs),
        }
    }

    /// A canonical value in the form of slots; none if it is not below the modulus.
    pub fn enter(&self, value: [u64; N]) -> Option<[u64; N]> {
        if !algorithms::lt(&value, &self.limbs) {
            return None;
        }
        Some(match self.form {
            Form::Montgomery { inverse, square } => algorithms::mul_redc(value, square, self.limbs, inverse),
            Form::Canonical | Form::Calls => value,
        })
    }

    /// The canonical value of a slot.
    pub fn leave(&self, value: [u64; N]) -> [u64; N] {
        let mut one = [0; N];
        one[0] = 1;
        match self.form {
            Form::Montgomery { inverse, .. } => algorithms::mul_redc(value, one, self.limbs, inverse),
            Form::Canonical | Form::Calls => value,
        }
    }
}

/// x + y as limbs, and the carry out of the last.
#[inline(always)]
fn plus<const N: usize>(x: &[u64; N], y: &[u64; N]) -> ([u64; N], bool) {
    let (mut out, mut carry) = ([0; N], false);
    for i in 0..N {
        (out[i], carry) = x[i].carrying_add(y[i], carry);
    }
    (out, carry)
}

/// x − y as limbs, and the borrow out of the last.
#[inline(always)]
fn minus<const N: usize>(x: &[u64; N], y: &[u64; N]) -> ([u64; N], bool) {
    let (mut out, mut borrow) = ([0; N], false);
    for i in 0..N {
        (out[i], borrow) = x[i].borrowing_sub(y[i], borrow);
    }
    (out, borrow)
}

#[inline(always)]
fn sum<const N: usize>(x: &[u64; N], y: &[u64; N], modulus: &[u64; N]) -> [u64; N] {
    let (sum, carry) = plus(x, y);
    let (reduced, borrow) = minus(&sum, modulus);
    if carry || !borrow { reduced } else { sum }
}

#[inline(always)]
fn difference<const N: usize>(x: &[u64; N], y: &[u64; N], modulus: &[u64; N]) -> [u64; N] {
    let (difference, borrow) = minus(x, y);
    if borrow { plus(&difference, modulus).0 } else { difference }
}

/// x·y mod m by doubling and adding, for moduli that are even: seldom, and never where time counts.
fn product<const N: usize>(x: &[u64; N], y: &[u64; N], modulus: &[u64; N]) -> [u64; N] {
    let mut out = [0; N];
    for bit in (0..64 * N).rev() {
        out = sum(&out, &out, modulus);
        if x[bit / 64] >> (bit % 64) & 1 == 1 {
            out = sum(&out, y, modulus);
        }
    }
    out
}

/// 2^exponent mod m by doubling.
fn power_of_two<const N: usize>(exponent: usize, modulus: &[u64; N]) -> [u64; N] {
    let mut out = [0; N];
    out[0] = 1;
    // One is above a modulus of one.
    out = difference(&out, modulus, modulus);
    out = sum(&out, &[0; N], modulus);
    for _ in 0..exponent {
        out = sum(&out, &out, modulus);
    }
    out
}
