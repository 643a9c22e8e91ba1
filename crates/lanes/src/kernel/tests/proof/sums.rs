//! Theorems about steps on whole rows: sums and differences, carries, reductions.

use num_bigint::BigInt;

use super::facts::{Meaning, Value, radix};
use super::mutants::Mutant;
use super::polynomial::{Polynomial, Variable, Wide};
use super::products::check_sum;
use super::setting::Setting;
use super::symbols::{Proof, Symbol};
use crate::bounds::{Bias, Bounds, LIMB_MAX, UNIT};
use crate::kernel::steps;
use crate::line::ROW_LIMB_BITS;
use crate::shape::Shape;
use crate::tables::{CarryStep, LinearStep, ReduceStep};

/// Steps on rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowStep {
    /// x + y, or x − y if the sign is −1.
    Linear(i16),
    /// x, carried.
    Carry,
    /// x with a bias, reduced.
    Reduce,
}

/// Executes a step on operands of the widest bounds.
pub fn prove<const L: usize, const N: usize>(
    step: RowStep,
    shape: Shape,
    mutant: Option<Mutant>,
) -> (Proof, Result<(), String>) {
    let proof = Proof::new(mutant);
    let outcome = {
        let setting = Setting::new(&proof, shape);
        let outcome = match step {
            RowStep::Linear(sign) => linear::<N>(&setting, sign),
            RowStep::Carry => carry::<L, N>(&setting),
            RowStep::Reduce => reduce::<L, N>(&setting),
        };
        proof.failure().map_or(outcome, Err)
    };
    (proof, outcome)
}

fn linear<const N: usize>(setting: &Setting<'_>, sign: i16) -> Result<(), String> {
    // What a plan may add: the limbs' bounds add up to the greatest.
    let most = setting.shape.range_max() * UNIT;
    let x = Bounds { limb: LIMB_MAX / 4 * 3, low: 0, high: most };
    let y = Bounds { limb: LIMB_MAX / 4, low: 0, high: 0 };
    let sum = if sign < 0 { x - y } else { x + y };
    assert!(sum.is_sum(setting.shape) && sum.limb == LIMB_MAX);
    setting.set_row(0, x);
    setting.set_row(1, y);
    // SAFETY: symbolic rows are looked up, and no row but those that are set is named.
    unsafe { steps::linear::<_, N>(setting.proof.machine(), &LinearStep { out: 2, x: 0, y: 1, sign }, &setting.rows) };
    let out = setting.row(2)?;
    check_limbs(setting, &out, sum)?;
    check_sum(setting, &setting.row(0)?, &setting.row(1)?, sign, &out)
}

fn carry<const L: usize, const N: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let most = setting.shape.range_max() * UNIT;
    let bounds = Bounds { limb: LIMB_MAX, low: -most, high: most };
    setting.set_row(0, bounds);
    // SAFETY: symbolic rows are looked up, and no row but those that are set is named.
    unsafe { steps::carry::<_, L, N>(setting.proof.machine(), &CarryStep { out: 1, x: 0 }, &setting.rows) };
    let out = setting.row(1)?;
    check_limbs(setting, &out, bounds.carried())?;
    let mut rest = setting.sum(&out);
    rest.add_wide(&setting.sum(&setting.row(0)?), &BigInt::from(-1));
    if rest.is_zero() { Ok(()) } else { Err("carrying changes the value".into()) }
}

/// out = v − (q − 1)·M where v is x with the bias, within the bounds of [`Bounds::reduced`].
fn reduce<const L: usize, const N: usize>(setting: &Setting<'_>) -> Result<(), String> {
    let (proof, shape) = (setting.proof, setting.shape);
    let most = shape.range_max() * UNIT;
    setting.set_row(0, Bounds { limb: LIMB_MAX, low: -most, high: most });
    let v = Bounds { limb: LIMB_MAX, low: UNIT, high: shape.reducible_max() * UNIT };
    let bias = setting.bias();
    setting.state_sum(0, &bias, v);
    let step = ReduceStep { out: 1, x: 0, bias: Bias(0) };
    // SAFETY: symbolic rows are looked up, no row but those that are set is named, and the bias is the only multiple.
    unsafe { steps::reduce::<_, L, N>(proof.machine(), &step, &setting.constants, &setting.rows) };
    let out = setting.row(1)?;
    check_limbs(setting, &out, Bounds::reduced())?;

    // (1 − q)·M₀ is what there is with M₀.
    let mut rest = setting.sum(&out);
    rest.add_wide(&setting.sum(&setting.row(0)?), &BigInt::from(-1));
    rest.add_wide(&setting.sum(&bias), &BigInt::from(-1));
    let factor = rest.coefficient_of(setting.variable(setting.constants.product.m[0]));
    let q = factor.terms().find_map(|(monomial, _)| monomial.variables().next()).ok_or("there is no quotient")?;
    let one_less = Wide::of_limbs([&Polynomial::constant(1).plus(&Polynomial::of(q), -1)]);
    if factor != one_less {
        return Err("no multiple of M by 1 − q is added".into());
    }
    check_quotient(setting, v, q)?;
    rest.add_wide(&one_less.times(&setting.modulus()).expect("two variables"), &BigInt::from(-1));
    // Above the top limb there is nothing: q ≤ v/M < 2ʰ, so that its product with the top limb of M is below 2⁵².
    let m_top = proof.value(setting.constants.product.m[L - 1]);
    assert!(i128::from(v.high / UNIT) * m_top.high < 1 << ROW_LIMB_BITS);
    let top = Polynomial::of(q).times(&m_top.polynomial);
    let above = proof.facts.borrow().above(&top, ROW_LIMB_BITS as u32).ok_or("the top limb is not subtracted")?;
    rest.add(&above, &-radix(L));
    if rest.is_zero() { Ok(()) } else { Err("the outcome is not v − (q − 1)·M".into()) }
}

/// Is q ≤ v/M, and are v − (q − 1)·M the bounds of [`Bounds::reduced`]?
///
/// The quotient is ⌊t′·µ/2⁵²⌋ with t′ = ⌊t/2ˢ⌋, t the top limb of v, and µ = ⌊2⁵²·2ˢ·W/M⌋, for any limbs below. So with
/// ρ, σ and δ for the remainders of the three divisions, v − q·M = below + W·ρ + (t′·δ + σ·M)/2⁵², where all but
/// `below` is at least zero.
fn check_quotient(setting: &Setting<'_>, v: Bounds, q: Variable) -> Result<(), String> {
    let (proof, shape, limbs) = (setting.proof, setting.shape, setting.shape.limbs());
    let mut facts = proof.facts.borrow_mut();
    // v as it is carried: every limb's low bits with what the one below has above them.
    let bias = setting.bias();
    let limbs_of_v = setting.given(0).into_iter().zip(bias).map(|(x, bias)| {
        let polynomial = x.plus(&proof.value(bias).polynomial, 1);
        facts.value(polynomial, i128::MIN, i128::MAX)
    });
    let limbs_of_v: Vec<_> = limbs_of_v.collect();
    let (mut below, mut carry) = ([BigInt::ZERO, BigInt::ZERO], None::<Value>);
    for (i, limb) in limbs_of_v[..limbs - 1].iter().enumerate() {
        let (rest, above) = facts.split(limb, ROW_LIMB_BITS as u32);
        let carried = carry.map_or((0, 0), |carry| (carry.low, carry.high));
        below[0] += radix(i) * (rest.low + carried.0);
        below[1] += radix(i) * (rest.high + carried.1);
        carry = Some(above);
    }
    let top = limbs_of_v[limbs - 1].polynomial.plus(&carry.expect("rows have limbs").polynomial, 1);

    let shift = setting.constants.top_shift;
    let mu = proof.value(setting.constants.mu).polynomial;
    let of = |variable: Variable, bits: u32| match facts.meaning(variable) {
        Meaning::Quotient { of, bits: other, .. } if *other == bits => Some(of.clone()),
        Meaning::Name(same) if bits == 0 => Some(same.clone()),
        _ => None,
    };
    let product = of(q, ROW_LIMB_BITS as u32).ok_or("the quotient is no high half")?;
    let (monomial, _) = product.terms().next().ok_or("the quotient is zero")?;
    let shifted =
        monomial.divided_by(setting.variable(setting.constants.mu)).ok_or("µ is no factor of the quotient")?;
    let shifted = shifted.variables().next().ok_or("the top limb is no factor of the quotient")?;
    if product != Polynomial::of(shifted).times(&mu) || of(shifted, shift) != Some(top) {
        return Err("the quotient is not estimated from the top limb".into());
    }
    let shifted_max = facts.range(&Polynomial::of(shifted)).1;

    // In units of M ≥ 2ᵇ⁻²: 1 + below/M > 0, and 1 + (below + W·(2ˢ − 1))/M + t′/2⁵² + 1 at most.
    let least_m = BigInt::from(1) << (shape.modulus_bits() - 2);
    let word = BigInt::from(1) << ROW_LIMB_BITS;
    let most =
        &word * (&least_m * 2 + &below[1] + (radix(limbs - 1) << shift) - radix(limbs - 1)) + &least_m * shifted_max;
    let is_within = -&below[0] < least_m && most * UNIT <= &word * &least_m * Bounds::reduced().high;
    assert!(v.low >= UNIT && Bounds::reduced().low == 0);
    if is_within { Ok(()) } else { Err("the outcome is not within its bounds".into()) }
}

/// Are all limbs but the top one within the bounds?
pub fn check_limbs(setting: &Setting<'_>, limbs: &[Symbol], bounds: Bounds) -> Result<(), String> {
    let most = i128::from(bounds.limb);
    let (_, below) = limbs.split_last().expect("rows have limbs");
    let values = below.iter().map(|limb| setting.proof.value(*limb));
    match values.into_iter().find(|value| value.low < -most || value.high > most) {
        None => Ok(()),
        Some(value) => Err(format!("a limb from {} to {} is not within {bounds:?}", value.low, value.high)),
    }
}
