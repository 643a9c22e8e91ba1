//! Verifiers on BN254, which take what those that snarkjs writes in Solidity take, and answer alike.

use super::json;
use super::key::{Key, KeyError, Proof};
use crate::Source;
use crate::bn254::{ENCODING, FP_BYTES};
use num_bigint::BigUint;
use residue_curves::bn254::{Bn254, Fp12, constants, g1_curve_defect, g2_curve_defect, g2_generator, invert, modulus};
use residue_curves::comb::{Comb, FixedSum};
use residue_curves::conditions::{Conditions, all_vanish};
use residue_curves::pairing::fixed::{FixedPoint, Given, lines, miller_loop};
use residue_curves::pairing::miller::stand_in;
use residue_curves::pairing::residue::{self, Residue, Sign, residue_of};
use residue_curves::pairing::residue_witness::is_in_fp6;
use residue_curves::pairing::{PairingCurve, is_final_exponentiation_one};
use residue_curves::tower::Fp2;
use residue_curves::{Affine, Jacobian};
use residue_formula::Number;
use residue_ir::{Bundle, Fp2Product, Machine, Numbers, Piece, Program, WordOp, record_with};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;
use std::cell::RefCell;

/// A key on this curve.
pub type Bn254Key = Key<Bn254Fp, Bn254>;

/// A verifier of one key.
#[derive(Debug)]
pub struct Verifier {
    key: Bn254Key,
    takes_witness: bool,
    interface: String,
    selector: u32,
    sum: FixedSum<Bn254Fp>,
    /// e(α, −β) before the final exponentiation, modulo Fp6; `None` for one.
    alpha_beta: Option<Residue<Bn254Fp, Bn254>>,
    /// Of −γ and −δ.
    lines: Vec<Vec<BigUint>>,
}

/// Where the parts of calldata are, after the selector: A, B, C and the inputs, in words.
const A_AT: u32 = 4;
const B_AT: u32 = A_AT + 2 * FP_BYTES;
const C_AT: u32 = B_AT + 4 * FP_BYTES;
const INPUTS_AT: u32 = C_AT + 2 * FP_BYTES;
const WITNESS_ELEMENTS: u32 = 6;

/// A point of G1 and its parts.
type Point<F> = Affine<F>;
type TwistPoint<F> = Affine<Fp2<F, Bn254>>;

/// What the loop takes: A, B, C, and the sum of the inputs as X·Z, Z³ and Y; with what vanishes if all is right but that B is in G2.
type Parsed<F> = ((Point<F>, TwistPoint<F>), Point<F>, [F; 3], F);

impl Verifier {
    /// The verifier for this key; `takes_witness`: of a residue witness after the inputs too.
    pub fn new(key: Bn254Key, takes_witness: bool) -> Self {
        let inputs = key.inputs();
        let signature = format!("verifyProof(uint256[2],uint256[2][2],uint256[2],uint256[{inputs}])");
        let bytes = INPUTS_AT as usize + 32 * inputs; // u32 to usize widens
        let witness = if takes_witness { ", then a residue witness of 192 bytes or nothing" } else { "" };
        let interface = format!(
            "{bytes} bytes: a call of {signature} as snarkjs encodes it{witness}; returns 32 bytes, 1 or 0; fails on less calldata or another selector"
        );
        let negative = |point: Affine<Fp2<Bn254Fp, Bn254>>| Affine::new(point.x, -point.y);
        let sum = FixedSum::new(comb(inputs), key.ic[0], &key.ic[1..], Bn254Fp::from_u64(3), Bn254::FAMILY.order());
        Self {
            takes_witness,
            interface,
            selector: selector(&signature),
            sum,
            alpha_beta: residue_of(product_of_one(key.alpha, negative(key.beta))),
            lines: lines(&[negative(key.gamma), negative(key.delta)]),
            key,
        }
    }

    /// The calldata of a proof with these inputs.
    pub fn calldata(&self, proof: &Proof<Bn254Fp, Bn254>, inputs: &[BigUint]) -> Vec<u8> {
        let Proof { a, b, c } = proof;
        let elements = [a.x, a.y, b.x.c1, b.x.c0, b.y.c1, b.y.c0, c.x, c.y].map(Number::to_canonical);
        let words = elements.iter().chain(inputs).flat_map(|value| ENCODING.encoded(value));
        self.selector.to_be_bytes().into_iter().chain(words).collect()
    }

    /// The witness for this calldata, encoded; `None` if the proof does not hold, or is refused.
    pub fn witness(&self, calldata: &[u8]) -> Option<Vec<u8>> {
        let machine = Numbers::<Bn254Fp>::new(calldata.to_vec());
        let found = RefCell::new(None);
        self.check(&machine, [], |machine, f, conditions| {
            let is_right = conditions.hold(machine) == U256::ONE;
            *found.borrow_mut() = is_right.then(|| residue::witness(f)).flatten();
        });
        if machine.outcome() != residue_ir::Outcome::Ended {
            return None;
        }
        let Residue { a } = found.into_inner()?;
        Some(a.to_list().into_iter().flat_map(|element: Bn254Fp| ENCODING.encoded(&element.to_canonical())).collect())
    }

    /// The text.
    pub fn text<M: Machine>(&self, machine: &M) {
        let word = |value: u32| machine.small(value.into());
        let found = machine.word_op(WordOp::Shr, machine.calldata_word(word(0)), word(224));
        machine.require(machine.word_op(WordOp::Eq, found, word(self.selector)));
        let bytes = word(INPUTS_AT + 32 * self.inputs());
        machine.require(machine.not(machine.word_op(WordOp::Lt, machine.calldata_size(), bytes)));
        if self.takes_witness {
            let element = |number| {
                let at = word(INPUTS_AT + 32 * (self.inputs() + number));
                machine.reduce(machine.calldata_word(at))
            };
            let witness = Residue::<M::Fe, Bn254>::from_list((0..WITNESS_ELEMENTS).map(element).collect());
            self.check(machine, [witness], |machine, f, conditions| {
                let f = witness.finish(machine, f);
                let is_one = |machine: &M| machine.return_word(machine.small(1));
                let undecided = |machine: &M| machine.return_word(is_final_exponentiation_one(machine, f));
                let decide = |machine: &M| machine.branch(is_in_fp6(machine, f), is_one, undecided);
                machine.branch(conditions.hold(machine), decide, |machine| machine.return_word(machine.small(0)));
            });
        } else {
            self.check(machine, [], |machine, f, conditions| {
                let decide = |machine: &M| machine.return_word(is_final_exponentiation_one(machine, f));
                machine.branch(conditions.hold(machine), decide, |machine| machine.return_word(machine.small(0)));
            });
        }
    }

    fn inputs(&self) -> u32 {
        u32::try_from(self.key.inputs()).expect("keys have fewer inputs, `Key` checks it")
    }

    /// Parses the call and makes the loop: `verdict` gets the product, of whose final exponentiation one is asked, and what has to hold
    /// beside that. Returns 0 for numbers that are too large.
    fn check<M: Machine, const WITNESSES: usize>(
        &self,
        machine: &M,
        witness: [Residue<M::Fe, Bn254>; WITNESSES],
        verdict: impl FnOnce(&M, Fp12<M::Fe>, Conditions<M::Fe>),
    ) {
        let inputs = self.parse(machine);
        let sum = self.sum.compute(machine, &inputs, &constants().pairing.three_halves);
        let ((a, b), c, [x, one, y], vanishing) = parsed(machine, sum);
        let inverse = invert(machine, y * c.y);
        let (of_sum, of_c) = (inverse * c.y, inverse * y);
        let points = [
            FixedPoint { x_over_y: x * of_sum, inverse_y: one * of_sum },
            FixedPoint { x_over_y: c.x * of_c, inverse_y: of_c },
        ];
        let table = machine.table("groth16_lines", &self.lines);
        let (f, [given]) = miller_loop(machine, [Given::new(machine, a, b)], points, table, witness);
        let f = match self.alpha_beta {
            None => f,
            Some(Residue { a }) => {
                let constants = a.to_list().into_iter().map(|value: Bn254Fp| machine.constant(&value.to_canonical()));
                let alpha_beta = Residue::<M::Fe, Bn254>::from_list(constants.collect());
                alpha_beta.times(machine, f, Sign::Positive)
            }
        };
        verdict(machine, f, given.membership(machine).and_vanishes(vanishing));
    }

    /// Returns 0 unless all coordinates are below p and all inputs below r; gives the inputs.
    fn parse<M: Machine>(&self, machine: &M) -> Vec<M::Word> {
        let word_at = |at: u32| machine.calldata_word(machine.small(at.into()));
        let below = |limit: &BigUint| {
            let limit = machine.bind(machine.word(U256::from_be_slice(&limit.to_bytes_be())));
            move |word| machine.word_op(WordOp::Lt, word, limit)
        };
        let coordinates = (A_AT..INPUTS_AT).step_by(32).map(word_at).map(below(&modulus()));
        let inputs: Vec<M::Word> = (0..self.inputs()).map(|number| word_at(INPUTS_AT + 32 * number)).collect();
        let in_order = below(&Bn254::FAMILY.order());
        let all = coordinates.chain(inputs.iter().map(|&input| in_order(input)));
        let are_below = all.reduce(|all, one| machine.word_op(WordOp::And, all, one)).expect("there are coordinates");
        machine.branch(are_below, |_| (), |machine| machine.return_word(machine.small(0)));
        inputs
    }
}

/// The points of the call, and the sum, with others in place of identities.
fn parsed<M: Machine>(machine: &M, sum: Jacobian<M::Fe>) -> Parsed<M::Fe> {
    let [a_at, b_at, c_at] = [A_AT, B_AT, C_AT].map(|at| machine.small(at.into()));
    let [a, c] = [a_at, c_at].map(|at| ENCODING.point(machine, at));
    let b = ENCODING.twist_point::<M, Bn254>(machine, b_at);
    // No point of either curve has y = 0, see `bn254/pairing`.
    let is_finite = |at: u32, elements: u32| {
        let at = machine.small((at + elements * FP_BYTES).into());
        machine.not(machine.not(ENCODING.any_nonzero(machine, at, 0..elements)))
    };
    let [a_is_finite, b_is_finite, c_is_finite] =
        [is_finite(A_AT, 1), is_finite(B_AT, 2), is_finite(C_AT, 1)].map(|word| machine.bind(word));
    let sum_is_finite = machine.bind(machine.not(machine.is_zero(sum.z)));
    let all = [b_is_finite, c_is_finite, sum_is_finite]
        .into_iter()
        .fold(a_is_finite, |all, one| machine.word_op(WordOp::And, all, one));
    let of_sum = |sum: Jacobian<M::Fe>| {
        let zz = sum.z * sum.z;
        [sum.x * sum.z, zz * sum.z, sum.y]
    };
    machine.branch(
        all,
        |machine| {
            let b_defect = g2_curve_defect(machine, b);
            let defects = [g1_curve_defect(machine, a), b_defect, g1_curve_defect(machine, c)];
            ((a, b), c, of_sum(sum), all_vanish(&defects))
        },
        |machine| {
            let point = |machine: &M, point: Affine<M::Fe>, is_finite| {
                let as_given = |machine: &M| (point, g1_curve_defect(machine, point));
                machine.branch(is_finite, as_given, |machine| (stand_in(machine), point.x))
            };
            let (a, a_defect) = point(machine, a, a_is_finite);
            let (c, c_defect) = point(machine, c, c_is_finite);
            let ((a, b), b_defect) = machine.branch(
                b_is_finite,
                |machine| ((a, b), g2_curve_defect(machine, b)),
                |machine| {
                    let Affine { x, y } = g2_generator();
                    ((stand_in(machine), Affine::new(x.lift(machine), y.lift(machine))), all_vanish(&[b.x.c0, b.x.c1]))
                },
            );
            let sum = machine.branch(
                sum_is_finite,
                |_| of_sum(sum),
                |machine| [machine.zero(), machine.one(), machine.one()],
            );
            ((a, b), c, sum, all_vanish(&[a_defect, b_defect, c_defect]))
        },
    )
}

/// Combs of the inputs' points: tables take 16 KiB of code at most, up to 64 inputs, so that all of it stays below the 64 KiB of EIP-7954.
fn comb(inputs: usize) -> Comb {
    Comb::new(match inputs {
        0..=2 => 7,
        3..=4 => 6,
        5..=8 => 5,
        9..=16 => 4,
        17..=32 => 3,
        _ => 2,
    })
}

/// The product of the Miller functions of one pair.
fn product_of_one(p: Affine<Bn254Fp>, q: Affine<Fp2<Bn254Fp, Bn254>>) -> Fp12<Bn254Fp> {
    let machine = Numbers::<Bn254Fp>::new(Vec::new());
    let inverse_y = p.y.inverse().expect("a point of odd order has y other than zero");
    let point = FixedPoint { x_over_y: p.x * inverse_y, inverse_y };
    let table = machine.table("lines", &lines(&[q]));
    miller_loop::<_, Bn254, 0, 1, 0>(&machine, [], [point], table, []).0
}

/// The first four bytes of the Keccak-256 hash of a signature.
fn selector(signature: &str) -> u32 {
    let machine = Numbers::<Bn254Fp>::new(signature.as_bytes().to_vec());
    let hash = machine.keccak256(&[Piece::Calldata { offset: U256::ZERO, size_bytes: U256::from(signature.len()) }]);
    u32::try_from(hash >> 224usize).expect("32 bits are left")
}

impl crate::Verifier for Verifier {
    fn call(&self, proof: &str, inputs: &str) -> Result<Vec<u8>, KeyError> {
        Ok(self.calldata(&json::proof(proof)?, &json::inputs(inputs, self.key.inputs())?))
    }

    fn takes_witness(&self) -> bool {
        self.takes_witness
    }

    fn witness_for(&self, calldata: &[u8]) -> Option<Vec<u8>> {
        self.takes_witness.then(|| self.witness(calldata)).flatten()
    }
}

impl Source for Verifier {
    fn name(&self) -> &str {
        "groth16"
    }

    fn summary(&self) -> &str {
        if self.takes_witness {
            "does a Groth16 proof on BN254 hold for a key? cheaper with a residue witness"
        } else {
            "does a Groth16 proof on BN254 hold for a key?"
        }
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    fn program_with(&self, product: Fp2Product) -> Program {
        record_with("groth16", &modulus(), product, |machine| self.text(machine))
    }

    /// A proof that does not hold and takes all steps: nobody can make one that holds of the key alone.
    fn example(&self) -> Vec<u8> {
        let point = self.key.alpha;
        let proof = Proof { a: point, b: self.key.beta, c: point };
        self.calldata(&proof, &vec![BigUint::from(1u32); self.key.inputs()])
    }
}

/// The key in this text, see [`super::json`].
pub fn key(text: &str) -> Result<Bn254Key, KeyError> {
    json::Curve::new(&constants().b, &constants().twist_b).key(text)
}
