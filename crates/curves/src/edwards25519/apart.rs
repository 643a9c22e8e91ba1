//! u·B + v·P along digits from −8 to 7 to the base 16 of one scalar and the other: code for 30 additions, and for four doublings once.

use super::{Addend, Extended, addend, base_multiples, double, extended, identity, twice_d};
use crate::group::{Affine, Projective};
use crate::windows::digits;
use residue_formula::Fe;
use residue_ir::{Machine, SequenceStep};

/// Places of digits.
pub(super) const PLACES: u32 = 64;
/// Digits, each with 8 added.
pub(super) const DIGITS: usize = 16;
pub(super) const ZERO_DIGIT: usize = 8;

/// (u, v, P) ↦ u·B + v·P for scalars below 2²⁵³ and a point of the curve.
pub(super) fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Projective<M::Fe> {
    let of_base = base_multiples(machine, DIGITS / 2);
    let (once, twice_d) = (addend(machine, point), twice_d(machine));
    let mut of_point = vec![once];
    let mut multiple = extended(machine, point);
    for _ in 1..DIGITS / 2 {
        multiple = multiple.add(once, false).extended();
        of_point.push(multiple.addend(twice_d));
    }
    let v_digits = digits(machine, v, 0);
    let u_digits = digits(machine, u, DIGITS);
    let plain = 2 * DIGITS;
    let mut order = Vec::new();
    for at in (0..PLACES).rev() {
        let step = |digits: &[M::Word; 4]| SequenceStep::chosen(digits[(at % 4) as usize], at / 4 * 16); // u32 to usize widens
        order.extend([step(&v_digits), step(&u_digits)]);
        if at > 0 {
            order.push(SequenceStep::Part(plain));
        }
    }
    let digit = |multiples: &[Addend<M::Fe>], sum: Extended<M::Fe>, number: usize| match number {
        ZERO_DIGIT => None,
        above if above > ZERO_DIGIT => Some(sum.add(multiples[above - ZERO_DIGIT - 1], false)),
        below => Some(sum.add(multiples[ZERO_DIGIT - below - 1], true)),
    };
    let sum = machine.sequence_of(&order, &[None; 2 * DIGITS + 1], identity(machine), |_, part, sum| match part {
        0..DIGITS => digit(&of_point, sum, part).map_or(sum, |factors| factors.extended()),
        // Doublings come next, which do not read T.
        part if part < plain => {
            digit(&of_base, sum, part - DIGITS).map_or(sum, |factors| without_t(factors.projective(), sum.t))
        }
        _ => (0..3).fold(double(sum.projective()), |sum, _| double(sum.projective())).extended(),
    });
    sum.projective()
}

/// A point whose T stays what it was.
fn without_t<F: Fe>(Projective { x, y, z }: Projective<F>, t: F) -> Extended<F> {
    Extended { x, y, z, t }
}
