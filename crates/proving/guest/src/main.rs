//! Runs one call, natively or as bytecode, on a RISC-V without an operating system, and hands the answer to the emulator.
//!
//! The call arrives as bytes: the number of a form ([`Form::ALL`]), the address of a precompile in two bytes and the length of the code in
//! four, the least first, code, calldata. `crates/proving/src/machine.rs` is the other side.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

mod evm;
mod fields;
mod form;
#[allow(unsafe_code, reason = "memory, and calls of the machine, are below the language")]
mod machine;

use alloc::vec::Vec;

use form::Form;
use machine::{calls, memory};
use residue_engine::accelerators;
use residue_engine::revm::precompile::{PrecompileOutput, PrecompileSpecId, PrecompileStatus, Precompiles};
use residue_engine::revm::primitives::Address;

/// Bytes before code and calldata.
const HEADER: usize = 7;

/// The answer to a call; none if it fails.
fn answer(call: &'static [u8]) -> Option<Vec<u8>> {
    let (header, rest) = call.split_at_checked(HEADER)?;
    let length = u32::from_le_bytes(header[3..].try_into().ok()?);
    let (code, calldata) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    match *Form::ALL.get(usize::from(header[0]))? {
        Form::Native if code.is_empty() => {
            let mut address = [0; 20];
            address[18..].copy_from_slice(&[header[2], header[1]]);
            native(&Address::from(address), calldata, u64::MAX).map(|output| output.bytes.to_vec())
        }
        Form::Calls => {
            accelerators::install(calls::ACCELERATORS);
            fields::run(Form::Calls, code, calldata)
        }
        form @ (Form::Ready | Form::Analysis | Form::Software) => fields::run(form, code, calldata),
        form => evm::run(form, code, calldata),
    }
}

/// Output and gas of Osaka's precompile at an address; none if there is no such precompile, or it fails.
fn native(address: &Address, calldata: &[u8], gas: u64) -> Option<PrecompileOutput> {
    let precompile = Precompiles::new(PrecompileSpecId::OSAKA).get(address)?;
    let output = precompile.execute(calldata, gas, 0).ok()?;
    (output.status == PrecompileStatus::Success).then_some(output)
}

/// Begins after the stack is set up.
extern "C" fn start() -> ! {
    match answer(memory::input()) {
        Some(answer) => calls::end_with(&answer),
        None => calls::exit(1),
    }
}
