//! Pairings, written once for curves with embedding degree 12 and a sextic twist, of the families BLS and BN.
//!
//! A curve says what it is by [`PairingCurve`]. Points are affine and not the identity: programs set identities aside first.

pub mod affine;
pub mod bls;
pub mod bn;
mod compressed_powers;
pub mod final_exponentiation;
pub mod fixed;
pub mod miller;
pub mod powers;
pub mod residue;
pub mod residue_witness;
pub mod steps;

pub use final_exponentiation::{
    final_exponentiation, is_final_exponentiation_one, is_final_exponentiation_one_in_long_code,
};
pub use miller::{Pairs, miller_loop};
pub use residue_witness::Witness;

use crate::conditions::Conditions;
use crate::group::{Affine, Projective};
use crate::tower::{Fp2, Tower};
use num_bigint::BigUint;
use residue_formula::{Fe, Fp2Product, Number};
use residue_ir::{Bundle, Feature, Machine};

/// The family of a curve, with its parameter x, and so its loop and its final exponentiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Barreto, Lynn and Scott 2002 (2002/088), for embedding degree 12: r = x⁴ − x² + 1, and the loop is that of x.
    Bls {
        /// |x|.
        x_abs: u64,
        /// True if x < 0.
        x_is_negative: bool,
    },
    /// Barreto and Naehrig 2005 (2005/133): r = 36x⁴ + 36x³ + 18x² + 6x + 1 for x > 0, and the loop is that of 6x + 2 with
    /// two more additions.
    Bn {
        /// x.
        x: u64,
    },
}

impl Family {
    /// |x|.
    pub const fn x_abs(self) -> u64 {
        match self {
            Family::Bls { x_abs, .. } => x_abs,
            Family::Bn { x } => x,
        }
    }

    /// r.
    pub fn order(self) -> BigUint {
        let x = BigUint::from(self.x_abs());
        match self {
            Family::Bls { .. } => x.pow(4) - x.pow(2) + 1u32,
            Family::Bn { .. } => x.pow(4) * 36u32 + x.pow(3) * 36u32 + x.pow(2) * 18u32 + x * 6u32 + 1u32,
        }
    }
}

/// Place of the twist E′ of the curve y² = x³ + b, and the map of its points to the curve over Fp12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twist {
    /// y² = x³ + b/ξ, (x, y) ↦ (x·w², y·w³).
    D,
    /// y² = x³ + b·ξ, (x, y) ↦ (x/w², y/w³).
    M,
}

/// A curve with a pairing.
pub trait PairingCurve: Tower {
    /// Its family.
    const FAMILY: Family;

    /// Its twist.
    const TWIST: Twist;

    /// Pairs that a loop takes, at most [`miller::PAIRS_MAX`].
    const PAIRS: usize = miller::PAIRS_MAX;

    /// Constants of the curve for programs.
    fn constants() -> &'static Constants<Self>;

    /// a ↦ a⁻¹ in Fp, as a function; 0 ↦ 0.
    fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe;

    /// a ↦ 3b″·a, where y² = x³ + b″ is the twist that [`Constants::scale`] leads to.
    fn times_3b<M: Machine>(machine: &M, a: Fp2<M::Fe, Self>) -> Fp2<M::Fe, Self>;

    /// √12 in Fp, for curves whose doubling steps are [`steps::doubling_step_by_root`].
    fn root_of_12() -> Option<&'static BigUint> {
        None
    }

    /// Conditions that hold exactly if Q, which lies on the twist (or a rescaled one), is in G2, given the multiple
    /// that the Miller loop ends with. Z = 0 is absorbing in its steps.
    fn membership_from_multiple<M: Machine>(
        machine: &M,
        q: Affine<Fp2<M::Fe, Self>>,
        multiple: Projective<Fp2<M::Fe, Self>>,
    ) -> Conditions<M::Fe>;
}

/// Change of coordinates before the loop.
#[derive(Debug)]
pub enum Scale<C> {
    /// (x, y) ↦ (μ²x, μ³y) for both curves, μ in Fp: it maps both to isomorphic ones over the same fields, and changes no pairing value.
    Both {
        /// μ².
        mu_squared: BigUint,
        /// μ³.
        mu_cubed: BigUint,
        /// −3μ².
        minus_three_mu_squared: BigUint,
    },
    /// For a [`Tower::CUBE`] c. Points of the twist are mapped to the curve over Fp12 by (X, Y) ↦ (X·w²/ξ, Y·c·s/ξ²), and to do so come from
    /// y² = x³ + ξ³/c, where the given twist is mapped by (x, y) ↦ (κ²x, κ³y). A line through T and Q with the slope λ is then, at P and times
    /// c/ξ, c·ξ⁻¹·(λX − Y) − λ·xP·w + yP·s; with what lies in Fp left to P, ξ̄·(λX − Y) − λ·k·xP·w + k·yP·s for k = norm(ξ)/c.
    Twist {
        /// κ².
        kappa_squared: Fp2<BigUint, C>,
        /// κ³.
        kappa_cubed: Fp2<BigUint, C>,
        /// −3k.
        minus_three_k: BigUint,
        /// k.
        k: BigUint,
        /// −1/k.
        minus_inverse_k: BigUint,
    },
    /// (x, y) ↦ (κ²x, κ³y) for the twist alone, κ in Fp2, where it comes with another ξ than that of the tower.
    TwistAlone {
        /// κ².
        kappa_squared: Fp2<BigUint, C>,
        /// κ³.
        kappa_cubed: Fp2<BigUint, C>,
    },
}

impl<C> Scale<C> {
    /// By μ for both curves.
    fn both<N: Number>(mu: N) -> Self {
        let squared = mu * mu;
        Scale::Both {
            mu_squared: squared.to_canonical(),
            mu_cubed: (squared * mu).to_canonical(),
            minus_three_mu_squared: (-(squared + squared + squared)).to_canonical(),
        }
    }
}

/// Constants of programs, as canonical values.
#[derive(Debug)]
pub struct Constants<C> {
    /// 3/2.
    pub three_halves: BigUint,
    /// 1/3.
    pub third: BigUint,
    /// 1/2.
    pub half: BigUint,
    /// 1/3ⁿ, n = 1 … 6.
    pub thirds: [BigUint; 6],
    /// γᵢ = ξ^(i(p − 1)/6), i = 0 … 5: the p-th power of wⁱ is γᵢ·wⁱ. With a [`Tower::CUBE`] they are those of 1, w, w², s, s·w, s·w².
    pub gamma: [Fp2<BigUint, C>; 6],
    /// δᵢ = γᵢ^(p + 1), i = 0 … 5, all in Fp.
    pub delta: [BigUint; 6],
    /// γᵢ/γ for the powers of w that Fp6 is made of, i = 0, 2, 4, with γ = γ₁; or i = 0, 1, 2, with γ = γ₃, for a [`Tower::CUBE`].
    pub gamma_over_odd: [Fp2<BigUint, C>; 3],
    /// ψ(x, y) = (xᵖ·cx, yᵖ·cy) on the twist of the loop, with cx = ξ^(±(p − 1)/3); minus for a twist of type M.
    pub psi_x: Fp2<BigUint, C>,
    /// cy = ξ^(±(p − 1)/2).
    pub psi_y: Fp2<BigUint, C>,
    /// Change of coordinates before the loop, if any.
    pub scale: Option<Scale<C>>,
    /// The same for formulas made for sums of products, if it is another way: to a twist with 9b″ = ξ.
    pub scale_for_sums: Option<Scale<C>>,
    /// 4/3.
    pub four_thirds: BigUint,
}

impl<C: PairingCurve> Constants<C> {
    /// Those of the curve over the field of `N`, with coordinates changed by `mu`.
    pub fn new<N: Number>(mu: Option<N>) -> Self {
        let p_minus_1 = N::modulus() - 1u32;
        let small = |value: u32| N::from_canonical(&value.into()).expect("p is large");
        let invert = |a: N| a.inverse().expect("a small number is not zero mod p");
        let xi = Fp2::<N, C>::new(small(C::K), N::ONE);
        // (p − 1)-th powers of w and s.
        let (of_w, of_s) = match C::CUBE {
            Some(c) => (Fp2::new(small(c), N::ZERO).pow(&(&p_minus_1 / 3u32)), xi.pow(&(&p_minus_1 / 2u32))),
            None => (xi.pow(&(&p_minus_1 / 6u32)), xi.pow(&(&p_minus_1 / 2u32))),
        };
        let of_ww = of_w * of_w;
        let gamma = [Fp2::ONE, of_w, of_ww, of_s, of_w * of_s, of_ww * of_s];
        let invert2 = |a: Fp2<N, C>| a.inverse().expect("a power of ξ is not zero");
        let (of_fp6, of_odd) = if C::CUBE.is_some() { ([0, 1, 2], 3) } else { ([0, 2, 4], 1) };
        let [psi_x, psi_y] = match (C::CUBE, C::TWIST) {
            // The (p − 1)-th powers of w²/ξ and c·s/ξ²: see [`Scale::Twist`].
            (Some(_), _) => {
                let of_xi = xi.pow(&p_minus_1);
                [of_ww * invert2(of_xi), of_s * invert2(of_xi * of_xi)]
            }
            (None, Twist::D) => [of_ww, of_s],
            (None, Twist::M) => [invert2(of_ww), invert2(of_s)],
        };
        Self {
            three_halves: (small(3) * invert(small(2))).to_canonical(),
            third: invert(small(3)).to_canonical(),
            half: invert(small(2)).to_canonical(),
            thirds: [1, 2, 3, 4, 5, 6].map(|n| invert(small(3u32.pow(n))).to_canonical()),
            gamma: gamma.map(Fp2::to_canonical),
            delta: gamma.map(|g| g.norm().to_canonical()),
            gamma_over_odd: of_fp6.map(|i: usize| (gamma[i] * invert2(gamma[of_odd])).to_canonical()),
            psi_x: psi_x.to_canonical(),
            psi_y: psi_y.to_canonical(),
            scale: mu.map(Scale::both),
            scale_for_sums: None,
            four_thirds: (small(4) * invert(small(3))).to_canonical(),
        }
    }

    /// The same with coordinates changed by `mu` for formulas made for sums of products, which makes 9b″ = ξ.
    #[must_use]
    pub fn with_sums<N: Number>(self, mu: N) -> Self {
        Self { scale_for_sums: Some(Scale::both(mu)), ..self }
    }

    /// True if the formulas for elements such as `sample` use the coordinates of [`Constants::scale_for_sums`].
    pub(crate) fn is_scaled_for_sums<F: Fe>(&self, sample: F) -> bool {
        self.scale_for_sums.is_some() && sample.fp2_product() == Fp2Product::Sums
    }

    /// Change of coordinates before the loop for elements such as `sample`.
    pub(crate) fn scale_for<F: Fe>(&self, sample: F) -> Option<&Scale<C>> {
        if self.is_scaled_for_sums(sample) { self.scale_for_sums.as_ref() } else { self.scale.as_ref() }
    }

    /// Those of a curve whose twist is scaled by itself, given κ.
    pub fn with_twist_alone<N: Number>(kappa: Fp2<N, C>) -> Self {
        let squared = kappa.square();
        let scale =
            Scale::TwistAlone { kappa_squared: squared.to_canonical(), kappa_cubed: (squared * kappa).to_canonical() };
        Self { scale: Some(scale), ..Self::new::<N>(None) }
    }

    /// Those of a curve with a [`Tower::CUBE`], given κ.
    pub fn on_twist<N: Number>(kappa: Fp2<N, C>) -> Self {
        let small = |value: u32| N::from_canonical(&value.into()).expect("p is large");
        let c = small(C::CUBE.expect("the tower has one"));
        let k = Fp2::<N, C>::new(small(C::K), N::ONE).norm() * c.inverse().expect("a small number is not zero mod p");
        let squared = kappa.square();
        let scale = Scale::Twist {
            kappa_squared: squared.to_canonical(),
            kappa_cubed: (squared * kappa).to_canonical(),
            minus_three_k: (-(small(3) * k)).to_canonical(),
            k: k.to_canonical(),
            minus_inverse_k: (-k.inverse().expect("k is not zero")).to_canonical(),
        };
        Self { scale: Some(scale), ..Self::new::<N>(None) }
    }
}

/// The untwist-Frobenius-twist endomorphism ψ of the twist of the loop; it is the same on every twist that is scaled in Fp.
pub fn psi<M: Machine, C: PairingCurve>(machine: &M, point: Affine<Fp2<M::Fe, C>>) -> Affine<Fp2<M::Fe, C>> {
    let x = point.x.conjugate_mul(C::constants().psi_x.lift(machine));
    let y = point.y.conjugate_mul(C::constants().psi_y.lift(machine));
    Affine::new(x, y)
}

/// `short` where code in slots is to be short, for a little more gas: parts that are there once, and could be calls. Else `full`.
pub(crate) fn in_short_code<M: Machine, S: Bundle<M::Fe>>(
    machine: &M,
    short: impl FnOnce(&M) -> S,
    full: impl Fn(&M) -> S,
) -> S {
    let if_short = |machine: &M| machine.branch(machine.has(Feature::FieldSlots), short, &full);
    machine.branch(machine.has(Feature::ShortCode), if_short, &full)
}

/// 1 if the product of the pairings e(P, Q) over the first `count` of `pairs`, one to eight, is one, else 0; and `conditions` with
/// what has to hold for every Q to be in G2. Each P must be in G1: ask before.
pub fn pairing_check<M: Machine, C: PairingCurve>(
    machine: &M,
    pairs: &Pairs<M::Fe, C>,
    count: M::Word,
    conditions: Conditions<M::Fe>,
) -> (M::Word, Conditions<M::Fe>) {
    let (f, conditions) = miller_loop(machine, pairs, count, conditions);
    (is_final_exponentiation_one(machine, f), conditions)
}
