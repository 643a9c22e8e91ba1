//! Theorems about products: for all rows within their bounds and all moduli of a shape no lane overflows, the outcome times R is A·B + U·M as
//! polynomials, with A and B the operands with the multiple of M added, and the limbs keep the bounds that the plan counts with.

use num_bigint::BigInt;

use super::facts::radix;
use super::mutants::Mutant;
use super::polynomial::Wide;
use super::setting::Setting;
use super::sums::check_limbs;
use super::symbols::{Proof, Symbol};
use crate::bounds::{Bounds, LIMB_MAX, UNIT};
use crate::kernel::steps::product::{begin, carried_product, lifted, next_window, product, products};
use crate::kernel::steps::{batch, quads, stream};
use crate::kernel::vectors::Lines;
use crate::shape::Shape;
use crate::tables::{BatchStep, LinearStep};

/// Ways to multiply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub enum Way {
    /// One lane, between turning in and turning back.
    Lane,
    /// As in a stream, for rows of eight limbs.
    Line,
    /// Two lanes side by side, likewise.
    Lanes,
    /// A batch of eight rows.
    Batch,
    /// Batches of four and of eight, in groups of four.
    Quads(u16),
    /// Batches in a stream, with companions, for rows of eight limbs.
    Stream,
}

/// The widest bounds that a product's operand may have.
pub fn widest_operand(shape: Shape) -> Bounds {
    let lift = shape.lift() * UNIT;
    Bounds { limb: LIMB_MAX, low: -lift, high: shape.operand_max() * UNIT - lift }
}

/// Is the outcome (A·B + U·M)/R with 0 ≤ U < R, of limbs within the plan's bounds?
pub fn check_product(setting: &Setting<'_>, a: &Wide, b: &Wide, out: &[Symbol], bounds: Bounds) -> Result<(), String> {
    setting.proof.failure().map_or(Ok(()), Err)?;
    check_limbs(setting, out, bounds)?;
    let facts = setting.proof.facts.borrow();
    let mut rest = Wide::default();
    rest.add_wide(&setting.sum(out), &radix(setting.shape.limbs()));
    rest.add_wide(&a.times(b).ok_or("operands are sums of limbs")?, &BigInt::from(-1));
    let u = facts.quotient_by(rest, &setting.modulus()).ok_or("the outcome times R is not A·B + U·M")?;
    let (low, high) = facts.wide_range(&u);
    if low < BigInt::ZERO || high >= radix(setting.shape.limbs()) {
        return Err(format!("the quotient lies between {low} and {high}"));
    }
    Ok(())
}

/// Multiplies operands of the widest bounds in one of the ways.
pub fn prove<const L: usize, const N: usize>(
    way: Way,
    shape: Shape,
    mutant: Option<Mutant>,
) -> (Proof, Result<(), String>) {
    let proof = Proof::new(mutant);
    let outcome = {
        let setting = Setting::new(&proof, shape);
        let outcome = multiply::<L, N>(way, &setting);
        proof.failure().map_or(outcome, Err)
    };
    (proof, outcome)
}

fn multiply<const L: usize, const N: usize>(way: Way, setting: &Setting<'_>) -> Result<(), String> {
    let (proof, shape) = (setting.proof, setting.shape);
    let bounds = widest_operand(shape);
    assert!(bounds.is_operand(shape), "the bounds of an operand");
    match way {
        Way::Lane => {
            let v = proof.machine::<1>();
            let [x, y] = [0, 1].map(|row| lane::<L>(setting, row, bounds));
            let [x, y] = [x, y].map(|operand| lifted(v, &operand, &setting.constants.product));
            let out = product(v, &x, &y, &setting.constants.product, &mut ());
            check_rows(setting, 0, 1, &out.map(|[limb]| limb), bounds)
        }
        Way::Line => {
            let v = proof.machine::<8>();
            let [x, y] = [0, 1].map(|row| lane::<8>(setting, row, bounds).map(|[limb]| [limb; 8]));
            let [x, y] = [x, y].map(|operand| lifted(v, &operand, &setting.constants.product));
            let mut t = begin(v, &x, y[0]);
            for i in 1..8 {
                t = v.window(&t, &x, y[i - 1], y[i], &setting.constants.product);
            }
            let out = carried_product(v, &next_window(v, &t, &x, y[7], None, &setting.constants.product));
            check_rows(setting, 0, 1, &out.map(|[limb, ..]| limb), bounds)
        }
        Way::Lanes => {
            let v = proof.machine::<1>();
            let operands = [0, 1, 2].map(|row| lane::<L>(setting, row, bounds));
            let [x, y, z] = operands.map(|operand| lifted(v, &operand, &setting.constants.product));
            // The second is a square.
            let [out, square] = products(v, &[x, z], &[y, z], &setting.constants.product, &mut ());
            check_rows(setting, 0, 1, &out.map(|[limb]| limb), bounds)?;
            check_rows(setting, 2, 2, &square.map(|[limb]| limb), bounds)
        }
        Way::Batch | Way::Quads(_) => {
            let lanes = if let Way::Quads(groups) = way { 4 * groups } else { 8 };
            (0..16).for_each(|row| setting.set_operand(row, bounds));
            let step = batch_step(16, |lane| lane, |lane| lane + 8, 0);
            let constants = &setting.constants.product;
            // SAFETY: symbolic rows are looked up, and no row but those that are set is named.
            unsafe {
                match way {
                    Way::Batch => batch::batch::<_, L, N>(proof.machine(), &step, constants, &setting.rows, &mut ()),
                    Way::Quads(1) => {
                        quads::batch::<_, L, N, 1>(proof.machine(), &step, constants, &setting.rows, &mut ());
                    }
                    _ => quads::batch::<_, L, N, 2>(proof.machine(), &step, constants, &setting.rows, &mut ()),
                }
            }
            (0..lanes).try_for_each(|lane| check_rows(setting, lane, lane + 8, &setting.row(16 + lane)?, bounds))
        }
        Way::Stream => stream_of_three(setting, bounds),
    }
}

/// Three batches in a stream. The second and the third write over operands of the first; companions read earlier
/// results when they run.
fn stream_of_three(setting: &Setting<'_>, bounds: Bounds) -> Result<(), String> {
    (0..48).for_each(|row| setting.set_operand(row, bounds));
    let addend = Bounds { limb: LIMB_MAX / 2, low: 0, high: UNIT };
    (90..94).for_each(|row| setting.set_row(row, addend));
    let table = [
        (100, 90, 91, 0),
        (101, 91, 92, -1),
        (102, 100, 93, 0),
        (103, 48, 92, -1),
        (104, 103, 90, 0),
        (105, 0, 90, -1),
    ];
    let table = table.map(|(out, x, y, sign)| LinearStep { out, x, y, sign });
    let mut batches = [
        batch_step(48, |lane| lane, |lane| lane + 8, 2),
        batch_step(8, |lane| lane + 16, |lane| lane + 24, 1),
        batch_step(0, |lane| lane + 32, |lane| lane + 40, 0),
    ];
    for (batch, (start, count)) in batches.iter_mut().zip([(0, 3), (3, 2), (5, 1)]) {
        (batch.companions_start, batch.companions) = (start, count);
    }
    let first_row = setting.row(0)?;
    // SAFETY: symbolic rows are looked up, and no row but those that are set is named.
    unsafe { stream::run(setting.proof.machine(), &batches, &table, &setting.constants.product, &setting.rows) };
    for (batch, (x, y)) in batches.iter().zip([(0, 8), (16, 24), (32, 40)]) {
        for lane in 0..8 {
            check_rows(setting, x + lane, y + lane, &setting.row(batch.out[usize::from(lane)])?, bounds)?;
        }
    }
    for step in &table {
        let [x, y] = [step.x, step.y].map(|row| if row == 0 { Ok(first_row.clone()) } else { setting.row(row) });
        check_sum(setting, &x?, &y?, step.sign, &setting.row(step.out)?)?;
    }
    Ok(())
}

/// Is it x ± y, limb by limb?
pub fn check_sum(setting: &Setting<'_>, x: &[Symbol], y: &[Symbol], sign: i16, out: &[Symbol]) -> Result<(), String> {
    let is_sum = x.iter().zip(y).zip(out).all(|((x, y), out)| {
        let [x, y, out] = [x, y, out].map(|limb| setting.proof.value(*limb).polynomial);
        x.plus(&y, if sign < 0 { -1 } else { 1 }) == out
    });
    if is_sum { Ok(()) } else { Err("the outcome is not the sum or difference".into()) }
}

/// The outcome of multiplying two rows.
fn check_rows(setting: &Setting<'_>, x: u16, y: u16, out: &[Symbol], bounds: Bounds) -> Result<(), String> {
    let [a, b] = [x, y].map(|row| {
        let mut sum = Wide::of_limbs(&setting.given(row));
        sum.add_wide(&setting.sum(&setting.constants.product.lift), &BigInt::from(1));
        sum
    });
    check_product(setting, &a, &b, out, bounds.product(bounds, setting.shape))
}

/// The limbs of an operand in one lane.
pub fn lane<const L: usize>(setting: &Setting<'_>, row: u16, bounds: Bounds) -> [[Symbol; 1]; L] {
    setting.set_operand(row, bounds);
    let limbs = setting.row(row).expect("a row that was set");
    std::array::from_fn(|i| [limbs[i]])
}

/// A batch of eight lanes whose outcomes go to eight rows in a row.
fn batch_step(out: u16, x: impl Fn(u16) -> u16, y: impl Fn(u16) -> u16, followers: u16) -> BatchStep {
    let of = |row: &dyn Fn(u16) -> u16| std::array::from_fn(|lane| row(lane as u16)); // Below eight.
    BatchStep {
        out: of(&|lane| out + lane),
        x: of(&x),
        y: of(&y),
        lanes: 8,
        followers,
        companions: 0,
        companions_start: 0,
    }
}
