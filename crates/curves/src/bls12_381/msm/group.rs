//! Group-specific parts of an MSM in G1 and in G2.

use super::digits::quarters;
use super::offsets::{G1_OFFSETS, G2_OFFSETS, Offsets};
use super::{Msm, units};
use crate::bls12_381::Fp2;
use crate::bls12_381::constants::constants;
use crate::bls12_381::groups::{G1, G2, Group};
use crate::bls12_381::torsion::ConstantCoordinate;
use crate::bls12_381::{g1, g2};
use crate::conditions::Conditions;
use crate::group::{Addend, Affine, Jacobian};
use residue_formula::Number;
use residue_ir::{Bundle, Machine};
use residue_modular::fields::Bls12_381Fp;

/// Names of the functions of a group; those of two, by window.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// Doublings up to the next window, and its additions to buckets.
    pub step: [&'static str; 2],
    /// Half of a quarter.
    pub half: [&'static str; 2],
    /// A quarter and its image.
    pub chain: [&'static str; 2],
    /// The additions to buckets.
    pub scatter: [&'static str; 2],
    /// One doubling, and three.
    pub double: [&'static str; 2],
    /// A sum.
    pub add: &'static str,
    /// A turn of the running sums.
    pub turn: &'static str,
}

/// Group-specific parts of an MSM.
pub trait MsmGroup<M: Machine>: Group<M> + Sized {
    /// Coordinates of constant points.
    type Constant: ConstantCoordinate + 'static;

    /// The check ends with z^CHAINS·P, after CHAINS chains of 64 doublings.
    const CHAINS: u32;

    /// Names of functions.
    const NAMES: Names;

    /// Slots for sums of few products: empty for a group with buckets in memory.
    type Sums: Bundle<M::Fe> + Copy;

    /// Empties the buckets in memory of a sum of few products, if it has them.
    fn clear_few(machine: &M, few: &Msm<M, Self>);

    /// Initial slots of a sum of few products.
    fn start_few(machine: &M) -> Self::Sums;

    /// Common part of a scalar for both ways.
    fn shared(machine: &M, scalar: M::Word) -> M::Word;

    /// The quarters of a scalar, as [`quarters`] has them, from what is shared.
    fn quarters(machine: &M, shared: M::Word) -> M::Word;

    /// P ↦ z^CHAINS·P, with what is added to a sum of few products, from what is shared of a scalar.
    fn multiply_few(
        machine: &M,
        few: &Msm<M, Self>,
        shared: M::Word,
        point: Affine<Self::Coordinate>,
        sums: Self::Sums,
    ) -> (Jacobian<Self::Coordinate>, Self::Sums);

    /// A sum of few products; Z = 0 if it is the identity.
    fn finish_few(machine: &M, few: &Msm<M, Self>, sums: Self::Sums) -> Jacobian<Self::Coordinate>;

    /// Initial values of the sums.
    fn offsets() -> &'static Offsets<Self::Constant>;

    /// A constant coordinate as one of the program.
    fn lift(machine: &M, value: Self::Constant) -> Self::Coordinate;

    /// P, z^CHAINS·P, z^(2·CHAINS)·P … below z⁴, for P in the group.
    fn images(machine: &M, point: Addend<Self::Coordinate>) -> Vec<Addend<Self::Coordinate>>;

    /// Conditions that hold exactly if `point` lies on the curve and in the group, given `multiple` = z^CHAINS·P from
    /// the chain.
    fn membership(
        machine: &M,
        point: Affine<Self::Coordinate>,
        multiple: Jacobian<Self::Coordinate>,
    ) -> Conditions<M::Fe>;
}

impl<M: Machine> MsmGroup<M> for G1 {
    type Constant = Bls12_381Fp;

    const CHAINS: u32 = 2;
    const NAMES: Names = Names {
        step: ["g1_step_4", "g1_step_8"],
        half: ["g1_half_4", "g1_half_8"],
        chain: ["g1_chain_4", "g1_chain_8"],
        scatter: ["g1_scatter_4", "g1_scatter_8"],
        double: ["g1_double", "g1_double_3"],
        add: "g1_add",
        turn: "g1_turn",
    };

    type Sums = ();

    fn clear_few(machine: &M, few: &Msm<M, G1>) {
        few.clear(machine);
    }

    fn start_few(_: &M) {}

    fn shared(machine: &M, scalar: M::Word) -> M::Word {
        quarters(machine, scalar)
    }

    fn quarters(_: &M, shared: M::Word) -> M::Word {
        shared
    }

    fn multiply_few(
        machine: &M,
        few: &Msm<M, G1>,
        shared: M::Word,
        point: Affine<M::Fe>,
        (): (),
    ) -> (Jacobian<M::Fe>, ()) {
        (few.multiply(machine, shared, point), ())
    }

    fn finish_few(machine: &M, few: &Msm<M, G1>, (): ()) -> Jacobian<M::Fe> {
        few.finish(machine)
    }

    fn offsets() -> &'static Offsets<Bls12_381Fp> {
        &G1_OFFSETS
    }

    fn lift(machine: &M, value: Bls12_381Fp) -> M::Fe {
        machine.constant(&value.to_canonical())
    }

    /// z²·(x, y) = −φ(x, y) = (β·x, −y).
    fn images(machine: &M, point: Addend<M::Fe>) -> Vec<Addend<M::Fe>> {
        let beta = machine.constant(&constants().beta);
        vec![point, Addend { x: point.x * beta, ..point }.negated()]
    }

    fn membership(machine: &M, point: Affine<M::Fe>, multiple: Jacobian<M::Fe>) -> Conditions<M::Fe> {
        g1::membership_from_multiple(machine, point, multiple)
    }
}

impl<M: Machine> MsmGroup<M> for G2 {
    type Constant = Fp2<Bls12_381Fp>;

    const CHAINS: u32 = 1;
    const NAMES: Names = Names {
        step: ["g2_step_4", "g2_step_8"],
        half: ["g2_half_4", "g2_half_8"],
        chain: ["g2_chain_4", "g2_chain_8"],
        scatter: ["g2_scatter_4", "g2_scatter_8"],
        double: ["g2_double", "g2_double_3"],
        add: "g2_add",
        turn: "g2_turn",
    };

    type Sums = units::Sums<M::Fe>;

    fn clear_few(_: &M, _: &Msm<M, G2>) {}

    fn start_few(machine: &M) -> Self::Sums {
        units::start(machine)
    }

    fn shared(_: &M, scalar: M::Word) -> M::Word {
        scalar
    }

    fn quarters(machine: &M, shared: M::Word) -> M::Word {
        quarters(machine, shared)
    }

    fn multiply_few(
        machine: &M,
        _: &Msm<M, G2>,
        shared: M::Word,
        point: Affine<Fp2<M::Fe>>,
        sums: Self::Sums,
    ) -> (Jacobian<Fp2<M::Fe>>, Self::Sums) {
        units::add(machine, shared, point, sums)
    }

    fn finish_few(machine: &M, _: &Msm<M, G2>, sums: Self::Sums) -> Jacobian<Fp2<M::Fe>> {
        units::finish(machine, sums)
    }

    fn offsets() -> &'static Offsets<Fp2<Bls12_381Fp>> {
        &G2_OFFSETS
    }

    fn lift(machine: &M, value: Fp2<Bls12_381Fp>) -> Fp2<M::Fe> {
        value.to_canonical().lift(machine)
    }

    /// z·(x, y) = −ψ(x, y) = (xᵖ·cx, −yᵖ·cy), and z²·(x, y) = ψ²(x, y) = (cx^(p + 1)·x, −y), since cy^(p + 1) = −1.
    fn images(machine: &M, point: Addend<Fp2<M::Fe>>) -> Vec<Addend<Fp2<M::Fe>>> {
        let cx = constants().pairing.psi_x.lift(machine);
        let cy = constants().pairing.psi_y.lift(machine);
        let norm = cx.norm();
        let once = Addend {
            x: point.x.conjugate_mul(cx),
            y: point.y.conjugate_times(cy.multiplicand()),
            is_negated: !point.is_negated,
            ..point
        };
        let twice = Addend { x: point.x.scale(norm), ..point }.negated();
        vec![point, once, twice, Addend { x: once.x.scale(norm), ..once }.negated()]
    }

    fn membership(machine: &M, point: Affine<Fp2<M::Fe>>, multiple: Jacobian<Fp2<M::Fe>>) -> Conditions<M::Fe> {
        g2::membership_from_chain(machine, point, multiple)
    }
}
