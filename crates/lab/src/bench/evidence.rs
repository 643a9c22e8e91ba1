//! The group `evidence`: every contract that replaces a precompile, beside that precompile on the same bytes: gas, times one by one and with
//! batches, the first execution, and the size of the code.
//!
//! [`crate::render::evidence`] makes the page of it, `docs/precompiles.md`. A contract that is new comes into it by itself, with its example.

use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_contracts::{CONTRACTS, Contract};
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::Revision;
use residue_workbench::harness::WrongAnswer;

use crate::bench::beside::{self, Call, Yardstick};
use crate::bench::effort::{Effort, Observer};
use crate::bench::first::{self, First};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::sum_input;
use crate::error::LabError;
use crate::made::{made, made_if_expressible};
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `evidence`.
pub const GROUP: Group = Group {
    name: "evidence",
    summary: "every contract that replaces a precompile, beside it: gas, times, first executions, sizes",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ precompile", Quantity::Time, &["precompile"]),
        Column::microseconds("first µs", Quantity::Cold),
        Column::whole("gas", Quantity::Gas),
        Column::ratio("gas / price", Quantity::Gas, &["precompile"]),
        Column::whole("gas by time", Quantity::GasByTime),
        Column::whole("code bytes", Quantity::CodeSize),
    ],
    missing: none_missing,
    measure,
};

/// Default subjects.
const SUBJECTS: [&str; 3] = ["precompile", "eip6690-2024", "evm"];

/// The contracts that replace precompiles, with the addresses, in the order of these.
pub fn replacements() -> Vec<(u16, &'static Contract)> {
    let replaces = |contract: &'static Contract| Some((contract.precompile?, contract));
    let mut all: Vec<_> = CONTRACTS.iter().filter_map(replaces).collect();
    all.sort_by_key(|(address, _)| *address);
    all
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    measure_those(&replacements(), effort, observer)
}

fn measure_those(
    replacements: &[(u16, &'static Contract)],
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for &(address, contract) in replacements {
        let layers = beside::layers(contract, &effort, observer)?;
        for (what, input) in inputs(contract)? {
            let call = Call { name: &format!("{}/{what}", contract.name), input: &input, layers: &layers };
            let yardstick = Yardstick::precompile(address, &input)?;
            let expected = yardstick.answer.clone();
            rows.extend(call.measure(yardstick, None, &effort, observer)?);
            for (layer, code) in &layers {
                let name = call.name_in(&layer.name);
                rows.push(RecordRow::exact(&name, Quantity::CodeSize, code.len() as f64)); // far below 2⁵³
                // The plain engine plans nothing.
                if layer.engine.config().batching != Batching::Off {
                    let first = First { layer, code, name: &name, input: &input, expected: &expected };
                    let precompile = || beside::by_precompile(address, &input);
                    let baseline = call.name_in(beside::PRECOMPILE);
                    rows.extend(first::rows(&first, (&baseline, precompile), effort.cold_starts)?);
                }
            }
        }
    }
    Ok(rows)
}

/// Gas and code size of a contract on one of its measured inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The contract's name.
    pub contract: &'static str,
    /// Name of the input.
    pub what: String,
    /// Gas that the precompile charges.
    pub price: u64,
    /// Gas and bytes of code under `eip6690-2024`.
    pub gas: u64,
    /// Bytes of code there.
    pub code_bytes: usize,
    /// Gas under `evm`, of contracts that it can express.
    pub evm_gas: Option<u64>,
}

/// Costs of the contracts as built now, on the inputs of the record. An error if an answer is not the precompile's.
pub fn costs() -> Result<Vec<Cost>, LabError> {
    let mut costs = Vec::new();
    for (address, contract) in replacements() {
        let plain = made_if_expressible(contract, Revision::Evm)?;
        let fields = made(contract, Revision::Eip6690_2024)?;
        for (what, input) in inputs(contract)? {
            let native = beside::by_precompile(address, &input)?;
            let gas = |revision, code: &[u8]| {
                let result = Engine::new(EngineConfig::default_for(revision))?.run_code(code, &input, beside::GAS);
                let subject = format!("{revision}/{}/{what}", contract.name);
                if !result.is_success() {
                    return Err(LabError::Halted { subject, halt: result.halt });
                }
                if result.output != native.output {
                    return Err(WrongAnswer { subject, expected: native.output.clone(), got: result.output }.into());
                }
                Ok(result.gas_used)
            };
            costs.push(Cost {
                contract: contract.name,
                price: native.gas_used,
                gas: gas(Revision::Eip6690_2024, &fields.compiled.code)?,
                code_bytes: fields.compiled.code.len(),
                evm_gas: plain.as_ref().map(|plain| gas(Revision::Evm, &plain.compiled.code)).transpose()?,
                what,
            });
        }
    }
    Ok(costs)
}

/// Inputs that a contract is measured on, each with its name: one word, a part of the measurement's name.
fn inputs(contract: &Contract) -> Result<Vec<(String, Vec<u8>)>, LabError> {
    let example = (contract.example)();
    let sums =
        || [1, 16, 128].into_iter().map(|points| Ok((sized(points, "point"), sum_input(contract.name, points)?)));
    Ok(match contract.name {
        // The product of the pairings of the example's two pairs is one, and so is that of four times these.
        "bn254/pairing" | "bls12_381/pairing" => {
            vec![(sized(2, "pair"), example.clone()), (sized(8, "pair"), example.repeat(4))]
        }
        "bls12_381/g1_msm" | "bls12_381/g2_msm" => sums().collect::<Result<_, LabError>>()?,
        "modexp" => powers(),
        "hashes/sha256" | "hashes/ripemd160" => {
            vec![("example".to_owned(), example), (sized(1000, "byte"), vec![1; 1000])]
        }
        _ => vec![("example".to_owned(), example)],
    })
}

fn sized(number: usize, what: &str) -> String {
    format!("{number}-{what}{}", if number == 1 { "" } else { "s" })
}

/// Calldata of EIP-198: an inverse in the field of BN254, numbers at random with an exponent as wide as the modulus, and the check of an RSA
/// signature.
fn powers() -> Vec<(String, Vec<u8>)> {
    let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6500);
    let mut number = |bits: usize| {
        let mut bytes = vec![0; bits / 8];
        random.fill_bytes(&mut bytes);
        bytes[0] |= 0x80;
        bytes[bits / 8 - 1] |= 1;
        BigUint::from_bytes_be(&bytes)
    };
    let p = residue_curves::bn254::modulus();
    let mut inputs =
        vec![("inverse-in-bn254".to_owned(), power(&(number(256) % &p), &(&p - BigUint::from(2_u8)), &p, 32))];
    for bits in [256, 384, 768] {
        inputs.push((format!("{bits}-bits"), power(&number(bits), &number(bits), &number(bits), bits / 8)));
    }
    inputs.push(("rsa-2048".to_owned(), power(&number(2048), &BigUint::from(65_537_u32), &number(2048), 256)));
    inputs
}

/// Base, exponent and modulus after their lengths; base and modulus are of so many bytes.
fn power(base: &BigUint, exponent: &BigUint, modulus: &BigUint, bytes: usize) -> Vec<u8> {
    let padded = |number: &BigUint, bytes: usize| {
        let number = number.to_bytes_be();
        [vec![0; bytes - number.len()], number].concat()
    };
    let exponent = exponent.to_bytes_be();
    let lengths = [bytes, exponent.len(), bytes].map(|length| padded(&BigUint::from(length), 32));
    [&lengths.concat(), &padded(base, bytes), &exponent, &padded(modulus, bytes)].map(Vec::as_slice).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_measured_in_every_way() {
        const SOME: [&str; 4] = ["hashes/ripemd160", "modexp", "bn254/add", "bls12_381/g1_add"];
        let some: Vec<_> = replacements().into_iter().filter(|(_, contract)| SOME.contains(&contract.name)).collect();
        assert_eq!(some.len(), SOME.len());
        let rows = measure_those(&some, &Effort::SMOKE, &mut |_| ()).unwrap();
        for (_, contract) in some {
            for (what, _) in inputs(contract).unwrap() {
                let has = |layer: &str, quantity, baseline: Option<&str>| {
                    let name = format!("{layer}/{}/{what}", contract.name);
                    let baseline = baseline.map(|layer| format!("{layer}/{}/{what}", contract.name));
                    let is_it =
                        |row: &&RecordRow| row.name == name && row.quantity == quantity && row.baseline == baseline;
                    assert!(rows.iter().any(|row| is_it(&row)), "{name} has no {quantity}");
                };
                has("precompile", Quantity::Gas, None);
                has("precompile", Quantity::Time, None);
                for layer in ["eip6690-2024:plain", "eip6690-2024:batch"] {
                    has(layer, Quantity::Gas, None);
                    has(layer, Quantity::Time, Some("precompile"));
                    has(layer, Quantity::GasByTime, None);
                    has(layer, Quantity::CodeSize, None);
                }
                has("eip6690-2024:batch", Quantity::Cold, Some("precompile"));
                let bits = contract.program().units().map(|unit| unit.modulus.bits()).max();
                if bits <= Some(256) {
                    has("evm:plain", Quantity::Gas, None);
                    has("evm:plain", Quantity::Time, Some("precompile"));
                }
            }
        }
    }

    #[test]
    fn every_replacement_has_inputs_that_its_precompile_answers() {
        for (address, contract) in replacements() {
            for (what, input) in inputs(contract).unwrap() {
                assert!(!Yardstick::precompile(address, &input).unwrap().answer.is_empty(), "{}/{what}", contract.name);
            }
        }
    }

    #[test]
    fn powers_are_what_they_say() {
        let inputs = powers();
        let (_, inverse) = &inputs[0];
        assert_eq!(inverse.len(), 96 + 96);
        let part = |at: usize| BigUint::from_bytes_be(&inverse[at..at + 32]);
        assert_eq!(part(128) + 2_u8, part(160));
        assert_eq!(inputs[3].1.len(), 96 + 3 * 96);
    }
}
