//! Our own numbers as a native library: the field arithmetic that the plain engine runs on.

use num_bigint::BigUint;
use residue_formula::Number;
use residue_modular::fields::Bls12_381Fp;

use super::{Operation, Run, inputs};

/// Our way to compute an operation of Fp.
pub(super) fn run(operation: Operation, input: &[u8]) -> Option<Run<'static>> {
    match operation {
        Operation::FpAdd => chain(operation, input, |x, y| x + y),
        Operation::FpMul => chain(operation, input, |x, y| x * y),
        Operation::FpInverse => chain(operation, input, |x, y| x.inverse().unwrap_or(Bls12_381Fp::ZERO) + y),
        _ => None,
    }
}

/// Steps from the first element of the input, each with the second.
fn chain(
    operation: Operation,
    input: &[u8],
    step: impl Fn(Bls12_381Fp, Bls12_381Fp) -> Bls12_381Fp + 'static,
) -> Option<Run<'static>> {
    let element = |bytes: &[u8]| Bls12_381Fp::from_canonical(&BigUint::from_bytes_be(bytes));
    let (x, y) = (element(&input[..64])?, element(&input[64..128])?);
    Some(Box::new(move || {
        let value = (0..inputs::turns(operation)).fold(x, |value, _| step(value, y));
        let digits = value.to_canonical().to_bytes_be();
        [vec![0; 64 - digits.len()], digits].concat()
    }))
}
