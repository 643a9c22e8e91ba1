//! The Miller loop of a verifier without a witness: A and B, pairs of which the key has one point, and all that it knows beside them.

use super::curve::ProofCurve;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::comb::Comb;
use residue_curves::pairing::fixed::powers::{ConstantPower, has_room, start_for};
use residue_curves::pairing::fixed::slopes::Slopes;
use residue_curves::pairing::fixed::{Factors, FixedLine, FixedPoint, Given, Looped, Rows, lines, miller_loop_with};
use residue_curves::tower::{Fp2, Fp12};
use residue_formula::Number;
use residue_ir::{Bundle, Feature, Machine};

/// The constants of a loop with pairs whose second points are the key's.
#[derive(Debug)]
pub(super) struct Loop<C: ProofCurve> {
    lines: Vec<Vec<BigUint>>,
    slopes: Slopes<C>,
    full: Beginning<C>,
    /// The same where tables are small.
    small: Beginning<C>,
}

/// The element that a loop begins with, and powers of constants that it makes: by scalars in words of calldata, one after the other.
#[derive(Debug)]
struct Beginning<C: ProofCurve> {
    start: Option<FixedLine<C::Number, C>>,
    comb: Comb,
    powers: Vec<ConstantPower>,
}

impl<C: ProofCurve> Loop<C> {
    /// With the pairs of these points, and `constant` times the powers of `bases` by scalars; `None` if they have no tables.
    pub(super) fn new(
        points: &[Affine<Fp2<C::Number, C>>],
        constant: Fp12<C::Number, C>,
        bases: &[Fp12<C::Number, C>],
    ) -> Option<Self> {
        let beginning = |comb| Beginning::new(constant, bases, comb);
        let [full, small] = combs::<C>(bases.len());
        Some(Self {
            lines: lines(points),
            slopes: Slopes::new(points),
            full: beginning(full)?,
            small: beginning(small)?,
        })
    }

    /// The loop, where scalars are in calldata from `scalars_at` on.
    pub(super) fn run<M: Machine, const FIXED: usize>(
        &self,
        machine: &M,
        scalars_at: u32,
        given: Given<M::Fe, C>,
        points: [FixedPoint<M::Fe>; FIXED],
    ) -> Looped<M::Fe, C, 1> {
        machine.branch(
            machine.has(Feature::SmallTables),
            |machine| {
                let rows = Rows::Slopes(machine.table("groth16_slopes", &self.slopes.rows), &self.slopes.origins);
                self.small.with_factors(machine, scalars_at, |factors| {
                    miller_loop_with::<M, C, 1, FIXED, FIXED>(machine, [given], points, rows, factors)
                })
            },
            |machine| {
                let rows = Rows::Lines(machine.table("groth16_lines", &self.lines));
                self.full.with_factors(machine, scalars_at, |factors| {
                    miller_loop_with::<M, C, 1, FIXED, 0>(machine, [given], points, rows, factors)
                })
            },
        )
    }
}

impl<C: ProofCurve> Beginning<C> {
    fn new(constant: Fp12<C::Number, C>, bases: &[Fp12<C::Number, C>], comb: Comb) -> Option<Self> {
        let (mut constant, mut powers) = (constant, Vec::new());
        for &base in bases {
            let (power, missing) = ConstantPower::new(base, comb)?;
            constant = constant * missing;
            powers.push(power);
        }
        Some(Self { start: start_for(constant), comb, powers })
    }

    /// `run` with the factors of the loop.
    fn with_factors<M: Machine, T>(
        &self,
        machine: &M,
        scalars_at: u32,
        run: impl FnOnce(&Factors<'_, M, C>) -> T,
    ) -> T {
        let start = self.start.map(|line| {
            let constants = line.to_list().into_iter().map(|value: C::Number| machine.constant(&value.to_canonical()));
            FixedLine::from_list(constants.collect())
        });
        let tables: Vec<_> = self.powers.iter().map(|power| machine.table("groth16_powers", &power.rows)).collect();
        let of_column = |machine: &M, column| {
            let factor = |(at, &table)| {
                let scalar = machine.calldata_word(machine.small(at));
                machine.lookup(table, self.comb.digit(machine, scalar, column))
            };
            (u64::from(scalars_at)..).step_by(32).zip(&tables).map(factor).collect()
        };
        let columns = if tables.is_empty() { 0 } else { self.comb.columns() };
        run(&Factors { start, columns, of_column: &of_column })
    }
}

/// The combs of so many powers: with tables of 16 KiB at most, seven teeth at most, and where tables are small of 4 KiB at most; but with four teeth, or more if the
/// loop has too few squarings for that.
fn combs<C: ProofCurve>(powers: usize) -> [Comb; 2] {
    let element_bytes = C::Number::modulus().bits().div_ceil(64) * 8;
    let bytes = |teeth: u32| ((powers as u64) << teeth) * 4 * element_bytes; // usize to u64 widens
    let least = (4..=7).find(|&teeth| has_room::<C>(Comb::new(teeth))).unwrap_or(7);
    let within = |most| (least..=7).rev().find(|&teeth| bytes(teeth) <= most).unwrap_or(least);
    [within(16_384), within(4_096)].map(Comb::new)
}
