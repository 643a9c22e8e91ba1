//! A verifier of one key.

use super::key::{self, Key, Point, Proof};
use super::layout::{EVALUATIONS_AT, INPUTS_AT, POINTS, POINTS_AT};
use super::scalars::{Challenges, Scalars};
use crate::bn254::ENCODING;
use crate::keyed::by_precompiles::{Point as G1, Scalar, Scratch, known};
use crate::keyed::{json, require_selector, selector};
use crate::verifier::{CallError, KeyError};
use crate::{Function, Source};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bn254::{Bn254, constants, g1_curve_defect, g1_generator, g2_generator, invert, modulus, rows};
use residue_curves::comb::{Comb, FixedSum, ROW_TEETH};
use residue_curves::complete::AZero;
use residue_curves::conditions::all_vanish;
use residue_curves::glv::{msm, multiple_in_short_code};
use residue_curves::group::{Jacobian, Projective};
use residue_curves::pairing::fixed::{FixedPoint, lines, miller_loop};
use residue_curves::pairing::{PairingCurve, is_final_exponentiation_one};
use residue_curves::tower::Fp2;
use residue_formula::{Fe, Number};
use residue_ir::{Capacity, Form, Machine, ModOp, Piece, Program, Variable, WordOp, record_as};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;

/// A verifier of one key.
#[derive(Debug)]
pub struct Verifier {
    key: Key,
    interface: String,
    function: Function,
    selector: u32,
    /// The points of the key that are multiplied, and the generator.
    bases: [Point; 8],
    sum: FixedSum<Bn254Fp>,
    /// −[x]₂ and [1]₂.
    of_pairs: [Affine<Fp2<Bn254Fp, Bn254>>; 2],
    /// Of both.
    lines: Vec<Vec<BigUint>>,
}

/// Some points by their places: A, B, C, Z, T₁, T₂, T₃, Wξ, Wξω.
const Z: u32 = 3;
const T1: u32 = 4;
const W: u32 = 7;
const WW: u32 = 8;

/// The place of the generator among the points of the key.
const GENERATOR: usize = 7;

/// A sum on its way, and what vanishes if all points so far are on the curve.
type Sum<F> = (Projective<F>, F);

impl Verifier {
    /// The verifier for this key. None takes a witness.
    pub fn new(key: Key, takes_witness: bool) -> Result<Self, KeyError> {
        if takes_witness {
            return Err(KeyError::NoWitness { system: "plonk" });
        }
        let declaration = format!("verifyProof(uint256[24] proof, uint256[{}] inputs) returns (bool)", key.inputs);
        let function = Function::declared(&declaration, true);
        let signature = function.signature();
        let bytes = INPUTS_AT as usize + 32 * key.inputs; // u32 to usize widens
        let interface = format!(
            "{bytes} bytes: a call of {signature} as snarkjs encodes it; returns 32 bytes, 1 or 0; fails on less calldata or another selector"
        );
        let element = |value: &BigUint| Bn254Fp::from_canonical(value).expect("constants are below p");
        let g1 = g1_generator();
        let generator = Some(Affine::new(element(&g1.x), element(&g1.y)));
        let [qm, ql, qr, qo, qc] = key.q;
        let [s1, s2, s3] = key.s;
        let bases = [qm, ql, qr, qo, s1, s2, s3, generator];
        let fp2 = |value: &Fp2<BigUint, Bn254>| Fp2::new(element(&value.c0), element(&value.c1));
        let g2 = g2_generator();
        let of_pairs = [Affine::new(key.x.x, -key.x.y), Affine::new(fp2(&g2.x), fp2(&g2.y))];
        let lines = lines(&of_pairs);
        let sum = FixedSum::new(Comb::new(ROW_TEETH), qc, &bases, Bn254Fp::from_u64(3), Bn254::FAMILY.order());
        Ok(Self { interface, function, selector: selector(&signature), bases, sum, of_pairs, lines, key })
    }

    /// The calldata of a proof with these inputs.
    pub fn calldata(&self, proof: &Proof, inputs: &[BigUint]) -> Vec<u8> {
        let words = proof.numbers.iter().chain(inputs).flat_map(|value| ENCODING.encoded(value));
        self.selector.to_be_bytes().into_iter().chain(words).collect()
    }

    fn end(&self) -> u32 {
        INPUTS_AT + 32 * u32::try_from(self.key.inputs).expect("keys have fewer inputs: `key` checks it")
    }

    /// The text.
    pub fn text<M: Machine>(&self, machine: &M) {
        let word = |value: u32| machine.small(value.into());
        require_selector(machine, self.selector);
        machine.require(machine.not(machine.word_op(WordOp::Lt, machine.calldata_size(), word(self.end()))));
        self.return_0_unless_in_range(machine);
        let challenges = self.challenges(machine);
        let u = machine.variable("u_of_points", challenges.u);
        let scalars = Scalars::new(machine, &self.key, &challenges);
        machine.branch(
            Scratch::<M, Bn254>::is_there(machine),
            |machine| self.by_precompiles(machine, u, &scalars),
            |machine| self.by_formulas(machine, u, &scalars),
        );
    }

    /// The sums and the check by precompiles.
    fn by_precompiles<M: Machine>(&self, machine: &M, u: Variable, scalars: &Scalars) {
        let at = |number: u32| G1::Calldata(POINTS_AT + 64 * number);
        let failed = |machine: &M| machine.return_word(machine.small(0));
        let scratch = Scratch::<M, Bn254>::new(machine, 2, 0);
        // W + u·W′.
        scratch.sum(0, Some(&at(W)), &[(at(WW), Scalar::Variable(u))], failed);
        scratch.g2(0, &self.of_pairs[0]);
        // ξ·W + u·ξ·ω·W′ + F − E.
        let of_key = self.bases.iter().zip(scalars.of_key);
        let of_key = of_key.filter_map(|(point, by)| Some((known::<Bn254>(point.as_ref()?), Scalar::Variable(by))));
        let of_proof = (0..).zip(scalars.of_proof).map(|(number, by)| (at(number), Scalar::Variable(by)));
        let terms: Vec<_> = of_key.chain(of_proof).collect();
        let first = self.key.q[4].as_ref().map(known::<Bn254>);
        scratch.sum(1, first.as_ref(), &terms, failed);
        scratch.g2(1, &self.of_pairs[1]);
        scratch.return_check();
    }

    /// The same by formulas.
    fn by_formulas<M: Machine>(&self, machine: &M, u: Variable, scalars: &Scalars) {
        let word = |value: u32| machine.small(value.into());
        let scalar = machine.variable("scalar", machine.get(u));
        let point = |number: u32| ENCODING.point(machine, word(POINTS_AT + 64 * number));

        // W + u·W′.
        let (a1, vanishing) = term(machine, scalar, point(WW), (msm::identity(machine), machine.zero()));
        let (a1, vanishing) = with(machine, point(W), (a1, vanishing));
        // ξ·W + u·ξ·ω·W′ + F − E.
        let (b1, vanishing) = self.linear_combination(machine, scalars, scalar, vanishing);

        // (X : Y : Z) has x/y = X/Y and 1/y = Z/Y; of the identity both are 0, and its lines are s, which vanishes.
        let inverse = invert(machine, a1.y * b1.y);
        let [of_a, of_b] = [inverse * b1.y, inverse * a1.y];
        let points = [(a1, of_a), (b1, of_b)]
            .map(|(point, over_y)| FixedPoint { x_over_y: point.x * over_y, inverse_y: point.z * over_y });
        let table = machine.table("plonk_lines", &self.lines);
        let (f, _) = miller_loop::<M, Bn254, 0, 2, 0>(machine, [], points, table, []);
        machine.branch(
            machine.is_zero(vanishing),
            |machine| machine.return_word(is_final_exponentiation_one(machine, f)),
            |machine| machine.return_word(machine.small(0)),
        );
    }

    /// The sum of all points of the key and the proof times their scalars, and what vanishes if all points so far are on the curve. The
    /// variable is for scalars of functions.
    fn linear_combination<M: Machine>(
        &self,
        machine: &M,
        scalars: &Scalars,
        scalar: Variable,
        vanishing: M::Fe,
    ) -> Sum<M::Fe> {
        let Scalars { of_key, of_proof } = scalars;
        let zeros = machine.variable("zeros_of_digits", machine.small(0));
        let mut number = 0;
        let digits = of_proof.map(|variable| {
            machine.set(scalar, scalar_or_0(machine, machine.small(number), machine.get(variable)));
            number += 1;
            machine.function("plonk_digits", (), |machine, ()| {
                let [digits, own_zeros] = rows::digits(machine, machine.get(scalar));
                machine.set(scalar, digits);
                machine.set(zeros, machine.word_op(WordOp::Add, machine.get(zeros), own_zeros));
            });
            machine.variable("digits", machine.get(scalar))
        });
        // Digits 0 add the generator, which the sum of the key's points has as often less.
        let order = machine.word(U256::from_be_slice(&Bn254::FAMILY.order().to_bytes_be()));
        let less = machine.word_op(WordOp::Sub, order, machine.get(zeros));
        let mut with_less = *of_key;
        let of_generator = machine.mod_op(ModOp::Add, machine.get(of_key[GENERATOR]), less, order);
        with_less[GENERATOR] = machine.variable("by_generator_with_less", of_generator);

        // Both sums have their tables in one array, one after the other.
        let tables = machine.array("plonk_tables", Capacity::Fixed(POINTS as u32)); // as many as constants say
        let of_key_points = self.sum.compute_by_rows(machine, &with_less, tables, &constants().pairing.three_halves);
        let prepared = machine.array("plonk_multiples", Capacity::Fixed(POINTS as u32)); // as above
        let count = machine.small(POINTS as u64); // usize to u64 widens
        let (z, vanishing) = machine.repeat(count, (machine.one(), vanishing), |machine, number, (z, vanishing)| {
            let number = machine.bind(number);
            let (point, defect) = point_or_generator(machine, number);
            (rows::prepare(machine, prepared, number, point, z), all_vanish(&[vanishing, defect]))
        });
        machine.countdown(count, POINTS, machine.one(), |machine, number, after| {
            rows::tabulate(machine, prepared, tables, machine.small(number as u64), z, after) // usize to u64 widens
        });
        let of_proof_points = rows::sum(machine, &digits, tables, z);

        let is_known = machine.not(machine.is_zero(of_key_points.z * of_proof_points.z));
        let add = |machine: &M| {
            let curve = times_9(machine);
            let sum = projective(of_key_points).add_complete(projective(of_proof_points), &curve);
            sum.add_mixed_complete(rows::beyond(machine), &curve)
        };
        (machine.branch(is_known, add, |machine| self.completely(machine, scalars, scalar)), vanishing)
    }

    /// The sum with formulas that have no exceptions.
    fn completely<M: Machine>(&self, machine: &M, scalars: &Scalars, scalar: Variable) -> Projective<M::Fe> {
        let (constant, of_key) = (self.sum.constant(), self.sum.bases());
        let row = |point: Affine<Bn254Fp>| vec![point.x.to_canonical(), point.y.to_canonical()];
        let rows: Vec<_> = constant.into_iter().chain(of_key.iter().map(|&(_, point)| point)).map(row).collect();
        let identity = msm::identity(machine);
        let add = |machine: &M, sum, by: M::Word, point| {
            machine.set(scalar, by);
            machine.function("plonk_complete_term", (sum, point), |machine, (sum, point)| {
                msm::complete(machine, &Bn254, machine.get(scalar), point, sum)
            })
        };
        let mut sum = identity;
        if !rows.is_empty() {
            let table = machine.table("plonk_points", &rows);
            let point = |number: usize| machine.lookup(table, machine.small(number as u64)); // usize to u64 widens
            if constant.is_some() {
                sum = sum.add_mixed_complete(point(0), &times_9(machine));
            }
            for (number, &(place, _)) in (usize::from(constant.is_some())..).zip(of_key) {
                sum = add(machine, sum, machine.get(scalars.of_key[place]), point(number));
            }
        }
        let number = machine.variable("number_of_point", machine.small(0));
        (0u32..).zip(scalars.of_proof).fold(sum, |sum, (place, by)| {
            machine.set(number, machine.small(place.into()));
            machine.set(scalar, machine.get(by));
            // Code for it stands once, as few proofs come to this.
            machine.function("plonk_complete_term_of_proof", sum, |machine, sum| {
                let number = machine.bind(machine.get(number));
                let by = scalar_or_0(machine, number, machine.get(scalar));
                let (point, _) = point_or_generator(machine, number);
                add(machine, sum, by, point)
            })
        })
    }

    /// Returns 0 unless coordinates are below p, and evaluations and inputs below r.
    fn return_0_unless_in_range<M: Machine>(&self, machine: &M) {
        let [p, r] = [modulus(), Bn254::FAMILY.order()]
            .map(|limit| machine.bind(machine.word(U256::from_be_slice(&limit.to_bytes_be()))));
        let return_0_unless =
            |is_below| machine.branch(is_below, |_| (), |machine| machine.return_word(machine.small(0)));
        let is_below = |at, limit| machine.word_op(WordOp::Lt, machine.calldata_word(at), limit);
        let all = [(p, POINTS_AT, EVALUATIONS_AT), (r, EVALUATIONS_AT, INPUTS_AT)]
            .into_iter()
            .flat_map(|(limit, from, to)| (from..to).step_by(32).map(move |at| (limit, at)))
            .map(|(limit, at)| is_below(machine.small(at.into()), limit))
            .reduce(|all, one| machine.word_op(WordOp::And, all, one));
        return_0_unless(all.expect("there are points"));
        machine.repeat(machine.small(self.key.inputs as u64), (), |machine, number, ()| {
            let at = machine.word_op(WordOp::Mul, number, machine.small(32)); // usize to u64 widens, above
            let at = machine.word_op(WordOp::Add, at, machine.small(INPUTS_AT.into()));
            return_0_unless(is_below(at, r));
        });
    }

    /// The transcript, as snarkjs has it.
    fn challenges<M: Machine>(&self, machine: &M) -> Challenges<M::Word> {
        let small = |value: u32| machine.small(value.into());
        let order = machine.word(U256::from_be_slice(&Bn254::FAMILY.order().to_bytes_be()));
        let word = |word| Piece::Word { word, size_bytes: small(32) };
        let calldata = |from: u32, to: u32| Piece::Calldata { offset: small(from), size_bytes: small(to - from) };
        let challenge =
            |pieces: &[Piece<M::Word>]| machine.bind(machine.word_op(WordOp::Mod, machine.keccak256(pieces), order));
        let at = |number: u32| POINTS_AT + 64 * number;
        let coordinates = |point: &Point| {
            let Affine { x, y } = point.unwrap_or(Affine::new(Bn254Fp::ZERO, Bn254Fp::ZERO));
            [x, y].map(|value| word(machine.word(U256::from_be_slice(&value.to_canonical().to_bytes_be()))))
        };
        let mut pieces: Vec<_> = self.key.q.iter().chain(&self.key.s).flat_map(coordinates).collect();
        pieces.extend((self.key.inputs > 0).then(|| calldata(INPUTS_AT, self.end())));
        pieces.push(calldata(POINTS_AT, at(Z)));
        let beta = challenge(&pieces);
        let gamma = challenge(&[word(beta)]);
        let alpha = challenge(&[word(beta), word(gamma), calldata(at(Z), at(T1))]);
        let xi = challenge(&[word(alpha), calldata(at(T1), at(W))]);
        let v = challenge(&[word(xi), calldata(EVALUATIONS_AT, INPUTS_AT)]);
        let u = challenge(&[calldata(at(W), EVALUATIONS_AT)]);
        Challenges { beta, gamma, alpha, xi, v, u }
    }
}

/// (X/Z², Y/Z³) ↦ (X·Z : Y : Z³), for Z ≠ 0.
fn projective<F: Fe>(Jacobian { x, y, z }: Jacobian<F>) -> Projective<F> {
    Projective { x: x * z, y, z: z * z * z }
}

/// Scalar of the point of that number of the proof; 0 for the identity, which the generator replaces.
fn scalar_or_0<M: Machine>(machine: &M, number: M::Word, scalar: M::Word) -> M::Word {
    let y_at = machine.word_op(
        WordOp::Add,
        machine.word_op(WordOp::Mul, number, machine.small(64)),
        machine.small((POINTS_AT + 32).into()),
    );
    machine.word_op(WordOp::Mul, scalar, machine.not(machine.not(machine.calldata_word(y_at))))
}

/// The point of that number of the proof and what vanishes if it is on the curve; for the identity the generator, and x of what stands for it.
fn point_or_generator<M: Machine>(machine: &M, number: M::Word) -> (Affine<M::Fe>, M::Fe) {
    let at = machine.word_op(WordOp::Mul, number, machine.small(64));
    let at = machine.bind(machine.word_op(WordOp::Add, at, machine.small(POINTS_AT.into())));
    let point = ENCODING.point(machine, at);
    machine.branch(
        machine.is_zero(point.y),
        |machine| {
            let Affine { x, y } = g1_generator();
            (Affine::new(machine.constant(&x), machine.constant(&y)), point.x)
        },
        |machine| (point, g1_curve_defect(machine, point)),
    )
}

/// The same, and (0 : 1 : 0) for Z = 0.
fn projective_or_identity<M: Machine>(machine: &M, point: Jacobian<M::Fe>) -> Projective<M::Fe> {
    machine.branch(machine.is_zero(point.z), |machine| msm::identity(machine), |_| projective(point))
}

/// (sum, P) ↦ sum + k·P, as a function, where the variable holds k; zeros are the identity.
fn term<M: Machine>(machine: &M, scalar: Variable, point: Affine<M::Fe>, sum: Sum<M::Fe>) -> Sum<M::Fe> {
    machine.function("plonk_term", (point, sum), |machine, (point, (sum, vanishing))| {
        let finite = |machine: &M| {
            let product = multiple_in_short_code(machine, &Bn254, machine.get(scalar), point);
            let product = projective_or_identity(machine, product);
            let defect = g1_curve_defect(machine, point);
            (sum.add_complete(product, &times_9(machine)), all_vanish(&[vanishing, defect]))
        };
        let nothing = |_: &M| (sum, all_vanish(&[vanishing, point.x]));
        machine.branch(machine.is_zero(point.y), nothing, finite)
    })
}

/// (sum, P) ↦ sum + P for a P that a term has checked.
fn with<M: Machine>(machine: &M, point: Affine<M::Fe>, (sum, vanishing): Sum<M::Fe>) -> Sum<M::Fe> {
    let added = |machine: &M| sum.add_mixed_complete(point, &times_9(machine));
    (machine.branch(machine.is_zero(point.y), |_| sum, added), vanishing)
}

/// 3b = 9, as complete formulas take it.
fn times_9<M: Machine>(machine: &M) -> AZero<impl Fn(M::Fe) -> M::Fe> {
    let nine = machine.constant(&9u32.into());
    AZero(move |z: M::Fe| z * nine)
}

impl crate::Verifier for Verifier {
    fn call(&self, proof: &str, inputs: &str) -> Result<Vec<u8>, CallError> {
        let proof = key::proof(proof).map_err(CallError::Proof)?;
        let inputs = json::inputs(inputs, self.key.inputs).map_err(CallError::Inputs)?;
        Ok(self.calldata(&proof, &inputs))
    }

    fn takes_witness(&self) -> bool {
        false
    }

    fn witness_for(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

impl Source for Verifier {
    fn name(&self) -> &str {
        super::SYSTEM.name
    }

    fn summary(&self) -> &str {
        super::SYSTEM.summary
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    /// Without inputs there is none: Solidity has no array of length 0.
    fn functions(&self) -> Vec<Function> {
        (self.key.inputs > 0).then(|| self.function.clone()).into_iter().collect()
    }

    fn program_as(&self, form: Form) -> Program {
        record_as(self.name(), &modulus(), form, |machine| self.text(machine))
    }

    /// A proof that does not hold and takes all steps: with the key alone nobody can make one that holds.
    fn example(&self) -> Vec<u8> {
        let Affine { x, y } = g1_generator();
        let points = std::iter::repeat_n([x, y], POINTS).flatten();
        let numbers = points.chain((1u32..=6).map(BigUint::from)).collect();
        self.calldata(&Proof { numbers }, &vec![BigUint::from(1u32); self.key.inputs])
    }
}
