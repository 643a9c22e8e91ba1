//! The calls that are measured, each with its code for each form and the answer of the native library.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_compiler::Dialect;
use residue_contracts::verifier::{Verifier, VerifierOptions};
use residue_contracts::{CONTRACTS, Source, groth16};
use residue_engine::{Engine, EngineConfig, Fork, native};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::{Variant, trials};

use crate::machine::{CALL_BYTES_MAX, Form};

/// More gas than any call takes.
const GAS: u64 = 1 << 40;
/// Pairs of the sum of products.
const POINTS: u32 = 16;

/// A call by its name in tables, the precompile that it is of, and the contract in its place.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Its name in records, and that in tables.
    pub names: [&'static str; 2],
    /// The contract for field instructions, and that for today's EVM.
    contracts: [&'static str; 2],
    /// The library that the guest's native code is.
    pub library: &'static str,
    input: fn(&dyn Source) -> Result<Vec<u8>>,
}

/// One call with its codes.
#[derive(Debug)]
pub struct Call {
    /// Calldata.
    pub calldata: Vec<u8>,
    /// The precompile's address, or 0 and bytecode that calls precompiles; none if it is neither.
    native: Option<(u16, Vec<u8>)>,
    /// Bytecode with the instructions of EIP-6690.
    fields: Vec<u8>,
    /// Bytecode for today's EVM; none if it cannot express the call.
    words: Option<Vec<u8>>,
    /// The answer of the native library of this machine.
    pub answer: Vec<u8>,
}

/// All, in the order of tables; the first ones are the quickest.
pub const SUBJECTS: [Subject; 9] = [
    Subject { names: ["poseidon", "Poseidon T3"], contracts: ["poseidon/t3"; 2], library: "none", input: example },
    Subject { names: ["g1-add", "G1ADD"], contracts: ["bls12_381/g1_add"; 2], library: "arkworks 0.6", input: example },
    Subject { names: ["ec-mul", "ECMUL"], contracts: ["bn254/mul"; 2], library: "arkworks 0.6", input: example },
    Subject {
        names: ["modexp-256", "MODEXP 256"],
        contracts: ["modexp", "modexp/words"],
        library: "aurora-engine-modexp 1.2",
        input: power,
    },
    Subject {
        names: ["ec-recover", "ECRECOVER"],
        contracts: ["secp256k1/recover"; 2],
        library: "k256 0.13",
        input: example,
    },
    Subject { names: ["p256", "P256VERIFY"], contracts: ["p256/verify"; 2], library: "p256 0.13", input: example },
    Subject {
        names: ["g1-msm-16", "G1MSM 16"],
        contracts: ["bls12_381/g1_msm"; 2],
        library: "arkworks 0.6",
        input: products,
    },
    Subject {
        names: ["pairing-2", "pairing k = 2"],
        contracts: ["bls12_381/pairing"; 2],
        library: "arkworks 0.6",
        input: example,
    },
    Subject {
        names: ["groth16", "Groth16"],
        contracts: [groth16::SYSTEM.name; 2],
        library: "arkworks 0.6, by five precompile calls",
        input: proof,
    },
];

/// The verifying key of `examples/groth16`, on BN254 with two inputs, and a proof that holds.
const KEY: &str = include_str!("../../../examples/groth16/key.json");
const PROOF: [&str; 2] =
    [include_str!("../../../examples/groth16/proof.json"), include_str!("../../../examples/groth16/public.json")];

fn example(source: &dyn Source) -> Result<Vec<u8>> {
    Ok(source.example())
}

fn verifier() -> Result<Arc<dyn Verifier>> {
    Ok((groth16::SYSTEM.verifier)(KEY, VerifierOptions::default())?)
}

fn proof(_: &dyn Source) -> Result<Vec<u8>> {
    let [proof, inputs] = PROOF;
    Ok(verifier()?.call(proof, inputs)?)
}

/// A base, an exponent and an odd modulus of 256 bits, chosen at random with the highest bit set, as EIP-198 has them.
fn power(_: &dyn Source) -> Result<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6501);
    let mut length = [0; 32];
    length[31] = 32;
    let mut calldata = length.repeat(3);
    for _ in 0..3 {
        let mut number = [0; 32];
        random.fill_bytes(&mut number);
        number[0] |= 0x80;
        number[31] |= 1;
        calldata.extend(number);
    }
    Ok(calldata)
}

/// The example's point G as G, 2G, … 16G, each with a scalar of 255 bits chosen at random.
fn products(source: &dyn Source) -> Result<Vec<u8>> {
    const POINT_BYTES: usize = 128;
    let mut random = ChaCha8Rng::seed_from_u64(0x7265_7369_6475_6502);
    let example = source.example();
    let generator = example.get(..POINT_BYTES).context("the example has a point")?;
    let (mut point, mut calldata) = (generator.to_vec(), Vec::new());
    for _ in 0..POINTS {
        let mut scalar = [0; 32];
        random.fill_bytes(&mut scalar);
        scalar[0] &= 0x7f;
        calldata.extend_from_slice(&point);
        calldata.extend(scalar);
        point = native::precompile(Fork::default(), 0x0b, &[&point, generator].concat(), GAS)?.output;
    }
    Ok(calldata)
}

impl Subject {
    /// The subject of a name in records. An error that names all of them if there is none.
    pub fn named(name: &str) -> Result<&'static Self> {
        let names: Vec<&str> = SUBJECTS.iter().map(|subject| subject.names[0]).collect();
        let found = SUBJECTS.iter().find(|subject| subject.names[0] == name);
        found.with_context(|| format!("unknown subject {name:?}; there are {}", names.join(", ")))
    }

    /// Compiles the call and computes its answer. An error if this machine's engine answers otherwise.
    pub fn call(&self) -> Result<Call> {
        let [fields, words] = self.contracts.map(source);
        let (fields, words) = (fields?, words?);
        let calldata = (self.input)(&*fields)?;
        let native = match fields.precompile() {
            Some(address) => Some((address, Vec::new())),
            None if self.calls_precompiles() => code_of(&*fields, Revision::Evm, true)?.map(|code| (0, code)),
            None => None,
        };
        let answer = match &native {
            Some((0, code)) => answer_of(Revision::Evm, code, &calldata)?,
            Some((address, _)) => native::precompile(Fork::default(), *address, &calldata, GAS)?.output,
            None => evaluated(&*fields, &calldata)?,
        };
        let code = code_of(&*fields, Revision::Eip6690_2024, false)?;
        let code = code.context("field instructions express every contract")?;
        let words = code_of(&*words, Revision::Evm, false)?;
        Call { calldata, native, fields: code, words, answer }.agrees(self.names[1])
    }

    /// True for what takes precompiles where it may.
    fn calls_precompiles(&self) -> bool {
        self.contracts[0] == groth16::SYSTEM.name
    }
}

fn source(name: &'static str) -> Result<Arc<dyn Source>> {
    if name == groth16::SYSTEM.name {
        return Ok(verifier()?);
    }
    let contract = CONTRACTS.iter().find(|contract| contract.name == name);
    Ok(Arc::new(*contract.with_context(|| format!("there is no contract {name}"))?))
}

/// The program's meaning, without code: what stands in for a native library where the call has none.
fn evaluated(source: &dyn Source, calldata: &[u8]) -> Result<Vec<u8>> {
    let found = residue_workbench::session::evaluate(&source.program(), calldata, u64::MAX)?;
    let output = found.get("output").and_then(|output| output.as_str()).context("the evaluator returns bytes")?;
    hex::decode(output.trim_start_matches("0x")).context("hexadecimal digits")
}

fn code_of(source: &dyn Source, revision: Revision, precompiles: bool) -> Result<Option<Vec<u8>>> {
    let dialect = Dialect { precompiles, ..Dialect::default() };
    match trials(source, Variant::all(), revision, &GasSchedule::default_for(revision)?, dialect) {
        Err(error) if error.is_inexpressible() => Ok(None),
        trials => Ok(Some(trials?.swap_remove(0).compiled.code)),
    }
}

fn answer_of(revision: Revision, code: &[u8], calldata: &[u8]) -> Result<Vec<u8>> {
    let result = Engine::new(EngineConfig::default_for(revision))?.run_code(code, calldata, GAS);
    ensure!(result.is_success(), "code for {revision} ends with {}", result.halt);
    Ok(result.output)
}

impl Call {
    /// Itself, after this machine's engine has answered the same.
    fn agrees(self, name: &str) -> Result<Self> {
        for (revision, code) in [(Revision::Eip6690_2024, Some(&self.fields)), (Revision::Evm, self.words.as_ref())] {
            let Some(code) = code else { continue };
            ensure!(answer_of(revision, code, &self.calldata)? == self.answer, "{name}: {revision} answers otherwise");
        }
        ensure!(self.answer.iter().any(|byte| *byte != 0), "{name}: the answer is nothing but zeros");
        Ok(self)
    }

    /// The answer that a form must give: the calldata where it runs no code.
    pub fn expected(&self, form: Form) -> &Vec<u8> {
        if matches!(form, Form::Ready | Form::Analysis) { &self.calldata } else { &self.answer }
    }

    /// Address and code of a form; none if the call has none, or one that is too long for the guest.
    pub fn code(&self, form: Form) -> Option<(u16, &[u8])> {
        match form {
            Form::Native => self.native.as_ref().map(|(address, code)| (*address, &code[..])),
            Form::Ready | Form::Analysis | Form::Software | Form::Calls => Some((0, &self.fields)),
            Form::Words | Form::WordsByCalls => {
                let fits = |code: &&[u8]| code.len() + self.calldata.len() <= CALL_BYTES_MAX;
                self.words.as_deref().filter(fits).map(|code| (0, code))
            }
        }
    }
}
