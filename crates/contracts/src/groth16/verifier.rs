//! A verifier of one key, on either curve.

use super::curve::ProofCurve;
use super::json;
use super::key::{Key, Proof};
use super::loops::Loop;
use super::many::sum_of_many;
use crate::keyed::by_precompiles::{Scalar, Scratch, known};
use crate::keyed::{self, require_selector, selector};
use crate::verifier::CallError;
use crate::{Function, Source};
use num_bigint::BigUint;
use residue_curves::comb::{Comb, FixedSum};
use residue_curves::conditions::{Conditions, all_vanish};
use residue_curves::pairing::PairingCurve;
use residue_curves::pairing::fixed::{FixedPoint, Given, lines, miller_loop};
use residue_curves::pairing::is_final_exponentiation_one;
use residue_curves::pairing::miller::stand_in;
use residue_curves::pairing::residue::{self, Residue, Sign, residue_of};
use residue_curves::pairing::residue_witness::is_in_fp6;
use residue_curves::tower::{Fp2, Fp12};
use residue_curves::{Affine, Jacobian};
use residue_formula::Number;
use residue_ir::{Bundle, Feature, Form, Machine, Numbers, Program, WordOp, record_as};
use ruint::aliases::U256;
use std::cell::RefCell;
use std::ops::Range;

/// A verifier of one key.
#[derive(Debug)]
pub struct Verifier<C: ProofCurve> {
    key: Key<C::Number, C>,
    takes_witness: bool,
    interface: String,
    function: Function,
    selector: u32,
    sum: FixedSum<C::Number>,
    way: Way<C>,
}

/// The way to the product of the pairings.
#[derive(Debug)]
enum Way<C: ProofCurve> {
    /// With a witness, whose power the loop makes: e(α, −β) before the final exponentiation, modulo Fp6, `None` for one; and the lines of −γ and −δ.
    WithWitness(Option<Residue<C::Number, C>>, Vec<Vec<BigUint>>),
    /// A loop for −γ and −δ that contains e(α, −β).
    OfSum(Loop<C>),
    /// One for −δ that also contains e(IC₀, −γ) and the powers of all e(ICᵢ, −γ).
    OfPowers(Loop<C>),
}

/// Offsets of the parts of a call, in bytes: after the selector A, B, C and the inputs, then a witness.
struct Places {
    a: u32,
    b: u32,
    c: u32,
    inputs: u32,
    witness: u32,
}

impl Places {
    fn of<C: ProofCurve>(inputs: u32) -> Self {
        let element = C::ENCODING.element_bytes;
        let a = 4;
        let b = a + 2 * element;
        let c = b + 4 * element;
        let first = c + 2 * element;
        Self { a, b, c, inputs: first, witness: first + 32 * inputs }
    }
}

/// Elements of a witness.
const WITNESS_ELEMENTS: u32 = 6;

/// Inputs that one expression looks at: what it has found lies on the stack meanwhile.
const INPUTS_IN_AN_EXPRESSION: usize = 8;

/// Parsed call: A and B, then C and the sum, if there is one, as X·Z, Z³ and Y, for the Miller loop; A and C to be checked for membership
/// in G1, and an element that must vanish.
type Parsed<F, C, const SUMS: usize> = ((Affine<F>, Affine<Fp2<F, C>>), (Affine<F>, [[F; 3]; SUMS]), [Affine<F>; 2], F);

/// The product of a loop, of whose final exponentiation one is asked, and what has to hold beside that.
type Looped<F, C> = (Fp12<F, C>, Conditions<F>);

impl<C: ProofCurve> Verifier<C> {
    /// The verifier for this key; `takes_witness`: of a residue witness after the inputs too.
    pub fn new(key: Key<C::Number, C>, takes_witness: bool) -> Self {
        let inputs = u32::try_from(key.inputs()).expect("keys have fewer inputs: `json` checks it");
        let words = C::ENCODING.element_bytes / 32;
        let [one, two] = [2 * words, 4 * words];
        let b = if words == 1 { "uint256[2][2]".to_owned() } else { format!("uint256[{two}]") };
        let arguments = format!("uint256[{one}] a, {b} b, uint256[{one}] c, uint256[{inputs}] inputs");
        let function = Function::declared(&format!("verifyProof({arguments}) returns (bool)"), true);
        let signature = function.signature();
        let bytes = Places::of::<C>(inputs).witness;
        let witness = WITNESS_ELEMENTS * C::ENCODING.element_bytes;
        let witness = if takes_witness {
            format!(", then a residue witness of {witness} bytes or nothing")
        } else {
            String::new()
        };
        let interface = format!(
            "{bytes} bytes: a call of {signature}{witness}; returns 32 bytes, 1 or 0; fails on less calldata or another selector"
        );
        let b = C::Number::from_canonical(&C::CURVE.b()).expect("b is below p");
        let sum = FixedSum::new(comb::<C>(inputs), key.ic[0], &key.ic[1..], b, C::FAMILY.order());
        Self {
            takes_witness,
            interface,
            function,
            selector: selector(&signature),
            sum,
            way: Way::new(&key, takes_witness),
            key,
        }
    }

    /// The calldata of a proof with these inputs.
    pub fn calldata(&self, proof: &Proof<C::Number, C>, inputs: &[BigUint]) -> Vec<u8> {
        let Proof { a, b, c } = proof;
        let fp2 = |value: Fp2<C::Number, C>| {
            if C::ENCODING.u_first { [value.c1, value.c0] } else { [value.c0, value.c1] }
        };
        let elements = [[a.x, a.y], fp2(b.x), fp2(b.y), [c.x, c.y]].concat();
        let elements = elements.into_iter().flat_map(|value| C::ENCODING.encoded(&value.to_canonical()));
        let inputs = inputs.iter().flat_map(|input| U256::from_be_slice(&input.to_bytes_be()).to_be_bytes::<32>());
        self.selector.to_be_bytes().into_iter().chain(elements).chain(inputs).collect()
    }

    /// The witness for this calldata, encoded; `None` if the proof does not hold, or is refused.
    pub fn witness(&self, calldata: &[u8]) -> Option<Vec<u8>> {
        let machine = Numbers::<C::Number>::new(calldata.to_vec());
        let found = RefCell::new(None);
        self.check(&machine, [], |machine, f, conditions| {
            let is_right = conditions.hold(machine) == U256::ONE;
            *found.borrow_mut() = is_right.then(|| residue::witness(f)).flatten();
        });
        if machine.outcome() != residue_ir::Outcome::Ended {
            return None;
        }
        let Residue { a } = found.into_inner()?;
        let elements = a.to_list().into_iter();
        Some(elements.flat_map(|element: C::Number| C::ENCODING.encoded(&element.to_canonical())).collect())
    }

    /// The text.
    pub fn text<M: Machine>(&self, machine: &M) {
        let word = |value: u32| machine.small(value.into());
        require_selector(machine, self.selector);
        let bytes = word(self.places().witness);
        machine.require(machine.not(machine.word_op(WordOp::Lt, machine.calldata_size(), bytes)));
        machine.branch(
            Scratch::<M, C>::is_there(machine),
            |machine| self.by_precompiles(machine),
            |machine| self.by_formulas(machine),
        );
    }

    /// Four pairs and the sum of the inputs by precompiles. A witness is of no use to them.
    fn by_precompiles<M: Machine>(&self, machine: &M) {
        let Key { alpha, beta, gamma, delta, ic } = &self.key;
        let places = self.places();
        let terms_max = u32::try_from(ic.len()).expect("keys have fewer inputs: `json` checks it");
        let scratch = Scratch::<M, C>::new(machine, 4, terms_max);
        let first = ic[0].as_ref().map(known::<C>);
        // The points are those of a key that was checked, so only for want of gas is there no sum.
        let failed = |machine: &M| machine.require(machine.small(0));
        if ic.len() > C::PRECOMPILES.loop_from {
            let return_zero = |machine: &M| machine.return_word(machine.small(0));
            machine.branch(Self::are_below(machine, places.a..places.inputs), |_| (), return_zero);
            let check = |machine: &M, input| {
                let order = machine.word(U256::from_be_slice(&C::FAMILY.order().to_bytes_be()));
                machine.branch(machine.word_op(WordOp::Lt, input, order), |_| (), return_zero);
            };
            scratch.sum_of_key(2, first.as_ref(), &ic[1..], places.inputs, (check, failed));
        } else {
            let inputs = self.parse_inputs(machine);
            let points = ic[1..].iter().zip(inputs);
            let terms = points.filter_map(|(point, input)| Some((known::<C>(point.as_ref()?), Scalar::Word(input))));
            scratch.sum(2, first.as_ref(), &terms.collect::<Vec<_>>(), failed);
        }
        scratch.copy(places.a, (0, 0), 6); // A and B are neighbours
        for (pair, point) in [(1, beta), (2, gamma), (3, delta)] {
            scratch.g2(pair, &Affine::new(point.x, -point.y));
        }
        scratch.g1(1, alpha);
        scratch.copy(places.c, (3, 0), 2);
        scratch.return_check();
    }

    /// One pair of four and the sum of the inputs by formulas.
    fn by_formulas<M: Machine>(&self, machine: &M) {
        let if_they_hold = |machine: &M, conditions: Conditions<M::Fe>, decide: &dyn Fn(&M)| {
            machine.branch(conditions.hold(machine), decide, |machine| machine.return_word(machine.small(0)));
        };
        if self.takes_witness {
            let witness = self.parse_witness(machine);
            self.check(machine, [witness], |machine, f, conditions| {
                let f = witness.finish(machine, f);
                let is_one = |machine: &M| machine.return_word(machine.small(1));
                let undecided = |machine: &M| machine.return_word(is_final_exponentiation_one(machine, f));
                let decide = |machine: &M| machine.branch(is_in_fp6(machine, f), is_one, undecided);
                if_they_hold(machine, conditions, &decide);
            });
        } else {
            self.check(machine, [], |machine, f, conditions| {
                let decide = |machine: &M| machine.return_word(is_final_exponentiation_one(machine, f));
                if_they_hold(machine, conditions, &decide);
            });
        }
    }

    fn places(&self) -> Places {
        Places::of::<C>(u32::try_from(self.key.inputs()).expect("keys have fewer inputs: `json` checks it"))
    }

    /// Parses the call and makes the loop: `verdict` gets the product, of whose final exponentiation one is asked, and what has to hold
    /// beside that. Returns 0 for numbers that are too large.
    fn check<M: Machine, const WITNESSES: usize>(
        &self,
        machine: &M,
        witness: [Residue<M::Fe, C>; WITNESSES],
        verdict: impl FnOnce(&M, Fp12<M::Fe, C>, Conditions<M::Fe>),
    ) {
        let inputs = self.parse_inputs(machine);
        let (f, conditions) = match &self.way {
            Way::WithWitness(alpha_beta, lines) => {
                let of_both = |machine: &M, given, points| {
                    let table = machine.table("groth16_lines", lines);
                    let (f, [given]) = miller_loop(machine, [given], points, table, witness);
                    let Some(Residue { a }) = alpha_beta else { return (f, given) };
                    let constants =
                        a.to_list().into_iter().map(|value: C::Number| machine.constant(&value.to_canonical()));
                    let alpha_beta = Residue::<M::Fe, C>::from_list(constants.collect());
                    (alpha_beta.times(machine, f, Sign::Positive), given)
                };
                self.of_sum(machine, &inputs, of_both)
            }
            Way::OfSum(with_constants) => self.of_sum(machine, &inputs, |machine, given, points| {
                let (f, [given]) = with_constants.run(machine, self.places().inputs, given, points);
                (f, given)
            }),
            Way::OfPowers(with_powers) => self.of_powers(machine, with_powers),
        };
        verdict(machine, f, conditions);
    }

    /// `run` with the pair of A and B and the points of −γ and −δ.
    fn of_sum<M: Machine>(
        &self,
        machine: &M,
        inputs: &[M::Word],
        run: impl FnOnce(&M, Given<M::Fe, C>, [FixedPoint<M::Fe>; 2]) -> (Fp12<M::Fe, C>, Given<M::Fe, C>),
    ) -> Looped<M::Fe, C> {
        let sum = self.input_sum(machine, inputs);
        let ((a, b), (c, [[x, one, y]]), members, vanishing) = self.parse_points(machine, [sum]);
        let conditions = C::members(machine, members).and_vanishes(vanishing);
        let inverse = <C as PairingCurve>::invert(machine, y * c.y);
        let (of_sum, of_c) = (inverse * c.y, inverse * y);
        let points = [
            FixedPoint { x_over_y: x * of_sum, inverse_y: one * of_sum },
            FixedPoint { x_over_y: c.x * of_c, inverse_y: of_c },
        ];
        let (f, given) = run(machine, Given::new(machine, a, b), points);
        (f, conditions.and(given.membership(machine)))
    }

    /// The loop that makes powers, with the pair of A and B and the point of −δ.
    fn of_powers<M: Machine>(&self, machine: &M, with_powers: &Loop<C>) -> Looped<M::Fe, C> {
        let ((a, b), (c, []), members, vanishing) = self.parse_points(machine, []);
        let conditions = C::members(machine, members).and_vanishes(vanishing);
        let inverse_y = <C as PairingCurve>::invert(machine, c.y);
        let point = FixedPoint { x_over_y: c.x * inverse_y, inverse_y };
        let given = Given::new(machine, a, b);
        let (f, [given]) = with_powers.run(machine, self.places().inputs, given, [point]);
        (f, conditions.and(given.membership(machine)))
    }

    /// IC₀ + Σ sᵢ·ICᵢ: by combs, or if there are many inputs, and code for them is short, by tables that are made at run time.
    fn input_sum<M: Machine>(&self, machine: &M, inputs: &[M::Word]) -> Jacobian<M::Fe> {
        let by_combs = |machine: &M| self.sum.compute(machine, inputs, &C::constants().three_halves);
        let (constant, points) = (self.key.ic[0], &self.key.ic[1..]);
        let finite: Vec<_> = points.iter().flatten().copied().collect();
        let are_many = points.len() >= C::MANY && finite.len() == points.len();
        if !are_many {
            return by_combs(machine);
        }
        let of_many = |machine: &M| sum_of_many::<M, C>(machine, self.places().inputs, constant, &finite);
        machine.branch(machine.has(Feature::Given), of_many, by_combs)
    }

    /// 1 if the elements of Fp in these bytes of calldata are below p, else 0.
    fn are_below<M: Machine>(machine: &M, bytes: Range<u32>) -> M::Word {
        let low = machine.bind(machine.word(Self::limb_of_p(0)));
        let is_below = |at| Self::is_below(machine, at, || low, || machine.word(Self::limb_of_p(1)));
        let all = bytes.step_by(C::ENCODING.element_bytes as usize).map(is_below); // u32 to usize widens
        all.reduce(|all, one| machine.word_op(WordOp::And, all, one)).expect("there are elements")
    }

    /// The same where a constant of 33 bytes is there once, and read from a variable.
    fn are_below_in_short_code<M: Machine>(machine: &M, bytes: Range<u32>) -> M::Word {
        let limb = |number| machine.variable("p", machine.word(Self::limb_of_p(number)));
        let low = limb(0);
        let high = if C::ENCODING.element_bytes == 32 { low } else { limb(1) };
        let is_below = |at| machine.bind(Self::is_below(machine, at, || machine.get(low), || machine.get(high)));
        let all = bytes.step_by(C::ENCODING.element_bytes as usize).map(is_below); // u32 to usize widens
        all.reduce(|all, one| machine.bind(machine.word_op(WordOp::And, all, one))).expect("there are elements")
    }

    /// 256 bits of p, the least significant ones first.
    fn limb_of_p(number: usize) -> U256 {
        let p = C::Number::modulus();
        U256::from_limbs(std::array::from_fn(|i| p.iter_u64_digits().nth(4 * number + i).unwrap_or(0)))
    }

    /// 1 if the element of Fp at this byte of calldata is below p, given its limbs, else 0.
    fn is_below<M: Machine>(
        machine: &M,
        at_byte: u32,
        low: impl Fn() -> M::Word,
        high: impl Fn() -> M::Word,
    ) -> M::Word {
        let element = C::ENCODING.element_bytes;
        let op = |op, a, b| machine.word_op(op, a, b);
        let at = |at: u32| machine.calldata_word(machine.small(at.into()));
        let is_low_below = op(WordOp::Lt, at(at_byte + element - 32), low());
        if element == 32 {
            return is_low_below;
        }
        let (high, found) = (high(), at(at_byte));
        op(WordOp::Or, op(WordOp::Lt, found, high), op(WordOp::And, op(WordOp::Eq, found, high), is_low_below))
    }

    /// Returns 0 unless all coordinates are below p and all inputs below r; gives the inputs.
    fn parse_inputs<M: Machine>(&self, machine: &M) -> Vec<M::Word> {
        let places = self.places();
        let coordinates = || places.a..places.inputs;
        machine.branch(
            machine.has(Feature::ShortCode),
            |machine| self.require_inputs(machine, Self::are_below_in_short_code(machine, coordinates())),
            |machine| self.require_inputs(machine, Self::are_below(machine, coordinates())),
        );
        (places.inputs..places.witness).step_by(32).map(|at| machine.calldata_word(machine.small(at.into()))).collect()
    }

    /// Returns 0 unless that of coordinates holds and all inputs are below r.
    fn require_inputs<M: Machine>(&self, machine: &M, coordinates: M::Word) {
        let places = self.places();
        let inputs = (places.inputs..places.witness).step_by(32);
        let inputs: Vec<M::Word> = inputs.map(|at| machine.calldata_word(machine.small(at.into()))).collect();
        let order = machine.bind(machine.word(U256::from_be_slice(&C::FAMILY.order().to_bytes_be())));
        let are_below = inputs.chunks(INPUTS_IN_AN_EXPRESSION).enumerate().fold(coordinates, |all, (chunk, inputs)| {
            let all = if chunk == 0 { all } else { machine.bind(all) };
            inputs
                .iter()
                .fold(all, |all, &input| machine.word_op(WordOp::And, all, machine.word_op(WordOp::Lt, input, order)))
        });
        machine.branch(are_below, |_| (), |machine| machine.return_word(machine.small(0)));
    }

    /// The witness of the call: any numbers modulo p where elements are words, and zeros for others that are not below p.
    fn parse_witness<M: Machine>(&self, machine: &M) -> Residue<M::Fe, C> {
        let (start, element) = (self.places().witness, C::ENCODING.element_bytes);
        let at = |number| machine.small(u64::from(start + number * element));
        if element == 32 {
            let reduced = (0..WITNESS_ELEMENTS).map(|number| machine.reduce(machine.calldata_word(at(number))));
            return Residue::from_list(reduced.collect());
        }
        let zero = machine.zero();
        machine.branch(
            Self::are_below(machine, start..start + WITNESS_ELEMENTS * element),
            |machine| {
                Residue::from_list((0..WITNESS_ELEMENTS).map(|number| machine.parse(at(number), element)).collect())
            },
            |_| Residue::from_list(vec![zero; WITNESS_ELEMENTS as usize]), // u32 to usize widens
        )
    }

    /// The points of the call, and the sum, if there is one, with others in place of identities.
    fn parse_points<M: Machine, const SUMS: usize>(
        &self,
        machine: &M,
        sums: [Jacobian<M::Fe>; SUMS],
    ) -> Parsed<M::Fe, C, SUMS> {
        let places = self.places();
        let [a_at, b_at, c_at] = [places.a, places.b, places.c].map(|at| machine.small(at.into()));
        let [a, c] = [a_at, c_at].map(|at| C::ENCODING.point(machine, at));
        let b = C::ENCODING.twist_point::<M, C>(machine, b_at);
        // No point of either curve has y = 0: both have an odd number of points.
        let is_finite = |at: u32, elements: u32| {
            let at = machine.small((at + elements * C::ENCODING.element_bytes).into());
            machine.bind(machine.not(machine.not(C::ENCODING.any_nonzero(machine, at, 0..elements))))
        };
        let finite = [is_finite(places.a, 1), is_finite(places.b, 2), is_finite(places.c, 1)];
        let sums = sums.map(|sum| (sum, machine.bind(machine.not(machine.is_zero(sum.z)))));
        let each = sums.iter().map(|&(_, is_finite)| is_finite).chain(finite);
        let all = each.reduce(|all, one| machine.word_op(WordOp::And, all, one)).expect("three are points of the call");
        let of_sum = |sum: Jacobian<M::Fe>| [sum.x * sum.z, sum.z * sum.z * sum.z, sum.y];
        let ordinary =
            |machine: &M| ((a, b), (c, sums.map(|(sum, _)| of_sum(sum))), [a, c], C::twist_defect(machine, b));
        let with_identities = |machine: &M| {
            let [a_is_finite, b_is_finite, c_is_finite] = finite;
            let Affine { x, y } = C::CURVE.generator();
            let member = Affine::new(machine.constant(&x), machine.constant(&y));
            let point = |machine: &M, point: Affine<M::Fe>, is_finite| {
                let as_given = |machine: &M| (point, point, machine.zero());
                machine.branch(is_finite, as_given, |machine| (stand_in(machine), member, point.x))
            };
            let (a, a_member, a_defect) = point(machine, a, a_is_finite);
            let (c, c_member, c_defect) = point(machine, c, c_is_finite);
            let instead = |machine: &M| {
                let Affine { x, y } = C::g2_generator();
                let generator = Affine::new(x.lift(machine), y.lift(machine));
                ((stand_in(machine), generator), all_vanish(&[b.x.c0, b.x.c1]))
            };
            let with_b = |machine: &M| ((a, b), C::twist_defect(machine, b));
            let (given, b_defect) = machine.branch(b_is_finite, with_b, instead);
            let nothing = |machine: &M| [machine.zero(), machine.one(), machine.one()];
            let sums = sums.map(|(sum, is_finite)| machine.branch(is_finite, |_| of_sum(sum), nothing));
            (given, (c, sums), [a_member, c_member], all_vanish(&[a_defect, b_defect, c_defect]))
        };
        machine.branch(all, ordinary, with_identities)
    }
}

impl<C: ProofCurve> Way<C> {
    fn new(key: &Key<C::Number, C>, takes_witness: bool) -> Self {
        let negative = |point: Affine<Fp2<C::Number, C>>| Affine::new(point.x, -point.y);
        let [gamma, delta] = [key.gamma, key.delta].map(negative);
        let alpha_beta = product_of_one(key.alpha, negative(key.beta));
        if takes_witness {
            return Self::WithWitness(residue_of(alpha_beta), lines(&[gamma, delta]));
        }
        let of_sum = || {
            let constants = Loop::new(&[gamma, delta], alpha_beta, &[]);
            Self::OfSum(constants.expect("only powers may have no tables"))
        };
        let inputs: Option<Vec<_>> = key.ic[1..].iter().copied().collect();
        let Some(inputs) = inputs.filter(|inputs| (1..=C::IN_POWERS).contains(&inputs.len())) else { return of_sum() };
        let constant = key.ic[0].map_or(alpha_beta, |first| alpha_beta * product_of_one(first, gamma));
        let bases: Vec<_> = inputs.into_iter().map(|input| product_of_one(input, gamma)).collect();
        Loop::new(&[delta], constant, &bases).map_or_else(of_sum, Self::OfPowers)
    }
}

/// Combs of the inputs' points: seven teeth at most, and tables of 16 KiB of code at most, up to 64 inputs on BN254.
fn comb<C: ProofCurve>(inputs: u32) -> Comb {
    let element_bytes = C::Number::modulus().bits().div_ceil(64) * 8;
    let bytes = |teeth: &u32| (u64::from(inputs) << *teeth) * 2 * element_bytes;
    Comb::new((3..=7).rev().find(|teeth| bytes(teeth) <= 16_384).unwrap_or(2))
}

/// The product of the Miller functions of one pair.
fn product_of_one<C: ProofCurve>(p: Affine<C::Number>, q: Affine<Fp2<C::Number, C>>) -> Fp12<C::Number, C> {
    let machine = Numbers::<C::Number>::new(Vec::new());
    let inverse_y = p.y.inverse().expect("a point of odd order has y other than zero");
    let point = FixedPoint { x_over_y: p.x * inverse_y, inverse_y };
    let table = machine.table("lines", &lines(&[q]));
    miller_loop::<_, C, 0, 1, 0>(&machine, [], [point], table, []).0
}

impl<C: ProofCurve> crate::Verifier for Verifier<C> {
    fn call(&self, proof: &str, inputs: &str) -> Result<Vec<u8>, CallError> {
        let proof = json::proof::<C>(proof).map_err(CallError::Proof)?;
        let inputs = keyed::json::inputs(inputs, self.key.inputs()).map_err(CallError::Inputs)?;
        Ok(self.calldata(&proof, &inputs))
    }

    fn takes_witness(&self) -> bool {
        self.takes_witness
    }

    fn witness_for(&self, calldata: &[u8]) -> Option<Vec<u8>> {
        self.takes_witness.then(|| self.witness(calldata)).flatten()
    }
}

impl<C: ProofCurve> Source for Verifier<C> {
    fn name(&self) -> &str {
        "groth16"
    }

    fn summary(&self) -> &str {
        C::SUMMARY
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    /// Without inputs there is none: Solidity has no array of length 0.
    fn functions(&self) -> Vec<Function> {
        (self.key.inputs() > 0).then(|| self.function.clone()).into_iter().collect()
    }

    fn program_as(&self, form: Form) -> Program {
        record_as("groth16", &C::Number::modulus(), form, |machine| self.text(machine))
    }

    /// A proof that does not hold and takes all steps: with the key alone nobody can make one that holds.
    fn example(&self) -> Vec<u8> {
        let point = self.key.alpha;
        let proof = Proof { a: point, b: self.key.beta, c: point };
        self.calldata(&proof, &vec![BigUint::from(1u32); self.key.inputs()])
    }
}
