//! Contracts on secp256k1.

pub mod recover;

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::chain::pow_constant;
use residue_curves::fixed_base::Sums;
use residue_curves::secp256k1::{self, constants};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, Variable, WordOp};
use residue_modular::fields::Secp256k1Fp;
use ruint::aliases::U256;

/// Scalars u and v of a sum u·G + v·P in words: u as it is, u as [`secp256k1::sum`] takes it, and v.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalars {
    pub u: Variable,
    pub u_moved: Variable,
    pub v: Variable,
}

impl Scalars {
    pub(crate) fn new<M: Machine>(machine: &M) -> Self {
        let [u, u_moved, v] = ["u", "u_moved", "v"].map(|name| machine.variable(name, machine.small(0)));
        Self { u, u_moved, v }
    }

    /// Sets them, modulo n.
    pub(crate) fn set<M: Machine>(self, machine: &M, u: M::Fe, v: M::Fe) {
        let moved = u - machine.constant(&secp256k1::offset());
        for (variable, value) in [(self.u, u), (self.u_moved, moved), (self.v, v)] {
            machine.set(variable, machine.word_of(value, 0));
        }
    }

    /// u·G + v·P in affine coordinates; `identity` is done if it is the identity, and must end the program.
    pub(crate) fn affine_sum<M: Machine>(
        self,
        machine: &M,
        point: Affine<M::Fe>,
        identity: impl FnOnce(&M),
    ) -> Affine<M::Fe> {
        let sum = secp256k1::sum(machine, machine.get(self.u_moved), machine.get(self.v), point);
        // Jacobian coordinates of what complete formulas give in homogeneous ones: (X·Z, Y·Z², Z).
        let (x, y, z) = machine.branch(
            machine.is_zero(sum.z),
            |machine| {
                let [u, v] = [self.u, self.v].map(|scalar| machine.bind(machine.get(scalar)));
                let sum = secp256k1::complete(machine, u, v, point);
                machine.branch(machine.is_zero(sum.z), identity, |_| ());
                (sum.x * sum.z, sum.y * sum.z.square(), sum.z)
            },
            |_| (sum.x, sum.y, sum.z),
        );
        let inverse = secp256k1::invert(machine, z);
        let square = inverse.square();
        Affine::new(x * square, y * (square * inverse))
    }
}

/// a⁻¹ modulo n, by an instruction where there is one.
pub(crate) fn inverse_of_scalar<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, |_, a| pow_constant(a, &(&constants().order - 2u32)))
}

/// p and n as words.
pub(crate) fn moduli<M: Machine>(machine: &M) -> [M::Word; 2] {
    [&Secp256k1Fp::modulus(), &constants().order].map(|value| machine.word(U256::from_be_slice(&value.to_bytes_be())))
}

/// 1 if 0 < word < n.
pub(crate) fn is_scalar<M: Machine>(machine: &M, value: M::Word) -> M::Word {
    let last = U256::from_be_slice(&(&constants().order - 1u32).to_bytes_be());
    let one_less = machine.word_op(WordOp::Sub, value, machine.small(1));
    machine.word_op(WordOp::Lt, one_less, machine.word(last))
}

/// k·G, for examples.
pub(crate) fn multiple(k: &BigUint) -> Affine<Secp256k1Fp> {
    let element = |value| Secp256k1Fp::from_canonical(value).expect("it is below p");
    let Affine { x, y } = &constants().generator;
    let sums = Sums { a: Secp256k1Fp::ZERO };
    sums.multiple(k, Affine::new(element(x), element(y))).expect("it is not a multiple of n")
}
