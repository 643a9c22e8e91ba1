//! Meaning of the symbols: with the numbers of a modulus and of rows put in for them, every range holds, and the
//! results are those of the scalar twin. So the proof assumes only true facts, and its instructions do what a machine's
//! do.

use num_bigint::BigInt;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use residue_modular::Modulus;

use super::facts::{Meaning, radix};
use super::polynomial::{Polynomial, Variable};
use super::products::widest_operand;
use super::setting::{Input, Setting};
use super::symbols::{Proof, Symbol};
use crate::bounds::{Bias, UNIT};
use crate::kernel::tests::{moduli, random_operand};
use crate::kernel::{scalar, steps};
use crate::line::ROW_LIMBS;
use crate::line::{LIMB_MASK, ROW_LIMB_BITS};
use crate::modulus_rows::ModulusRows;
use crate::rows::Rows;
use crate::tables::{BatchStep, CarryStep, LinearStep, ReduceStep};

/// Numbers of all variables, after a check of the facts about them.
struct Numbers(Vec<i128>);

impl Numbers {
    fn of(setting: &Setting<'_>, modulus: &ModulusRows, bias: Bias, rows: &Rows) -> Self {
        let (constants, multiple) = (&modulus.constants, modulus.constants.multiple(bias));
        let facts = setting.proof.facts.borrow();
        let mut numbers = Self(Vec::new());
        for (variable, meaning, low, high) in facts.variables() {
            let number = match meaning {
                Meaning::Given => match setting.input(variable) {
                    Input::Modulus(i) => constants.product.m[i].into(),
                    Input::N0 => constants.product.n0.into(),
                    Input::Mu => constants.mu.into(),
                    Input::Lift(i) => constants.product.lift[i].into(),
                    Input::Bias(i) => multiple[i].into(),
                    Input::Row(row, i) => rows.row(row)[i].into(),
                },
                Meaning::Name(same) => numbers.of_polynomial(same),
                Meaning::Quotient { of, bits, rest } => {
                    let of = numbers.of_polynomial(of);
                    let rest = rest.as_ref().map(|rest| numbers.of_polynomial(rest));
                    assert!(
                        rest.is_none_or(|rest| of - rest == of >> bits << bits),
                        "{variable:?} leaves another rest"
                    );
                    of >> bits
                }
            };
            assert!((low..=high).contains(&number), "{variable:?} is {number}, not within {low} to {high}");
            numbers.0.push(number);
        }
        for number in facts.numbers() {
            let limbs = number.limbs.iter().enumerate();
            let sum = limbs.fold(BigInt::ZERO, |sum, (i, limb)| sum + radix(i) * numbers.of_polynomial(limb));
            assert!(number.low <= sum && sum <= number.high, "{sum} is not within {} to {}", number.low, number.high);
        }
        numbers
    }

    fn of_polynomial(&self, polynomial: &Polynomial) -> i128 {
        let number = |variable: Variable| self.0[usize::from(variable.0)];
        polynomial.terms().map(|(monomial, k)| monomial.variables().fold(k, |product, x| product * number(x))).sum()
    }

    fn of_row(&self, proof: &Proof, limbs: &[Symbol]) -> [i64; ROW_LIMBS] {
        let number = |limb: &Symbol| {
            let value = proof.value(*limb);
            let number = self.of_polynomial(&value.polynomial);
            assert!(
                (value.low..=value.high).contains(&number),
                "{number} is not within {} to {}",
                value.low,
                value.high
            );
            i64::try_from(number).unwrap()
        };
        std::array::from_fn(|i| limbs.get(i).map_or(0, number))
    }
}

#[test]
fn constants_are_what_the_proofs_assume() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let random = (0..400).map(|_| {
        let mut bytes: Vec<u8> = (0..rng.random_range(1..=97)).map(|_| rng.random()).collect();
        *bytes.last_mut().unwrap() |= 1;
        ModulusRows::new(&Modulus::from_be_bytes(&bytes).unwrap_or(Modulus::from_be_bytes(&[3]).unwrap())).unwrap()
    });
    for modulus in random.chain(moduli()) {
        let (shape, constants) = (modulus.shape(), &modulus.constants);
        let value = |limbs: [u64; ROW_LIMBS]| {
            assert!(
                limbs[shape.limbs()..].iter().all(|limb| *limb == 0) && limbs.iter().all(|limb| *limb <= LIMB_MASK)
            );
            limbs.iter().enumerate().fold(BigInt::ZERO, |sum, (i, limb)| sum + radix(i) * limb)
        };
        let m = value(constants.product.m);
        let bits = u64::try_from(shape.modulus_bits()).unwrap();
        assert!((bits - 1..=bits).contains(&m.bits()), "{shape:?}");
        assert_eq!(value(constants.product.lift), &m * shape.lift());
        for products in [&constants.product, &modulus.entry_constants, &modulus.exit_constants] {
            let inverse = products.n0.wrapping_mul(products.m[0]) & LIMB_MASK;
            assert!(inverse == LIMB_MASK && products.n0 <= LIMB_MASK);
        }
        assert_eq!(modulus.exit_constants.lift, constants.product.lift);
        assert_eq!(modulus.entry_constants.lift, [0; ROW_LIMBS]);
        let own = BigInt::from_bytes_be(num_bigint::Sign::Plus, &modulus.modulus().to_be_bytes());
        assert_eq!(value(modulus.exit_constants.m), own);
        assert!(&m % &own == BigInt::ZERO && own < radix(shape.limbs()) / 8);
        // µ = ⌊2⁵²·2ˢ·W/M⌋, and 2ˢ·W·2¹⁰ ≤ M.
        let whole = (radix(shape.limbs()) << constants.top_shift) - &m * constants.mu;
        assert!(BigInt::ZERO <= whole && whole < m && (1 << 40..=1 << 42).contains(&constants.mu));
        assert!(radix(shape.limbs() - 1) << (constants.top_shift + 10) <= m);
        for bias in (0..=36).map(Bias) {
            // Others are beyond every operand of this shape.
            if bias.multiple() < shape.operand_max() {
                assert_eq!(value(constants.multiple(bias).map(|limb| limb as u64)), &m * bias.multiple());
            }
        }
        if let Some(shift) = modulus.exit_shift {
            // x + u·m < 2·2ᵈ·m for every lifted value of a plan's end.
            let most = shape.lift() + shape.end_bounds().high / UNIT;
            assert!(&m * most <= &own << shift && own.bits() + u64::from(shift) <= (52 * shape.limbs()) as u64);
        }
    }
}

/// Rows of operands that a plan may hold: below half of R when lifted.
fn operand(rng: &mut ChaCha8Rng, modulus: &ModulusRows) -> [i64; ROW_LIMBS] {
    let mut row = random_operand(rng, modulus);
    let (top, lift) = (modulus.shape().limbs() - 1, &modulus.constants.product.lift);
    let half = radix(top + 1) >> 1;
    let lifted = (0..=top).fold(BigInt::ZERO, |sum, i| sum + radix(i) * (i128::from(row[i]) + i128::from(lift[i])));
    if lifted >= half {
        row[top] -= 1 << (ROW_LIMB_BITS - 1);
    }
    row
}

#[test]
fn symbols_mean_what_the_scalar_twin_computes() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    for modulus in moduli() {
        match modulus.shape().limbs() {
            6 => agree::<6, 1>(&modulus, &mut rng),
            8 => agree::<8, 1>(&modulus, &mut rng),
            10 => agree::<10, 2>(&modulus, &mut rng),
            _ => agree::<15, 2>(&modulus, &mut rng),
        }
    }
}

fn agree<const L: usize, const N: usize>(modulus: &ModulusRows, rng: &mut ChaCha8Rng) {
    let shape = modulus.shape();
    let proof = Proof::new(None);
    let setting = Setting::new(&proof, shape);
    (0..16).for_each(|row| setting.set_operand(row, widest_operand(shape)));
    let row = |first: u16| std::array::from_fn(|lane| first + lane as u16); // Below eight.
    let batch =
        BatchStep { out: row(16), x: row(0), y: row(8), lanes: 8, followers: 0, companions: 0, companions_start: 0 };
    // Sums of operands are beyond what a lane holds: those of products.
    let linear = [LinearStep::new(24, 16, 17, false), LinearStep::new(25, 18, 19, true)];
    let carry = CarryStep { out: 26, x: 0 };
    let reduction = ReduceStep { out: 27, x: 16, bias: Bias(0) };
    let v = proof.machine();
    // SAFETY: symbolic rows are looked up, and no row but those that are set is named.
    unsafe {
        steps::batch::batch::<_, L, N>(v, &batch, &setting.constants.product, &setting.rows, &mut ());
        linear.iter().for_each(|step| steps::linear::<_, N>(v, step, &setting.rows));
        steps::carry::<_, L, N>(v, &carry, &setting.rows);
        steps::reduce::<_, L, N>(v, &reduction, &setting.constants, &setting.rows);
    }
    // A bias that is at least M, as a product may be zero.
    let bias = Bias::at_least(rng.random_range(1..shape.range_max().min(1 << 16)));
    for _ in 0..12 {
        let mut rows = Rows::new(shape, 32);
        (0..16).for_each(|row| rows.set_row(row, &operand(rng, modulus)));
        let numbers = Numbers::of(&setting, modulus, bias, &rows);
        scalar::batch(&modulus.constants.product, shape, &mut rows, &batch, &[]);
        linear.iter().for_each(|step| scalar::linear(&mut rows, step));
        scalar::carry(shape, &mut rows, &carry);
        scalar::reduce(&modulus.constants, shape, &mut rows, &ReduceStep { bias, ..reduction });
        for row in 16..28 {
            assert_eq!(numbers.of_row(&proof, &setting.row(row).unwrap()), rows.row(row), "{shape:?}, row {row}");
        }
    }
    assert_eq!(proof.failure(), None);
}
