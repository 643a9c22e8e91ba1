//! Theorems about values on their way in and out: between words of 64 bits and limbs of 52, and below the modulus.

use num_bigint::BigInt;

use super::facts::{Number, Value, radix};
use super::mutants::Mutant;
use super::polynomial::{Polynomial, Wide};
use super::products::{check_product, lane, widest_operand};
use super::setting::Setting;
use super::symbols::{Proof, Symbol};
use crate::bounds::Bounds;
use crate::kernel::steps::product::{divided, lifted, product, reduced};
use crate::kernel::steps::transfer::{WORD_BITS, canonical, less_m, packed, unpacked};
use crate::line::ROW_LIMBS;
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::shape::Shape;

/// Parts of entering and leaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A product of words, as of a value and the factor of its form.
    Words,
    /// (x + u·m)/R.
    Reduced,
    /// (x + u·m)/2ᵈ.
    Divided(u32),
    /// A value below 2m, where it is below m or where it is not.
    Canonical { is_below: bool },
    /// x − m.
    LessModulus,
    /// Words of 64 bits to limbs.
    Unpacked,
    /// Limbs to words of 64 bits.
    Packed,
}

/// Executes a part on the widest operands.
pub fn prove<const L: usize>(part: Part, shape: Shape, mutant: Option<Mutant>) -> (Proof, Result<(), String>) {
    let proof = Proof::new(mutant);
    let outcome = {
        // Divided by 2ᵈ = R/2⁶⁴ⁿ: m is below 2⁶⁴ⁿ.
        let spare_bits = if let Part::Divided(shift) = part { shift } else { 0 };
        let setting = Setting::with_top_limb(&proof, shape, (0, i128::from(LIMB_MASK) >> spare_bits));
        let outcome = match part {
            Part::Words => words::<L>(&setting),
            Part::Reduced => {
                let v = proof.machine::<1>();
                let x = lane::<L>(&setting, 0, widest_operand(shape));
                let out = reduced(v, &lifted(v, &x, &setting.constants.product), &setting.constants.product);
                let one = Wide::constant(BigInt::from(1));
                check_from(&setting, &operand(&setting), &one, &flat(&out), sums_of_halves(shape))
            }
            Part::Divided(shift) => divide::<L>(&setting, shift),
            Part::Canonical { is_below } => below_modulus::<L>(&setting, is_below),
            Part::LessModulus => less_modulus::<L>(&setting),
            Part::Unpacked => unpack::<L>(&setting),
            Part::Packed => pack::<L>(&setting),
        };
        proof.failure().map_or(outcome, Err)
    };
    (proof, outcome)
}

/// Limbs of a product that is not carried: sums of halves.
fn sums_of_halves(shape: Shape) -> Bounds {
    Bounds { limb: 4 * shape.limbs() as u64 * LIMB_MASK, low: 0, high: 0 }
}

/// x + k·M, for the row 0.
fn operand(setting: &Setting<'_>) -> Wide {
    let mut sum = Wide::of_limbs(&setting.given(0));
    sum.add_wide(&setting.sum(&setting.constants.product.lift), &BigInt::from(1));
    sum
}

/// [`check_product`] where limbs must not be negative either.
fn check_from(setting: &Setting<'_>, a: &Wide, b: &Wide, out: &[Symbol], bounds: Bounds) -> Result<(), String> {
    if out.iter().any(|limb| setting.proof.value(*limb).low < 0) {
        return Err("a limb may be negative".into());
    }
    check_product(setting, a, b, out, bounds)
}

fn words<const L: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let v = setting.proof.machine::<1>();
    let [x, y]: [[_; L]; 2] = [0; 2].map(|_| [0; L].map(|_| [setting.proof.given(0, i128::from(LIMB_MASK))]));
    let out = product(v, &x, &y, &setting.constants.product, &mut ());
    let [x, y] = [x, y].map(|words| setting.sum(&flat(&words)));
    check_from(setting, &x, &y, &flat(&out), sums_of_halves(setting.shape))
}

fn divide<const L: usize>(setting: &Setting<'_>, shift: u32) -> Result<(), String> {
    let v = setting.proof.machine::<1>();
    let x = lane::<L>(setting, 0, widest_operand(setting.shape));
    let out = divided(v, &lifted(v, &x, &setting.constants.product), shift, &setting.constants.product);
    check_carried(setting, &flat(&out))?;
    let mut rest = Wide::default();
    rest.add_wide(&setting.sum(&flat(&out)), &(BigInt::from(1) << shift));
    rest.add_wide(&operand(setting), &BigInt::from(-1));
    let facts = setting.proof.facts.borrow();
    let u = facts.quotient_by(rest, &setting.modulus()).ok_or("the outcome times 2ᵈ is not x + u·m")?;
    let (low, high) = facts.wide_range(&u);
    let is_digit = low >= BigInt::ZERO && high < BigInt::from(1) << shift;
    if is_digit { Ok(()) } else { Err(format!("the quotient lies between {low} and {high}")) }
}

/// Limbs in [0, 2⁵²)?
fn check_carried(setting: &Setting<'_>, limbs: &[Symbol]) -> Result<(), String> {
    let facts = setting.proof.facts.borrow();
    let values = limbs.iter().map(|limb| facts.refined(setting.proof.value(*limb)));
    let mut uncarried = values.filter(|value| value.low < 0 || value.high > i128::from(LIMB_MASK));
    uncarried.next().map_or(Ok(()), |value| Err(format!("a limb from {} to {} is not carried", value.low, value.high)))
}

/// Carried limbs of any number below R less m: the borrow is −1 or 0, and x − m = difference + R·borrow.
fn less_modulus<const L: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let x: [_; L] = std::array::from_fn(|_| [setting.proof.given(0, i128::from(LIMB_MASK))]);
    let limbs = flat(&x).map(|limb| setting.proof.value(limb));
    state_difference(setting, &limbs);
    let ([borrow], difference) = less_m(setting.proof.machine::<1>(), &x, &setting.constants.product);
    check_difference(setting, &setting.sum(&flat(&x)), borrow, &flat(&difference))
}

fn state_difference(setting: &Setting<'_>, limbs: &[Value]) {
    let m = setting.constants.product.m.map(|limb| setting.proof.value(limb));
    let limbs = limbs.iter().zip(m).map(|(x, m)| x.polynomial.plus(&m.polynomial, -1)).collect();
    let most = radix(setting.shape.limbs()) - 1;
    setting.proof.facts.borrow_mut().state_number(Number { limbs, low: -&most, high: most });
}

fn check_difference(setting: &Setting<'_>, x: &Wide, borrow: Symbol, difference: &[Symbol]) -> Result<(), String> {
    check_carried(setting, difference)?;
    let borrow = setting.proof.value(borrow);
    let mut rest = setting.sum(difference);
    rest.add_wide(x, &BigInt::from(-1));
    rest.add_wide(&setting.modulus(), &BigInt::from(1));
    rest.add(&borrow.polynomial, &radix(setting.shape.limbs()));
    let holds = rest.is_zero() && borrow.low >= -1 && borrow.high <= 0;
    if holds { Ok(()) } else { Err("the difference is not x − m".into()) }
}

/// A value below 2m, in limbs that may be carried. By [`less_modulus`], x is below m if the sign is negative.
fn below_modulus<const L: usize>(setting: &Setting<'_>, is_below: bool) -> Result<(), String> {
    let (proof, limbs) = (setting.proof, setting.shape.limbs());
    let x: [_; L] = std::array::from_fn(|_| [proof.given(0, (1 << 58) - 1)]);
    let polynomials = flat(&x).map(|limb| proof.value(limb).polynomial);
    let number = Number { limbs: polynomials.to_vec(), low: BigInt::ZERO, high: radix(limbs) - 1 };
    proof.facts.borrow_mut().state_number(number);
    // The limbs as they will be carried.
    let mut carry = Polynomial::default();
    let carried = polynomials.clone().map(|limb| {
        let mut facts = proof.facts.borrow_mut();
        let limb = facts.value(limb.plus(&carry, 1), i128::MIN, i128::MAX);
        let (rest, above) = facts.split(&limb, ROW_LIMB_BITS as u32);
        carry = above.polynomial;
        rest
    });
    state_difference(setting, &carried);
    proof.is_negative.set(is_below);
    let out = flat(&canonical(proof.machine::<1>(), &x, &setting.constants.product));
    let borrow = proof.asked().ok_or("no sign is asked for")?;
    let sign = proof.symbol(borrow.clone());
    if !is_below {
        // What is borrowed is zero then.
        return check_difference(setting, &Wide::of_limbs(&polynomials), sign, &out);
    }
    check_carried(setting, &out)?;
    let mut rest = setting.sum(&out);
    rest.add_wide(&Wide::of_limbs(&polynomials), &BigInt::from(-1));
    // The sign must be that of x − m.
    let mut expected = Polynomial::default();
    for (limb, m) in carried.iter().zip(setting.constants.product.m) {
        let limb = limb.polynomial.plus(&proof.value(m).polynomial, -1).plus(&expected, 1);
        expected = proof.facts.borrow().above(&limb, ROW_LIMB_BITS as u32).ok_or("x is not compared with m")?;
    }
    let holds = rest.is_zero() && expected == borrow.polynomial;
    if holds { Ok(()) } else { Err("the outcome is not x, which is below m".into()) }
}

fn unpack<const L: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let proof = setting.proof;
    let words: [_; ROW_LIMBS] = std::array::from_fn(|k| {
        let bits = (L * ROW_LIMB_BITS).saturating_sub(k * WORD_BITS).min(WORD_BITS);
        [if bits == 0 { proof.number(0) } else { proof.given(0, (1 << bits) - 1) }]
    });
    let limbs = flat(&unpacked::<_, L>(proof.machine::<1>(), &words));
    check_carried(setting, &limbs)?;
    check_same(setting, &flat(&words), &limbs)
}

fn pack<const L: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let proof = setting.proof;
    let limbs: [_; L] = std::array::from_fn(|_| [proof.given(0, i128::from(LIMB_MASK))]);
    let words = packed(proof.machine::<1>(), &limbs);
    check_same(setting, &flat(&words), &flat(&limbs))
}

/// Is Σ wordₖ·2^(64k) = Σ limbᵢ·2^(52i)?
fn check_same(setting: &Setting<'_>, words: &[Symbol], limbs: &[Symbol]) -> Result<(), String> {
    let words: Vec<_> = words.iter().map(|word| setting.proof.value(*word).polynomial).collect();
    let mut rest = setting.sum(limbs);
    rest.add_wide(&Wide::of_digits(&words, WORD_BITS), &BigInt::from(-1));
    if rest.is_zero() { Ok(()) } else { Err("words and limbs are not the same number".into()) }
}

fn flat<const L: usize>(lanes: &[[Symbol; 1]; L]) -> [Symbol; L] {
    lanes.map(|[limb]| limb)
}
