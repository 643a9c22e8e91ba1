//! Keys for which proofs can be made up are refused; if they are taken all the same, proofs that are made of points that anybody has hold.

use super::proofs::{Points, fr, gnark_key, snarkjs_inputs, snarkjs_key, snarkjs_proof};
use super::system;
use crate::by_precompiles::by_precompiles;
use crate::points::Seeded;
use ark_bls12_381::Bls12_381;
use ark_bn254::Bn254;
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, One, PrimeField, Zero};
use ark_groth16::{Proof, VerifyingKey};
use num_bigint::BigUint;
use residue_contracts::VerifierOptions;
use residue_engine::{Fork, Halt};
use serde_json::Value;

/// The discrete logarithms of a key with two inputs.
#[derive(Clone)]
struct Logarithms<F> {
    alpha: F,
    beta: F,
    gamma: F,
    delta: F,
    ic: [F; 3],
}

/// A fault of a key, by the difference to a random one; parts of the message; and proofs that are made up for it, with their inputs.
struct Case<E: Pairing> {
    what: &'static str,
    change: fn(&mut Logarithms<E::ScalarField>),
    message: &'static [&'static str],
    forged: Forged<E>,
}

type Inputs<E> = [<E as Pairing>::ScalarField; 2];

/// A, B and C of a proof.
type Made<E> = (<E as Pairing>::G1, <E as Pairing>::G2, <E as Pairing>::G1);

/// Of the key and multiples of S and γ·S.
type AnyInputs<E> = fn(&VerifyingKey<E>, <E as Pairing>::G1, <E as Pairing>::G1) -> Made<E>;

/// A proof that is made up, with the inputs that it holds for.
enum Forged<E: Pairing> {
    /// Of any inputs, with multiples of the points of the key: of S, the sum of its points with the inputs, and of γ·S, which follows from the powers of the setup.
    Any(AnyInputs<E>),
    /// Of these inputs, with the points of the key.
    Of(fn() -> Inputs<E>, fn(&VerifyingKey<E>) -> Made<E>),
    /// One for some inputs, used for those.
    Moved(fn(Inputs<E>) -> Inputs<E>),
    /// With the powers of the setup, by a witness for each constraint alone.
    NotHere,
}

fn number<F: Field>(value: u64) -> F {
    F::from(value)
}

/// A cube root of one other than one.
fn root<F: PrimeField>() -> F {
    let third: BigUint = (F::ZERO - F::ONE).into_bigint().into() / 3u32;
    let roots = (2u64..).map(|base| F::from(base).pow(third.to_u64_digits()));
    roots.into_iter().find(|root| !root.is_one()).unwrap()
}

fn two_thirds<F: Field>() -> F {
    number::<F>(2) * number::<F>(3).inverse().unwrap()
}

fn of_any_inputs<E: Pairing>() -> Vec<Case<E>> {
    [of_known_deltas(), of_multiples(), of_sums(), of_known_phases()].into_iter().flatten().collect()
}

/// δ is γ or its opposite, or a known multiple of the generator.
fn of_known_deltas<E: Pairing>() -> Vec<Case<E>> {
    use Forged::Any;
    vec![
        Case {
            what: "γ = δ",
            change: |key| key.gamma = key.delta,
            message: &["vk_delta_2 is vk_gamma_2: proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (key.alpha_g1.into(), key.beta_g2.into(), -s)),
        },
        Case {
            what: "γ = −δ",
            change: |key| key.gamma = -key.delta,
            message: &["vk_delta_2 is minus vk_gamma_2: proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (key.alpha_g1.into(), key.beta_g2.into(), s)),
        },
        Case {
            what: "γ and δ are the generator",
            change: |key| (key.gamma, key.delta) = (One::one(), One::one()),
            message: &["vk_gamma_2 and vk_delta_2 are the generator of G2", "second phase"],
            forged: Any(|key, s: E::G1, _| (key.alpha_g1.into(), key.beta_g2.into(), -s)),
        },
        Case {
            what: "δ is the generator",
            change: |key| key.delta = One::one(),
            message: &["vk_delta_2 is the generator of G2", "second phase"],
            forged: Any(|key, _, gamma_s: E::G1| (key.alpha_g1.into(), key.beta_g2.into(), -gamma_s)),
        },
        Case {
            what: "δ is minus the generator",
            change: |key| key.delta = -E::ScalarField::one(),
            message: &["vk_delta_2 is minus the generator of G2", "second phase"],
            forged: Any(|key, _, gamma_s: E::G1| (key.alpha_g1.into(), key.beta_g2.into(), gamma_s)),
        },
        Case {
            what: "δ is a known multiple of the generator",
            change: |key| key.delta = -number::<E::ScalarField>(54_321),
            message: &["vk_delta_2 is a known multiple of the generator of G2"],
            forged: Any(|key, _, gamma_s: E::G1| {
                (key.alpha_g1.into(), key.beta_g2.into(), gamma_s * number::<E::ScalarField>(54_321).inverse().unwrap())
            }),
        },
    ]
}

/// γ and δ are known multiples of each other.
fn of_multiples<E: Pairing>() -> Vec<Case<E>> {
    use Forged::Any;
    vec![
        Case {
            what: "δ = 3γ",
            change: |key| key.delta = key.gamma * number::<E::ScalarField>(3),
            message: &["vk_delta_2 is a known multiple of vk_gamma_2 (3 times it"],
            forged: Any(|key, s: E::G1, _| {
                (key.alpha_g1.into(), key.beta_g2.into(), -s * number::<E::ScalarField>(3).inverse().unwrap())
            }),
        },
        Case {
            what: "γ = −5δ",
            change: |key| key.gamma = -key.delta * number::<E::ScalarField>(5),
            message: &["vk_delta_2 is a known multiple of vk_gamma_2 (1/5 times it"],
            forged: Any(|key, s: E::G1, _| (key.alpha_g1.into(), key.beta_g2.into(), s * number::<E::ScalarField>(5))),
        },
        Case {
            what: "3γ = 2δ",
            change: |key| key.gamma = key.delta * two_thirds::<E::ScalarField>(),
            message: &["vk_delta_2 is a known multiple of vk_gamma_2 (3/2 times it"],
            forged: Any(|key, s: E::G1, _| {
                (key.alpha_g1.into(), key.beta_g2.into(), -s * two_thirds::<E::ScalarField>())
            }),
        },
        Case {
            what: "γ is a cube root of one times δ",
            change: |key| key.gamma = key.delta * root::<E::ScalarField>(),
            message: &["vk_delta_2 is a known multiple of vk_gamma_2: proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (key.alpha_g1.into(), key.beta_g2.into(), -s * root::<E::ScalarField>())),
        },
    ]
}

/// γ or δ is β, or 0 is a sum of β, γ and δ with signs.
fn of_sums<E: Pairing>() -> Vec<Case<E>> {
    use Forged::Any;
    vec![
        Case {
            what: "γ = β",
            change: |key| key.gamma = key.beta,
            message: &["vk_gamma_2 is vk_beta_2: proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (s + key.alpha_g1, key.beta_g2.into(), Zero::zero())),
        },
        Case {
            what: "δ = −β",
            change: |key| key.delta = -key.beta,
            message: &["vk_delta_2 is minus vk_beta_2: proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (s, key.gamma_g2.into(), key.alpha_g1.into())),
        },
        Case {
            what: "δ = β + γ",
            change: |key| key.delta = key.beta + key.gamma,
            message: &["vk_beta_2, vk_gamma_2 and vk_delta_2 add up to the identity", "proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (s - key.alpha_g1, key.gamma_g2.into(), -key.alpha_g1.into_group())),
        },
        Case {
            what: "δ = γ − β",
            change: |key| key.delta = key.gamma - key.beta,
            message: &["vk_beta_2, vk_gamma_2 and vk_delta_2 add up to the identity", "proofs of any inputs"],
            forged: Any(|key, s: E::G1, _| (s + key.alpha_g1, key.gamma_g2.into(), key.alpha_g1.into())),
        },
    ]
}

/// α or β is known, so the first phase had no contribution.
fn of_known_phases<E: Pairing>() -> Vec<Case<E>> {
    use Forged::NotHere;
    vec![
        Case {
            what: "β is the generator",
            change: |key| key.beta = One::one(),
            message: &["vk_beta_2 is the generator of G2", "first phase"],
            forged: NotHere,
        },
        Case {
            what: "α is minus a known multiple of the generator",
            change: |key| key.alpha = -number::<E::ScalarField>(7),
            message: &["vk_alpha_1 is a known multiple of the generator of G1", "first phase"],
            forged: NotHere,
        },
    ]
}

fn of_some_inputs<E: Pairing>() -> Vec<Case<E>> {
    use Forged::{Moved, Of};
    let zeros: fn() -> Inputs<E> = || [Zero::zero(); 2];
    let alpha_beta: fn(&VerifyingKey<E>) -> _ = |key| (key.alpha_g1.into(), key.beta_g2.into(), Zero::zero());
    vec![
        Case {
            what: "IC₀ = 0",
            change: |key| key.ic[0] = Zero::zero(),
            message: &["IC[0] is the identity: a proof of inputs that are zero"],
            forged: Of(zeros, alpha_beta),
        },
        Case {
            what: "IC₁ = 0",
            change: |key| key.ic[1] = Zero::zero(),
            message: &["IC[1] is the identity", "whatever this input is"],
            forged: Moved(|[a, b]| [a + E::ScalarField::one(), b]),
        },
        Case {
            what: "all IC are 0",
            change: |key| key.ic = [Zero::zero(); 3],
            message: &["IC[0] is the identity"],
            forged: Of(|| [number(11), number(12)], alpha_beta),
        },
        Case {
            what: "IC₀ = −α",
            change: |key| key.ic[0] = -key.alpha,
            message: &["IC[0] is minus vk_alpha_1: a proof of inputs that are zero"],
            forged: Of(zeros, |key| (key.alpha_g1.into(), key.beta_g2.into_group() - key.gamma_g2, Zero::zero())),
        },
        Case {
            what: "IC₁ = −2·IC₀",
            change: |key| key.ic[1] = -key.ic[0] - key.ic[0],
            message: &["IC[1] is a known multiple of IC[0] (2 times it", "proofs of some inputs"],
            forged: Of(|| [number::<E::ScalarField>(2).inverse().unwrap(), Zero::zero()], alpha_beta),
        },
        Case {
            what: "IC₁ = IC₂",
            change: |key| key.ic[1] = key.ic[2],
            message: &["IC[2] is IC[1]: a proof for some inputs holds for others"],
            forged: Moved(|[a, b]| [a + E::ScalarField::one(), b - E::ScalarField::one()]),
        },
        Case {
            what: "IC₁ = −IC₂",
            change: |key| key.ic[1] = -key.ic[2],
            message: &["IC[2] is minus IC[1]: a proof for some inputs holds for others"],
            forged: Moved(|[a, b]| [a + E::ScalarField::one(), b + E::ScalarField::one()]),
        },
        Case {
            what: "IC₂ = IC₀ + IC₁",
            change: |key| key.ic[2] = key.ic[0] + key.ic[1],
            message: &["IC[0], IC[1] and IC[2] add up to the identity", "proofs of some inputs"],
            forged: Of(|| [One::one(), -E::ScalarField::one()], alpha_beta),
        },
    ]
}

fn of<E: Pairing>(logarithms: &Logarithms<E::ScalarField>) -> VerifyingKey<E> {
    let g1 = |k: E::ScalarField| (E::G1Affine::generator() * k).into_affine();
    let g2 = |k: E::ScalarField| (E::G2Affine::generator() * k).into_affine();
    VerifyingKey {
        alpha_g1: g1(logarithms.alpha),
        beta_g2: g2(logarithms.beta),
        gamma_g2: g2(logarithms.gamma),
        delta_g2: g2(logarithms.delta),
        gamma_abc_g1: logarithms.ic.map(g1).to_vec(),
    }
}

fn random<E: Pairing>(seeded: &mut Seeded) -> Logarithms<E::ScalarField> {
    let [alpha, beta, gamma, delta, ic0, ic1, ic2] = std::array::from_fn(|_| fr(seeded));
    Logarithms { alpha, beta, gamma, delta, ic: [ic0, ic1, ic2] }
}

fn sum<F: Field>(logarithms: &Logarithms<F>, inputs: [F; 2]) -> F {
    logarithms.ic[0] + logarithms.ic[1] * inputs[0] + logarithms.ic[2] * inputs[1]
}

/// The proof that is made up, and its inputs.
fn forged<E: Pairing>(
    forged: &Forged<E>,
    logarithms: &Logarithms<E::ScalarField>,
    seeded: &mut Seeded,
) -> Option<(Proof<E>, Inputs<E>)> {
    let key = of::<E>(logarithms);
    let proof = |(a, b, c): Made<E>| Proof { a: a.into(), b: b.into(), c: c.into() };
    let inputs = [fr(seeded), fr(seeded)];
    let s = sum(logarithms, inputs);
    let g1 = |k: E::ScalarField| E::G1Affine::generator() * k;
    Some(match forged {
        Forged::Any(make) => (proof(make(&key, g1(s), g1(s * logarithms.gamma))), inputs),
        Forged::Of(inputs, make) => (proof(make(&key)), inputs()),
        Forged::Moved(to) => {
            let c = (number::<E::ScalarField>(6) - logarithms.alpha * logarithms.beta - s * logarithms.gamma)
                * logarithms.delta.inverse().unwrap();
            let (a, b) = (g1(number(2)), E::G2Affine::generator() * number::<E::ScalarField>(3));
            (proof((a, b, g1(c))), to(inputs))
        }
        Forged::NotHere => return None,
    })
}

/// The answer of a key's verifier to a proof, on today's EVM.
fn holds<E: Points>(key: &Value, proof: &Proof<E>, inputs: Inputs<E>) -> bool {
    let options = VerifierOptions { allows_unsafe_key: true, ..VerifierOptions::default() };
    let verifier = (system().verifier)(&key.to_string(), options).unwrap();
    let call = verifier.call(&snarkjs_proof(proof).to_string(), &snarkjs_inputs(&inputs).to_string()).unwrap();
    let mut prepared = by_precompiles(&verifier.program(), Fork::Prague).unwrap().0;
    let outcome = prepared.run_without_memory(&call, super::GAS);
    assert_eq!((outcome.halt, outcome.output.len()), (Halt::Return, 32));
    outcome.output[31] == 1
}

/// The field of gnark for that of snarkjs.
fn of_gnark(part: &str) -> String {
    let names = [
        ("vk_alpha_1", "G1.Alpha"),
        ("vk_beta_2", "G2.Beta"),
        ("vk_gamma_2", "G2.Gamma"),
        ("vk_delta_2", "G2.Delta"),
        ("IC[", "G1.K["),
    ];
    names.iter().fold(part.to_owned(), |part, (snarkjs, gnark)| part.replace(snarkjs, gnark))
}

fn are_refused<E: Points>(cases: Vec<Case<E>>, seed: u64) {
    let mut seeded = Seeded(seed);
    for Case { what, change, message, forged: forgery } in cases {
        let what = format!("{}, {what}", E::CURVE);
        let mut logarithms = random::<E>(&mut seeded);
        change(&mut logarithms);
        let key = of::<E>(&logarithms);
        let (snarkjs, gnark) = (snarkjs_key(&key), gnark_key(&key));
        for (json, is_gnark) in [(&snarkjs, false), (&gnark, true)] {
            let refused = (system().verifier)(&json.to_string(), VerifierOptions::default());
            let error = refused.expect_err(&what).to_string();
            for part in message {
                let part = if is_gnark { of_gnark(part) } else { (*part).to_owned() };
                assert!(error.starts_with("the key is unsafe: ") && error.contains(&part), "{what}: {part:?}: {error}");
            }
        }
        if let Some((proof, inputs)) = forged(&forgery, &logarithms, &mut seeded) {
            assert!(holds::<E>(&snarkjs, &proof, inputs), "{what}: the proof that is made up");
            // It is the relation that it holds by.
            let other = of::<E>(&random::<E>(&mut seeded));
            assert!(!holds::<E>(&snarkjs_key(&other), &proof, inputs), "{what}: another key");
        }
    }
}

#[test]
fn keys_for_which_proofs_of_any_inputs_can_be_made_up_are_refused() {
    are_refused::<Bn254>(of_any_inputs(), 361);
}

#[test]
fn keys_for_which_proofs_of_some_inputs_can_be_made_up_are_refused() {
    are_refused::<Bn254>(of_some_inputs(), 362);
}

#[test]
fn keys_on_bls12_381_are_refused_for_the_same() {
    let cases = of_any_inputs().into_iter().chain(of_some_inputs()).step_by(3);
    are_refused::<Bls12_381>(cases.collect(), 363);
}

#[test]
fn keys_whose_first_phase_alone_made_gamma_the_generator_are_taken() {
    // Those of snarkjs are such: no contribution changes γ.
    let mut logarithms = random::<Bn254>(&mut Seeded(364));
    logarithms.gamma = One::one();
    let key = snarkjs_key(&of::<Bn254>(&logarithms));
    (system().verifier)(&key.to_string(), VerifierOptions::default()).unwrap();
    let (proof, inputs) = forged(&Forged::<Bn254>::Moved(|inputs| inputs), &logarithms, &mut Seeded(365)).unwrap();
    assert!(holds::<Bn254>(&key, &proof, inputs));
}
