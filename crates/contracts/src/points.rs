//! Sums and multiples of points of any curve y² = x³ + b, as EIP-2537, EIP-2539 and EIP-3026 have them: one text for all groups.
//!
//! Points must lie on their curve, not in its subgroup, and may be of any order: formulas are right for all of them, or what they leave open is done again by
//! cases.

use crate::encoding::{Encoding, after};
use residue_curves::conditions::all_vanish;
use residue_curves::group::{Addend, Affine, Coordinate, Jacobian};
use residue_ir::{Bundle, Feature, Machine, SequenceStep, WordOp};

/// A curve's points with how they are encoded.
pub(crate) trait Points<M: Machine> {
    /// Fp or Fp2.
    type Coordinate: Coordinate<Base = M::Fe, Denominator = M::Fe> + Bundle<M::Fe>;

    /// How elements are encoded.
    const ENCODING: Encoding;

    /// Bytes of a point.
    const POINT_BYTES: u32;

    /// Bytes of a scalar, whole words.
    const SCALAR_BYTES: u32 = 32;

    /// Parses the coordinates of a point; those of the identity are zero.
    fn parse(machine: &M, offset: M::Word) -> Affine<Self::Coordinate>;

    /// The coordinates as they are written.
    fn shown(_: &M, point: Affine<Self::Coordinate>) -> Affine<Self::Coordinate> {
        point
    }

    /// Zero exactly if the point lies on the curve.
    fn curve_defect(machine: &M, point: Affine<Self::Coordinate>) -> M::Fe;

    /// A value of Fp that is zero exactly if `value` is.
    fn norm(value: Self::Coordinate) -> M::Fe;

    /// a ↦ a⁻¹ in Fp, as a function; 0 ↦ 0.
    fn invert(machine: &M, a: M::Fe) -> M::Fe;

    /// 3/2.
    fn three_halves(machine: &M) -> M::Fe;
}

/// 1 if the encoded point at `offset` is not the identity, else 0.
fn is_finite<M: Machine, G: Points<M>>(machine: &M, offset: M::Word) -> M::Word {
    let is_identity =
        machine.not(G::ENCODING.any_nonzero(machine, offset, 0..G::POINT_BYTES / G::ENCODING.element_bytes));
    machine.bind(machine.not(is_identity))
}

/// The same of coordinates: 1 unless all are zero.
pub(crate) fn is_any_nonzero<M: Machine, B: Bundle<M::Fe>>(machine: &M, coordinates: B) -> M::Word {
    let are_zero = coordinates.to_list().into_iter().map(|coordinate| machine.is_zero(coordinate));
    let all = are_zero.reduce(|all, is_zero| machine.word_op(WordOp::And, all, is_zero));
    machine.bind(machine.not(all.expect("a point has coordinates")))
}

fn return_point<M: Machine, G: Points<M>>(machine: &M, point: Affine<G::Coordinate>) {
    machine.return_elements(G::shown(machine, point), G::ENCODING.element_bytes);
}

/// Returns P + Q of the calldata P ‖ Q. The points must lie on their curve, not in its subgroup: EIP-2537, “ABI for G1
/// addition”. By the chord or the tangent, Silverman, The Arithmetic of Elliptic Curves, III.2.3.
pub(crate) fn sum<M: Machine, G: Points<M>>(machine: &M) {
    let point_bytes = u64::from(G::POINT_BYTES);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(2 * point_bytes)));
    let [p_offset, q_offset] = [machine.small(0), machine.small(point_bytes)];
    let [p, q] = [p_offset, q_offset].map(|offset| G::parse(machine, offset));
    machine.branch(
        machine.has(Feature::ZeroTest),
        |machine| {
            let are_finite = [p, q].map(|point| is_any_nonzero(machine, point));
            return_sum_of_any::<M, G>(machine, [p, q], are_finite);
        },
        |machine| {
            let are_finite = [p_offset, q_offset].map(|offset| is_finite::<M, G>(machine, offset));
            return_sum_of_any::<M, G>(machine, [p, q], are_finite);
        },
    );
}

/// Returns P + Q for two points, each with whether it is other than the identity, and checks that they are on the curve.
fn return_sum_of_any<M: Machine, G: Points<M>>(
    machine: &M,
    [p, q]: [Affine<G::Coordinate>; 2],
    [p_is_finite, q_is_finite]: [M::Word; 2],
) {
    machine.branch(
        machine.word_op(WordOp::And, p_is_finite, q_is_finite),
        |machine| {
            let defects = [G::curve_defect(machine, p), G::curve_defect(machine, q)];
            machine.require(machine.is_zero(all_vanish(&defects)));
            return_sum::<M, G>(machine, p, q);
        },
        |machine| {
            // (0, 0) stands for the identity, so that the sum is that of the coordinates.
            let sum = Affine::new(p.x + q.x, p.y + q.y);
            machine.branch(
                machine.word_op(WordOp::Or, p_is_finite, q_is_finite),
                |machine| machine.require(machine.is_zero(G::curve_defect(machine, sum))),
                |_| (),
            );
            return_point::<M, G>(machine, sum);
        },
    );
}

/// Returns P + Q for two points of the curve, neither of them the identity.
fn return_sum<M: Machine, G: Points<M>>(machine: &M, p: Affine<G::Coordinate>, q: Affine<G::Coordinate>) {
    let dx = q.x - p.x;
    let (numerator, denominator) = machine.branch(
        machine.is_zero(G::norm(dx)),
        |machine| {
            // Q = ±P, and twice a point of order two, with y = 0, is the identity too.
            let two_y = p.y + q.y;
            let square = p.x.squared();
            machine.branch(
                machine.is_zero(G::norm(two_y)),
                |machine| machine.return_elements(Affine::new(dx, dx), G::ENCODING.element_bytes),
                |_| (),
            );
            (square + square + square, two_y)
        },
        |_| (q.y - p.y, dx),
    );
    let (numerator, denominator) = numerator.ratio(denominator);
    let slope = numerator.scaled(G::invert(machine, denominator)); // λ = 3x₁²/(2y₁) or (y₂ − y₁)/(x₂ − x₁)
    let x = slope.squared() - p.x - q.x; //                           x₃ = λ² − x₁ − x₂
    let y = slope * (p.x - x) - p.y; //                               y₃ = λ·(x₁ − x₃) − y₁
    return_point::<M, G>(machine, Affine::new(x, y));
}

/// Returns k·P of the calldata P ‖ k: EIP-2539, “ABI for G1 multiplication”.
pub(crate) fn product<M: Machine, G: Points<M>>(machine: &M) {
    let bytes = u64::from(G::POINT_BYTES + G::SCALAR_BYTES);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(bytes)));
    let multiple = multiple_at::<M, G>(machine, machine.small(0));
    return_jacobian::<M, G>(machine, multiple);
}

/// Returns Σ kᵢ·Pᵢ of the calldata P₀ ‖ k₀ ‖ P₁ ‖ … : EIP-2539, “ABI for G1 multiexponentiation”.
pub(crate) fn sum_of_products<M: Machine, G: Points<M>>(machine: &M) {
    let bytes = machine.small(u64::from(G::POINT_BYTES + G::SCALAR_BYTES));
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, bytes)));
    let count = machine.bind(machine.word_op(WordOp::Div, size, bytes));
    let sum = machine.repeat(count, identity::<M, G>(machine), |machine, index, sum| {
        let bytes = machine.small(u64::from(G::POINT_BYTES + G::SCALAR_BYTES));
        let offset = machine.bind(machine.word_op(WordOp::Mul, index, bytes));
        let multiple = multiple_at::<M, G>(machine, offset);
        sum_by_cases::<M, G>(machine, sum, multiple)
    });
    return_jacobian::<M, G>(machine, sum);
}

/// With Z = 0.
fn identity<M: Machine, G: Points<M>>(machine: &M) -> Jacobian<G::Coordinate> {
    let length = <Jacobian<G::Coordinate> as Bundle<M::Fe>>::LEN;
    Jacobian::from_list(vec![machine.zero(); length])
}

fn return_jacobian<M: Machine, G: Points<M>>(machine: &M, point: Jacobian<G::Coordinate>) {
    let inverse = G::invert(machine, point.z); // 0 for the identity, which so becomes zeros
    let square = inverse.squared();
    return_point::<M, G>(machine, Affine::new(point.x.scaled(square), point.y.scaled(square.scaled(inverse))));
}

/// k·P for the point and the scalar at `offset`; Z = 0 for the identity.
fn multiple_at<M: Machine, G: Points<M>>(machine: &M, offset: M::Word) -> Jacobian<G::Coordinate> {
    let point = G::parse(machine, offset);
    machine.branch(
        is_finite::<M, G>(machine, offset),
        |machine| {
            machine.require(machine.is_zero(G::curve_defect(machine, point)));
            let words: Vec<_> = (0..G::SCALAR_BYTES)
                .step_by(32)
                .map(|at| {
                    let word = machine.calldata_word(after(machine, offset, G::POINT_BYTES + at));
                    machine.variable("scalar", word)
                })
                .map(|variable| machine.get(variable))
                .collect();
            let multiple = by_digits::<M, G>(machine, &words, point);
            machine.branch(
                machine.is_zero(multiple.z),
                |machine| by_cases::<M, G>(machine, &words, point),
                |_| multiple,
            )
        },
        |machine| identity::<M, G>(machine),
    )
}

/// Digits of a place, and the doublings between places.
const DIGITS: usize = 16;
const DOUBLINGS: usize = 4;

/// k·P, by digits ±1, ±3, … ±15 to the base 16, where `words` are k, the most significant first. Z = 0 says nothing: if Z ≠ 0, no exceptional
/// case was met, see [`residue_curves::group`].
///
/// Of an odd k below 2ⁿ the digits of k − 2ⁿ are 2·nᵢ − 15 for the nibbles nᵢ of (k − 1)/2, and the sum begins with P, which stands for 2ⁿ. An even
/// k has those of k + 1.
fn by_digits<M: Machine, G: Points<M>>(
    machine: &M,
    words: &[M::Word],
    point: Affine<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let one = machine.one();
    let start = point.to_jacobian(one);
    let twice = start.double(G::three_halves(machine)).addend();
    let mut odd: Vec<Addend<G::Coordinate>> = Vec::new();
    let mut multiple = start;
    for at in 0..DIGITS / 2 {
        if at > 0 {
            multiple = multiple + twice;
        }
        odd.push(multiple.addend());
    }
    // Of each word of ⌊k/2⌋ the nibbles that stand four bits, eight and so on above multiples of 16 bits.
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each(0xf));
    let mut order = Vec::new();
    for (index, &word) in words.iter().enumerate() {
        let half = op(WordOp::Shr, word, machine.small(1));
        let half = match index.checked_sub(1) {
            None => half,
            Some(before) => op(WordOp::Or, half, op(WordOp::Shl, words[before], machine.small(255))),
        };
        let half = machine.variable("half", half);
        let digits: [M::Word; 4] = [0, 4, 8, 12].map(|bits| {
            let shifted = op(WordOp::Shr, machine.get(half), machine.small(bits));
            machine.get(machine.variable("digits", op(WordOp::And, shifted, mask)))
        });
        for place in (0..64u32).rev() {
            order.push(SequenceStep::Part(DIGITS));
            order.push(SequenceStep::chosen(digits[(place % 4) as usize], place / 4 * 16)); // u32 to usize widens
        }
    }
    let sum = machine.sequence_of(&order, &[None; DIGITS + 1], start, |machine, part, sum| {
        if part == DIGITS {
            return (0..DOUBLINGS).fold(sum, |sum, _| sum.double(G::three_halves(machine)));
        }
        match part.checked_sub(DIGITS / 2) {
            Some(half) => sum + odd[half], //                                   2·n − 15 = 2·half + 1
            None => sum + odd[DIGITS / 2 - 1 - part].negated(), //              15 − 2·n = 2·(7 − n) + 1
        }
    });
    let last = words[words.len() - 1];
    let is_odd = op(WordOp::And, last, machine.small(1));
    machine.branch(is_odd, |_| sum, |_| sum.subtract_mixed(point))
}

/// The same by double and add, with all cases told apart.
fn by_cases<M: Machine, G: Points<M>>(
    machine: &M,
    words: &[M::Word],
    point: Affine<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    words.iter().fold(identity::<M, G>(machine), |sum, &word| {
        machine.repeat(machine.small(256), sum, |machine, turn, sum| {
            let double = sum.double(G::three_halves(machine));
            let bit = machine.bit(word, machine.word_op(WordOp::Sub, machine.small(255), turn));
            machine.branch(
                bit,
                |machine| sum_by_cases::<M, G>(machine, double, point.to_jacobian(machine.one())),
                |_| double,
            )
        })
    })
}

/// (P, Q) ↦ P + Q for any two points; Z = 0 for the identity.
fn sum_by_cases<M: Machine, G: Points<M>>(
    machine: &M,
    p: Jacobian<G::Coordinate>,
    q: Jacobian<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    let of_two = |machine: &M| {
        let sum = p + q.addend();
        let if_zero = |machine: &M| {
            // Q = ±P: y₁/z₁³ and y₂/z₂³ are the same or opposite.
            let (pz, qz) = (p.z.squared().scaled(p.z), q.z.squared().scaled(q.z));
            let total = p.y.scaled(qz) + q.y.scaled(pz);
            machine.branch(
                machine.is_zero(G::norm(total)),
                |machine| identity::<M, G>(machine),
                |machine| p.double(G::three_halves(machine)),
            )
        };
        machine.branch(machine.is_zero(sum.z), if_zero, |_| sum)
    };
    machine.branch(machine.is_zero(p.z), |_| q, |machine| machine.branch(machine.is_zero(q.z), |_| p, of_two))
}
