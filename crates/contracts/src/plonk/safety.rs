//! Parts of a key by which proofs can be made up, or with which none can hold.
//!
//! The points of the key and of a proof commit to polynomials by their values at τ, of which [τ]₂ alone is in the key. Who knows τ can open any commitment to any value
//! (Kate, Zaverucha and Goldberg 2010, §3.1), and so make up proofs of any inputs. `docs/plonk.md` has each relation.

use super::key::{Key, Point};
use crate::keyed::points::Curve;
use crate::keyed::relations::relation_to;
use crate::verifier::KeyError;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bn254::Bn254;
use residue_curves::pairing::fixed::{FixedPoint, lines, miller_loop};
use residue_curves::pairing::{PairingCurve, is_final_exponentiation_one};
use residue_curves::tower::Fp2;
use residue_formula::Number;
use residue_ir::{Machine, Numbers};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;

const KNOWN: &str = "τ is known, and proofs of any inputs can be made up";
const NO_GATE: &str = "no gate reads a wire, and nothing is proved of any";
const NO_COPIES: &str = "no wires are connected, so that each gate holds for wires of its own, whatever the inputs are";
const NO_PERMUTATION: &str = "the wires are not permuted, and no proof can hold";

/// Roots of unity that τ is compared with: all of this order, up to their signs, and powers of ω and 1/ω up to this exponent.
const ORDER: u32 = 64;
const EXPONENT_MAX: u32 = 8;

/// Refuses a key for which proofs can be made up, or none can hold.
pub(super) fn check(key: &Key) -> Result<(), KeyError> {
    let refused = |relation: String, consequence| Err(KeyError::Unsafe { relation, consequence });
    let curve = Curve::<Bn254>::new();
    let (g2, generator) = curve.of_g2();
    if g2.multiple(generator, &[key.x]).is_some() {
        return refused(relation_to(("X_2", key.x), ("the generator of G2", generator)), KNOWN);
    }
    let order = Bn254::FAMILY.order();
    let gates = BigUint::from(1u32) << key.power;
    let few = key.omega.modpow(&(gates / ORDER).max(1u32.into()), &order);
    let omega = (&key.omega, EXPONENT_MAX, &order);
    let is_root = g2.is_times_power(key.x, generator, omega)
        || g2.is_times_power(generator, key.x, omega)
        || g2.is_times_power(key.x, generator, (&few, ORDER / 2, &order));
    if is_root {
        return refused("X_2 is a root of unity times the generator of G2".to_owned(), KNOWN);
    }
    if key.q[..4].iter().all(Option::is_none) {
        return refused("Qm, Ql, Qr and Qo are the identity".to_owned(), NO_GATE);
    }
    for (number, point) in key.s.iter().enumerate() {
        if point.is_none() {
            return refused(format!("S{} is the identity", number + 1), NO_PERMUTATION);
        }
        if let Some(first) = key.s[..number].iter().position(|other| other == point) {
            return refused(format!("S{} is S{}", number + 1, first + 1), NO_PERMUTATION);
        }
    }
    if is_identity_permutation(key, &curve, generator) {
        return refused("S1, S2 and S3 are [τ], k1·[τ] and k2·[τ]".to_owned(), NO_COPIES);
    }
    Ok(())
}

/// True if S₂ = k₁·S₁, S₃ = k₂·S₁, and S₁ = [τ]₁: e(S₁, [1]₂)·e(−[1]₁, [τ]₂) = 1.
fn is_identity_permutation(key: &Key, curve: &Curve<Bn254>, g2: Affine<Fp2<Bn254Fp, Bn254>>) -> bool {
    let (points, generator) = curve.of_g1();
    let [Some(s1), ref others @ ..] = key.s else { return false };
    let are_multiples = others.iter().zip(&key.k).all(|(other, k): (&Point, _)| *other == points.times(k, s1));
    if !are_multiples {
        return false;
    }
    let machine = Numbers::<Bn254Fp>::new(Vec::new());
    let table = machine.table("lines", &lines(&[g2, key.x]));
    let fixed = |point: Affine<Bn254Fp>| {
        let inverse_y = point.y.inverse().expect("a point of odd order has y other than zero");
        FixedPoint { x_over_y: point.x * inverse_y, inverse_y }
    };
    let pairs = [s1, Affine::new(generator.x, -generator.y)].map(fixed);
    let (f, _) = miller_loop::<_, Bn254, 0, 2, 0>(&machine, [], pairs, table, []);
    is_final_exponentiation_one(&machine, f) == U256::from(1u32)
}
