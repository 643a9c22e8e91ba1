//! Contracts on secp256k1.

pub mod recover;

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::fixed_base::Sums;
use residue_curves::secp256k1::{self, constants};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, ModOp, Variable, WordOp};
use residue_modular::fields::Secp256k1Fp;
use ruint::aliases::U256;

/// Scalars u and v of a sum u·G + v·P in words: u as [`secp256k1::sum`] takes it, and v.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalars {
    u_moved: Variable,
    v: Variable,
}

impl Scalars {
    pub(crate) fn new<M: Machine>(machine: &M) -> Self {
        let [u_moved, v] = ["u_moved", "v"].map(|name| machine.variable(name, machine.small(0)));
        Self { u_moved, v }
    }

    /// Sets them, modulo n.
    pub(crate) fn set<M: Machine>(self, machine: &M, u: M::Fe, v: M::Fe) {
        let (offset, scale) = secp256k1::to_digits();
        let moved = (u - machine.constant(&offset)) * machine.constant(&scale);
        for (variable, value) in [(self.u_moved, moved), (self.v, v)] {
            machine.set(variable, machine.word_of(value, 0));
        }
    }

    /// Of words, modulo n.
    pub(crate) fn of_words<M: Machine>(machine: &M, u: M::Word, v: M::Word) -> Self {
        let (offset, scale) = secp256k1::to_digits();
        let n = &constants().order;
        let [opposite, scale, n] = [&(n - offset), &scale, n].map(|value| constant_word(machine, value));
        let moved = machine.mod_op(ModOp::Mul, scale, machine.mod_op(ModOp::Add, opposite, u, n), n);
        Self { u_moved: machine.variable("u_moved", moved), v: machine.variable("v", v) }
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
                let [moved, v] = [self.u_moved, self.v].map(|scalar| machine.bind(machine.get(scalar)));
                let u = machine.bind(as_it_was(machine, moved));
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

/// u, given what [`Scalars::set`] makes of it.
fn as_it_was<M: Machine>(machine: &M, moved: M::Word) -> M::Word {
    let (offset, scale) = secp256k1::to_digits();
    let n = &constants().order;
    let back = scale.modinv(n).expect("n is prime");
    let [offset, back, n] = [&offset, &back, n].map(|value| constant_word(machine, value));
    machine.mod_op(ModOp::Add, machine.mod_op(ModOp::Mul, moved, back, n), offset, n)
}

/// p and n as words.
pub(crate) fn moduli<M: Machine>(machine: &M) -> [M::Word; 2] {
    [&Secp256k1Fp::modulus(), &constants().order].map(|value| constant_word(machine, value))
}

/// A number below 2²⁵⁶ as a word.
fn constant_word<M: Machine>(machine: &M, value: &BigUint) -> M::Word {
    machine.word(U256::from_be_slice(&value.to_bytes_be()))
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
