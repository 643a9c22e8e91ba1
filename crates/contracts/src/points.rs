//! Sums and multiples of points of any curve y² = x³ + b, as EIP-2537, EIP-2539 and EIP-3026 have them: one text for all groups.
//!
//! Points must lie on their curve, not in its subgroup, and may be of any order: formulas are right for all of them, or what they leave open is done again by
//! cases.

use crate::encoding::{Encoding, after};
use num_bigint::BigUint;
use residue_curves::conditions::all_vanish;
use residue_curves::group::{Addend, Affine, Coordinate, Jacobian};
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::{Array, Bundle, Capacity, Feature, Machine, SequenceStep, Variable, WordOp};

/// A curve's points with how they are encoded.
pub(crate) trait Points<M: Machine> {
    /// Fp or Fp2.
    type Coordinate: Coordinate<Base = M::Fe, Denominator = M::Fe> + Bundle<M::Fe>;

    /// Encoding of elements.
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

/// Those of a curve that has constant points, which sums of products begin with.
pub(crate) trait Generated<M: Machine>: Points<M> {
    /// r, the prime order of a generator.
    fn order() -> BigUint;

    /// k times the generator, as a constant, for 0 < k < r.
    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate>;
}

/// 1 if the encoded point at `offset` is not the identity, else 0.
fn is_finite<M: Machine, G: Points<M>>(machine: &M, offset: M::Word) -> M::Word {
    let is_identity =
        machine.not(G::ENCODING.any_nonzero(machine, offset, 0..G::POINT_BYTES / G::ENCODING.element_bytes));
    machine.bind(machine.not(is_identity))
}

fn return_point<M: Machine, G: Points<M>>(machine: &M, point: Affine<G::Coordinate>) {
    machine.return_elements(G::shown(machine, point), G::ENCODING.element_bytes);
}

/// Returns P + Q of the calldata P ‖ Q, which must have as many bytes: EIP-2537, “ABI for G1 addition”.
pub(crate) fn sum<M: Machine, G: Points<M>>(machine: &M) {
    let bytes = machine.small(2 * u64::from(G::POINT_BYTES));
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), bytes));
    return_sum::<M, G>(machine);
}

/// Returns P + Q of P ‖ Q, which calldata begins with. The points must lie on their curve, not in its subgroup.
///
/// On the curve (y₁ − y₂)·(y₁ + y₂) = x₁³ − x₂³. So (x₁² + x₁·x₂ + x₂²)/(y₁ + y₂) is the slope of the chord and, for P = Q, of the tangent,
/// unless y₁ + y₂ = 0: Brier and Joye 2002, “Weierstraß elliptic curves and side-channel attacks”. The identity is seen to be one only where
/// a point is not on the curve, as (0, 0) is not.
pub(crate) fn return_sum<M: Machine, G: Points<M>>(machine: &M) {
    let offsets = [0, G::POINT_BYTES].map(|at| machine.small(at.into()));
    let [p, q] = offsets.map(|offset| G::parse(machine, offset));
    let defect = all_vanish(&[p, q].map(|point| G::curve_defect(machine, point)));
    let slope = (p.x.squared() + p.x * q.x + q.x.squared()).ratio(p.y + q.y);
    let are_on_curve = machine.is_zero(defect);
    let is_undefined = machine.is_zero(slope.1);
    let (numerator, denominator) = machine.branch(
        machine.not(machine.word_op(WordOp::Lt, is_undefined, are_on_curve)),
        |machine| {
            machine.branch(
                machine.not(machine.is_zero(defect)),
                |machine| return_sum_with_identity::<M, G>(machine, offsets, [p, q]),
                |_| (),
            );
            // Q = −P, or one of both other points with the y of −P, so that there is no tangent.
            let dx = q.x - p.x;
            machine.branch(
                machine.is_zero(G::norm(dx)),
                |machine| machine.return_elements(Affine::new(dx, dx), G::ENCODING.element_bytes),
                |_| (),
            );
            (q.y - p.y).ratio(dx)
        },
        |_| slope,
    );
    let slope = numerator.scaled(G::invert(machine, denominator));
    let x = slope.squared() - p.x - q.x; //    x₃ = λ² − x₁ − x₂
    let y = slope * (p.x - x) - p.y; //        y₃ = λ·(x₁ − x₃) − y₁
    return_point::<M, G>(machine, Affine::new(x, y));
}

/// The same where one of both at least is not on the curve: it must be the identity.
fn return_sum_with_identity<M: Machine, G: Points<M>>(
    machine: &M,
    offsets: [M::Word; 2],
    [p, q]: [Affine<G::Coordinate>; 2],
) {
    let [p_is_finite, q_is_finite] = offsets.map(|offset| is_finite::<M, G>(machine, offset));
    machine.require(machine.not(machine.word_op(WordOp::And, p_is_finite, q_is_finite)));
    // (0, 0) stands for the identity, so that the sum is that of the coordinates.
    let sum = Affine::new(p.x + q.x, p.y + q.y);
    machine.branch(
        machine.word_op(WordOp::Or, p_is_finite, q_is_finite),
        |machine| machine.require(machine.is_zero(G::curve_defect(machine, sum))),
        |_| (),
    );
    return_point::<M, G>(machine, sum);
}

/// Returns k·P of the calldata P ‖ k: EIP-2539, “ABI for G1 multiplication”.
pub(crate) fn product<M: Machine, G: Generated<M>>(machine: &M) {
    let bytes = u64::from(G::POINT_BYTES + G::SCALAR_BYTES);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(bytes)));
    // In words an addition takes so much code that there is one, of points in memory, in place of one for each digit.
    let in_words = |machine: &M| {
        let next = machine.variable("next_product", machine.small(0));
        add_chunk::<M, G, 1>(machine, next, identity::<M, G>(machine))
    };
    let by_parts = |machine: &M| multiple_at::<M, G>(machine, machine.small(0));
    let multiple = machine.branch(machine.has(Feature::FieldSlots), by_parts, |machine| {
        machine.branch(machine.has(Feature::ShortParts), in_words, by_parts)
    });
    return_jacobian::<M, G>(machine, multiple);
}

/// Points that share doublings.
const SHARED: usize = 4;

/// Returns Σ kᵢ·Pᵢ of the calldata P₀ ‖ k₀ ‖ P₁ ‖ … : EIP-2539, “ABI for G1 multiexponentiation”. [`SHARED`] at a time share doublings, the rest has its own;
/// those among which an exceptional case was met are taken once more by cases.
pub(crate) fn sum_of_products<M: Machine, G: Generated<M>>(machine: &M) {
    let op = |op, a, b| machine.word_op(op, a, b);
    let bytes = u64::from(G::POINT_BYTES + G::SCALAR_BYTES);
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(op(WordOp::Mod, size, machine.small(bytes))));
    let next = machine.variable("next_product", machine.small(0));
    let chunk_bytes = bytes * SHARED as u64; // usize to u64 widens
    let chunks = machine.bind(op(WordOp::Div, size, machine.small(chunk_bytes)));
    let sum = machine
        .repeat(chunks, identity::<M, G>(machine), |machine, _, sum| add_chunk::<M, G, SHARED>(machine, next, sum));
    let rest = op(WordOp::Mod, machine.calldata_size(), machine.small(chunk_bytes));
    let rest = machine.bind(op(WordOp::Div, rest, machine.small(bytes)));
    let sum = machine.repeat(rest, sum, |machine, _, sum| add_chunk::<M, G, 1>(machine, next, sum));
    return_jacobian::<M, G>(machine, sum);
}

/// The sum with the products from the offset that a variable holds, and the offset after them.
fn add_chunk<M: Machine, G: Generated<M>, const COUNT: usize>(
    machine: &M,
    next: Variable,
    sum: Jacobian<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    let add = |machine: &M, sum, point| {
        machine
            .function("add_by_cases", (sum, point), |machine, (sum, point)| sum_by_cases::<M, G>(machine, sum, point))
    };
    let add_next = |machine: &M, sum: Jacobian<G::Coordinate>| {
        let multiple = machine.function("product_by_cases", sum, |machine, _: Jacobian<G::Coordinate>| {
            let offset = machine.bind(machine.get(next));
            machine.set(next, after(machine, machine.get(next), G::POINT_BYTES + G::SCALAR_BYTES));
            let (point, words) = product_at::<M, G>(machine, offset);
            by_cases::<M, G>(machine, &words, point)
        });
        add(machine, sum, multiple)
    };
    let multiple = with_shared_doublings::<M, G, COUNT>(machine, next);
    machine.branch(
        machine.is_zero(multiple.z),
        |machine| (0..COUNT).fold(sum, |sum, _| add_next(machine, sum)),
        |machine| {
            let bytes = COUNT as u32 * (G::POINT_BYTES + G::SCALAR_BYTES); // usize to u32: there are few
            machine.set(next, after(machine, machine.get(next), bytes));
            add(machine, sum, multiple)
        },
    )
}

/// The point at `offset`, which must lie on its curve, and its scalar: of the identity 0 and the generator.
fn product_at<M: Machine, G: Generated<M>>(machine: &M, offset: M::Word) -> (Affine<G::Coordinate>, Vec<Variable>) {
    let is_finite = is_finite::<M, G>(machine, offset);
    let point =
        machine.branch(is_finite, |machine| G::parse(machine, offset), |machine| G::constant(machine, &1u32.into()));
    machine.require(machine.is_zero(G::curve_defect(machine, point)));
    let word = |at| {
        let word = machine.calldata_word(after(machine, offset, G::POINT_BYTES + at));
        machine.variable("scalar", machine.word_op(WordOp::Mul, word, is_finite))
    };
    (point, (0..G::SCALAR_BYTES).step_by(32).map(word).collect())
}

/// As many products as share doublings: the point with large scalars.
pub(crate) fn example(point: &[u8], scalar_bytes: usize) -> Vec<u8> {
    (0..SHARED as u8).flat_map(|number| [point, &vec![0xff - number; scalar_bytes]].concat()).collect() // usize to u8: there are four
}

/// T = τ·G with τ = 3¹⁶⁰ modulo r, doubled so often: no multiple of a generator that anybody has for a point.
fn start<M: Machine, G: Generated<M>>(machine: &M, doublings: u32) -> Affine<G::Coordinate> {
    let order = G::order();
    let tau = BigUint::from(3u8).modpow(&160u32.into(), &order);
    G::constant(machine, &((tau << doublings) % order))
}

/// A denominator with points, and arrays of multiples of each.
type OneDenominator<M, G> =
    (<M as Machine>::Fe, Vec<Affine<<G as Points<M>>::Coordinate>>, Vec<Array<Affine<<G as Points<M>>::Coordinate>>>);

/// The sum of so many products from the offset that a variable holds, with common doublings (Straus 1964, “Addition chains of vectors”). Z = 0 says nothing.
///
/// The sum begins with T, so that points may repeat and cancel; an exceptional case, or a point of small order, makes Z = 0, which stays so. The digits are those of
/// [`by_digits`]. The multiples that they name are brought to one denominator, and so are affine points of an isomorphic curve y² = x³ + b·z⁶; memory has them, with
/// their opposites, as steps carry addresses.
fn with_shared_doublings<M: Machine, G: Generated<M>, const COUNT: usize>(
    machine: &M,
    next: Variable,
) -> Jacobian<G::Coordinate> {
    let _scope = enter("shared_doublings");
    let products: [_; COUNT] = std::array::from_fn(|number| {
        let bytes = number as u32 * (G::POINT_BYTES + G::SCALAR_BYTES); // usize to u32: there are few
        product_at::<M, G>(machine, machine.bind(after(machine, machine.get(next), bytes)))
    });
    let multiples = products.each_ref().map(|&(point, _)| {
        machine.function("odd_multiples", point, |machine, point: Affine<G::Coordinate>| {
            let mut all = [point.to_jacobian(machine.one()); DIGITS / 2];
            let twice = all[0].double(G::three_halves(machine)).addend();
            for at in 1..DIGITS / 2 {
                all[at] = all[at - 1] + twice;
            }
            all
        })
    });
    let (z, onto, arrays) = brought_to_one_denominator::<M, G>(machine, &multiples);
    let (zz, zzz) = (z.square(), z.square() * z);
    let isomorphic = |Affine { x, y }: Affine<G::Coordinate>| Affine::new(x.scaled(zz), y.scaled(zzz));
    let first = isomorphic(start::<M, G>(machine, 0)).to_jacobian(machine.one());
    let mut sum = onto.iter().fold(first, |sum, &point| sum.add_mixed(point));
    for index in 0..products[0].1.len() {
        let nibbles: Vec<_> = products.iter().map(|(_, words)| nibbles(machine, words, index)).collect();
        let mut order = Vec::new();
        for place in (0..NIBBLES).rev() {
            order.extend(nibbles.iter().map(|nibbles| SequenceStep::Carry {
                word: nibbles[(place % 4) as usize], // u32 to usize widens
                first_bit: place / 4 * 16,
            }));
            order.push(SequenceStep::Part(0));
        }
        sum = machine.sequence_of(&order, &[None], sum, |machine, _, sum| {
            let sum = (0..DOUBLINGS).fold(sum, |sum, _| sum.double(G::three_halves(machine)));
            arrays.iter().fold(sum, |sum, &array| sum.add_mixed(machine.take_element(array)))
        });
    }
    for ((_, words), &point) in products.iter().zip(&onto) {
        sum = machine.branch(is_odd(machine, words), |_| sum, |_| sum.subtract_mixed(point));
    }
    let sum = sum.subtract_mixed(isomorphic(start::<M, G>(machine, 8 * G::SCALAR_BYTES)));
    Jacobian { z: sum.z * z, ..sum }
}

/// z, the points themselves, and the arrays with ±1, ±3, ±5, … times each, all as affine points of the curve y² = x³ + b·z⁶.
fn brought_to_one_denominator<M: Machine, G: Points<M>>(
    machine: &M,
    multiples: &[[Jacobian<G::Coordinate>; DIGITS / 2]],
) -> OneDenominator<M, G> {
    // What all denominators but one have, from the products before and after it; that of a point itself is 1.
    let of_others = |number: usize, at: usize| (number * (DIGITS / 2 - 1) + at).checked_sub(1).filter(|_| at > 0);
    let all: Vec<_> = multiples.iter().flat_map(|multiples| &multiples[1..]).map(|multiple| multiple.z).collect();
    let mut later = vec![None; all.len()];
    for at in (1..all.len()).rev() {
        later[at - 1] = Some(later[at].map_or(all[at], |later: M::Fe| all[at] * later));
    }
    let z = later[0].map_or(all[0], |later| all[0] * later);
    let mut before: Option<M::Fe> = None;
    let mut onto = Vec::new();
    let mut arrays = Vec::new();
    for (number, multiples) in multiples.iter().enumerate() {
        // usize to u32: there are sixteen.
        let array: Array<Affine<G::Coordinate>> = machine.array("odd_multiples", Capacity::Fixed(DIGITS as u32));
        for (at, multiple) in multiples.iter().enumerate() {
            let by = match of_others(number, at) {
                None => z,
                Some(place) => {
                    let by = match (before, later[place]) {
                        (Some(before), Some(later)) => before * later,
                        (one, other) => one.or(other).expect("there are several denominators"),
                    };
                    before = Some(before.map_or(all[place], |before| before * all[place]));
                    by
                }
            };
            let square = by.square();
            let Affine { x, y } = Affine::new(multiple.x.scaled(square), multiple.y.scaled(square * by));
            if at == 0 {
                onto.push(Affine::new(x, y));
            }
            machine.store(array, machine.small((DIGITS / 2 + at) as u64), Affine::new(x, y)); // usize to u64 widens
            machine.store(array, machine.small((DIGITS / 2 - 1 - at) as u64), Affine::new(x, -y)); // the same
        }
        arrays.push(array);
    }
    (z, onto, arrays)
}

/// 1 if the number in `words`, the most significant first, is odd, else 0.
fn is_odd<M: Machine>(machine: &M, words: &[Variable]) -> M::Word {
    machine.word_op(WordOp::And, machine.get(words[words.len() - 1]), machine.small(1))
}

/// Nibbles of a word.
const NIBBLES: u32 = 64;

/// Of ⌊k/2⌋ the nibbles in word number `index` that stand four bits, eight and so on above multiples of 16 bits. `words` are k, the most significant first.
fn nibbles<M: Machine>(machine: &M, words: &[Variable], index: usize) -> [M::Word; 4] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each(0xf));
    let half = op(WordOp::Shr, machine.get(words[index]), machine.small(1));
    let half = match index.checked_sub(1) {
        None => half,
        Some(before) => op(WordOp::Or, half, op(WordOp::Shl, machine.get(words[before]), machine.small(255))),
    };
    let half = machine.variable("half", half);
    [0, 4, 8, 12].map(|bits| {
        let shifted = op(WordOp::Shr, machine.get(half), machine.small(bits));
        machine.get(machine.variable("digits", op(WordOp::And, shifted, mask)))
    })
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
        machine.not(machine.is_zero(G::curve_defect(machine, point))),
        |machine| {
            // (0, 0), which stands for the identity, is not on the curve.
            machine.require(machine.not(is_finite::<M, G>(machine, offset)));
            identity::<M, G>(machine)
        },
        |machine| {
            let words: Vec<_> = (0..G::SCALAR_BYTES)
                .step_by(32)
                .map(|at| {
                    let word = machine.calldata_word(after(machine, offset, G::POINT_BYTES + at));
                    machine.variable("scalar", word)
                })
                .collect();
            let multiple = by_digits::<M, G>(machine, &words, point);
            machine.branch(
                machine.is_zero(multiple.z),
                |machine| by_cases::<M, G>(machine, &words, point),
                |_| multiple,
            )
        },
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
    words: &[Variable],
    point: Affine<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
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
    let mut order = Vec::new();
    for index in 0..words.len() {
        let digits = nibbles(machine, words, index);
        for place in (0..NIBBLES).rev() {
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
    machine.branch(is_odd(machine, words), |_| sum, |_| sum.subtract_mixed(point))
}

/// The same by double and add, with all cases told apart.
fn by_cases<M: Machine, G: Points<M>>(
    machine: &M,
    words: &[Variable],
    point: Affine<G::Coordinate>,
) -> Jacobian<G::Coordinate> {
    words.iter().fold(identity::<M, G>(machine), |sum, &word| {
        machine.repeat(machine.small(256), sum, |machine, turn, sum| {
            let double = sum.double(G::three_halves(machine));
            let bit = machine.bit(machine.get(word), machine.word_op(WordOp::Sub, machine.small(255), turn));
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

/// Makes a contract of each operation on the points of a curve over a field: name, summary, interface, precompile, text, example.
macro_rules! operations {
    ($field:path; $(
        $(#[$doc:meta])*
        $constant:ident = $name:literal, $summary:literal, $interface:literal, $precompile:expr, $text:expr, $example:expr;
    )*) => {$(
        $(#[$doc])*
        pub const $constant: $crate::Contract = $crate::Contract {
            name: $name,
            summary: $summary,
            interface: $interface,
            field: $field,
            text: $text,
            precompile: $precompile,
            example: $example,
        };
    )*};
}
pub(crate) use operations;
