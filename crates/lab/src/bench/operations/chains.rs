//! Chains of single operations as programs of ours, for bytecode and WebAssembly: the counterpart of a library's own
//! loop.
//!
//! Elements come and go as EIP-2537 encodes them. A turn of the loop holds several operations, so that what is measured is
//! the operation and not the loop.

use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::inverse_power;
use residue_curves::bls12_381::{Fp2, Fp6, Fp12};
use residue_ir::{Bundle, Machine, Program, record};

use super::{Operation, inputs};

/// Bytes of an encoded element.
const ELEMENT_BYTES: u32 = 64;

/// The chain of an operation on field elements; nothing for other operations.
pub(super) fn program(operation: Operation) -> Option<Program> {
    let is_chain = inputs::turns(operation) > 1;
    is_chain.then(|| record("chain", &modulus(), |machine| text(machine, operation)))
}

fn text<M: Machine>(machine: &M, operation: Operation) {
    match operation {
        Operation::FpAdd => chain(machine, operation, 50, |_, x: M::Fe, y| x + y),
        Operation::FpMul => chain(machine, operation, 50, |_, x: M::Fe, y| x * y),
        Operation::FpInverse => chain(machine, operation, 1, |machine, x: M::Fe, y| inverse_power(machine, x) + y),
        Operation::Fp2Mul => chain(machine, operation, 10, |_, x: Fp2<M::Fe>, y| x * y),
        Operation::Fp12Mul => chain(machine, operation, 1, |_, x: Halves<M::Fe>, y| {
            let whole = |(even, odd)| Fp12::from_even_and_odd(even, odd);
            (whole(x) * whole(y)).even_and_odd()
        }),
        _ => unreachable!("only operations on field elements are done more than once"),
    }
}

/// An element of Fp12 as it is encoded: the halves of the tower Fp2, Fp6, Fp12.
type Halves<F> = (Fp6<F>, Fp6<F>);

/// Parses x and y, takes as many steps as the operation's chain has, `step_count` of them in a turn, and returns the last.
fn chain<M: Machine, B: Bundle<M::Fe> + Copy>(
    machine: &M,
    operation: Operation,
    step_count: u32,
    step: impl Fn(&M, B, B) -> B,
) {
    let element = |number: u32| machine.parse(machine.small(u64::from(number * ELEMENT_BYTES)), ELEMENT_BYTES);
    let elements = u32::try_from(B::LEN).expect("an element of Fp12 has twelve");
    let x = B::from_list((0..elements).map(element).collect());
    let y = B::from_list((elements..2 * elements).map(element).collect());
    let turns = inputs::turns(operation) / step_count;
    let z = machine
        .repeat(machine.small(turns.into()), x, |machine, _, x| (0..step_count).fold(x, |x, _| step(machine, x, y)));
    machine.return_elements(z, ELEMENT_BYTES);
}
