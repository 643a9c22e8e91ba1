//! The pairing check of EIP-2537 and EIP-2539, one text for curves of the family BLS12.
//!
//! First every pair is parsed and checked, and those whose Q is not the identity are gathered: the others contribute a factor
//! one. The subgroup check of each Q waits for the Miller loop, which computes [x]Q anyway; where P is the identity, another
//! point takes its place in the loop.

use crate::encoding::{Encoding, at_most};
use residue_curves::bls12::{Bls12, membership_of_all};
use residue_curves::pairing::miller::{positive_miller_loop, stand_in};
use residue_curves::pairing::powers::multiply;
use residue_curves::pairing::{Pairs, Witness, is_final_exponentiation_one};
use residue_curves::tower::{Fp2, Fp12};
use residue_curves::{Affine, Conditions};
use residue_formula::Fe;
use residue_ir::{Array, Capacity, Machine, Variable, WordOp};

/// Encoding of elements and points; EIP-2539 has the same encoding.
const ENCODING: Encoding = Encoding::EIP_2537;
const FP_BYTES: u32 = ENCODING.element_bytes;

/// Properties of a curve that the check uses.
pub(crate) trait PairingCheck: Bls12 {
    /// The element of Fp2 that calldata has as `given`.
    fn element<M: Machine>(_: &M, given: Fp2<M::Fe, Self>) -> Fp2<M::Fe, Self> {
        given
    }

    /// Zero exactly if Q lies on the twist.
    fn g2_curve_defect<M: Machine>(machine: &M, q: Affine<Fp2<M::Fe, Self>>) -> M::Fe;
}

/// Encoded elements of Fp in a point of G1, and in a pair.
const G1_ELEMENTS: u32 = 2;
const G2_ELEMENTS: u32 = 4;
pub(crate) const PAIR_BYTES: u32 = (G1_ELEMENTS + G2_ELEMENTS) * FP_BYTES;

/// The text.
pub(crate) fn text<M: Machine, C: PairingCheck>(machine: &M) {
    let pair_bytes = machine.small(u64::from(PAIR_BYTES));
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, pair_bytes)));
    answer::<M, C>(machine, machine.word_op(WordOp::Div, size, pair_bytes), None, |machine, f| {
        machine.return_word(is_final_exponentiation_one(machine, f));
    });
}

/// Parses and checks `pairs_given` pairs from the start of calldata on and returns 1 if the Q of each is the identity; else makes
/// Miller loops over the others, [`residue_curves::pairing::PairingCurve::PAIRS`] given pairs at a time, and has `verdict` return what the product of
/// [`positive_miller_loop`] means. The first of them has the witness, if there is one.
pub(crate) fn answer<M: Machine, C: PairingCheck>(
    machine: &M,
    pairs_given: M::Word,
    witness: Option<&Witness<M, C>>,
    verdict: impl FnOnce(&M, Fp12<M::Fe, C>),
) {
    let pair_bytes = machine.small(u64::from(PAIR_BYTES));
    let room = machine.small(C::PAIRS as u64); // usize to u64 widens
    let pairs_given = machine.bind(pairs_given);
    let has_product = machine.variable("has_product", machine.small(0));
    let loops = machine.word_op(WordOp::Add, pairs_given, machine.small(C::PAIRS as u64 - 1)); // widens too
    let loops = machine.word_op(WordOp::Div, loops, room);
    let product = machine.array("pairing_product", Capacity::Fixed(1));
    let here = machine.small(0);
    let conditions = machine.repeat(loops, Conditions::none(machine), |machine, number, conditions| {
        let first = machine.bind(machine.word_op(WordOp::Mul, number, room));
        let given = machine.bind(at_most(machine, machine.word_op(WordOp::Sub, pairs_given, first), room));
        let pairs = Pairs::new(machine, given);
        let members = Members::new(machine, given);
        let gathered = machine.variable("gathered", machine.small(0));
        let conditions = machine.repeat(given, conditions, |machine, pair, conditions| {
            let pair = machine.word_op(WordOp::Add, pair, first);
            let offset = machine.bind(machine.word_op(WordOp::Mul, pair, pair_bytes));
            gather(machine, &pairs, gathered, &members, offset, conditions)
        });
        let conditions = members.membership::<M, C>(machine, conditions);

        let count = machine.bind(machine.get(gathered));
        let with_those = |machine: &M| {
            let is_further = machine.bind(machine.get(has_product));
            let witness = witness
                .map(|witness| (witness, machine.word_op(WordOp::And, witness.is_given, machine.not(is_further))));
            let keep = |machine: &M, f| {
                let f = machine.branch(is_further, |machine| multiply(machine, machine.load(product, here), f), |_| f);
                machine.store(product, here, f);
                machine.set(has_product, machine.small(1));
            };
            positive_miller_loop(machine, &pairs, count, conditions, witness, keep)
        };
        machine.branch(count, with_those, |_| conditions)
    });
    machine.require(conditions.hold(machine));
    let nothing_is_one = |machine: &M| machine.return_word(machine.small(1));
    machine.branch(machine.get(has_product), |machine| verdict(machine, machine.load(product, here)), nothing_is_one);
}

/// Parses the pair at `offset`, adds it to `pairs` if Q is not the identity, and adds what has to hold of it to `conditions`, but
/// that Q is in G2.
fn gather<M: Machine, C: PairingCheck>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    gathered: Variable,
    members: &Members<M::Fe>,
    offset: M::Word,
    conditions: Conditions<M::Fe>,
) -> Conditions<M::Fe> {
    let q_offset = machine.word_op(WordOp::Add, offset, machine.small(u64::from(G1_ELEMENTS * FP_BYTES)));
    let p = ENCODING.point(machine, offset);
    let Affine { x, y } = ENCODING.twist_point(machine, q_offset);
    let q = Affine::new(C::element(machine, x), C::element(machine, y));
    let p_is_finite = is_finite(machine, offset, G1_ELEMENTS);
    let p = machine.branch(
        p_is_finite,
        |machine| {
            members.push(machine, p);
            p
        },
        |machine| {
            require_identity(machine, offset, G1_ELEMENTS);
            stand_in(machine)
        },
    );
    let with_q = |machine: &M| {
        let index = machine.bind(machine.get(gathered));
        pairs.store(machine, index, p, q);
        machine.set(gathered, machine.word_op(WordOp::Add, index, machine.small(1)));
        conditions.and_vanishes(C::g2_curve_defect(machine, q))
    };
    machine.branch(is_finite(machine, q_offset, G2_ELEMENTS), with_q, |machine| {
        require_identity(machine, q_offset, G2_ELEMENTS);
        conditions
    })
}

/// Points that have to be in G1. They are checked four at a time: what doubles one point has three products at most that do not
/// wait for each other.
struct Members<F> {
    points: Array<Affine<F>>,
    count: Variable,
}

impl<F: Fe> Members<F> {
    /// None yet, and room for `room` of them.
    fn new<M: Machine<Fe = F>>(machine: &M, room: M::Word) -> Self {
        let points = machine.array("pairing_members", Capacity::Unbounded);
        machine.reserve(points, room);
        Self { points, count: machine.variable("members", machine.small(0)) }
    }

    fn push<M: Machine<Fe = F>>(&self, machine: &M, point: Affine<F>) {
        let index = machine.bind(machine.get(self.count));
        machine.store(self.points, index, point);
        machine.set(self.count, machine.word_op(WordOp::Add, index, machine.small(1)));
    }

    /// `conditions` with what has to hold for all of them to be in G1.
    fn membership<M: Machine<Fe = F>, C: Bls12>(&self, machine: &M, conditions: Conditions<F>) -> Conditions<F> {
        let count = machine.bind(machine.get(self.count));
        let among = |mask| machine.word_op(WordOp::And, count, machine.small(mask));
        let fours = machine.word_op(WordOp::Shr, count, machine.small(2));
        let conditions = machine.repeat(fours, conditions, |machine, number, conditions| {
            let first = machine.bind(machine.word_op(WordOp::Shl, number, machine.small(2)));
            conditions.and(self.membership_from::<M, C, 4>(machine, first))
        });
        let after = machine.word_op(WordOp::Xor, count, among(3));
        let with_two = |machine: &M| conditions.and(self.membership_from::<M, C, 2>(machine, machine.bind(after)));
        let conditions = machine.branch(among(2), with_two, |_| conditions);
        let with_last = |machine: &M| {
            let last = machine.word_op(WordOp::Sub, count, machine.small(1));
            conditions.and(self.membership_from::<M, C, 1>(machine, last))
        };
        machine.branch(among(1), with_last, |_| conditions)
    }

    /// Conditions for the N points from number `first` on, a multiple of N, to be in G1.
    fn membership_from<M: Machine<Fe = F>, C: Bls12, const N: usize>(
        &self,
        machine: &M,
        first: M::Word,
    ) -> Conditions<F> {
        let index = |number: usize| match number {
            0 => first,
            _ => machine.word_op(WordOp::Or, first, machine.small(number as u64)), // usize to u64 widens
        };
        membership_of_all::<M, C, N>(machine, std::array::from_fn::<_, N, _>(|i| machine.load(self.points, index(i))))
    }
}

/// Not 0 if y of the point at `offset` is not 0. A point with y = 0 is of order two, and in no group of the odd order r: so this is what sets
/// those that may be given apart from the identity.
fn is_finite<M: Machine>(machine: &M, offset: M::Word, elements: u32) -> M::Word {
    let y = machine.word_op(WordOp::Add, offset, machine.small(u64::from(elements / 2 * FP_BYTES)));
    ENCODING.any_nonzero(machine, y, 0..elements / 2)
}

/// Requires that x of the point at `offset`, whose y is 0, is 0 too.
fn require_identity<M: Machine>(machine: &M, offset: M::Word, elements: u32) {
    machine.require(machine.not(ENCODING.any_nonzero(machine, offset, 0..elements / 2)));
}
