//! The options that update 5 of EVM384 prices besides, run on version 7: ways to copy a value, to invert one and to take its
//! square root. What an instruction for the last two would take is the time of blst's routine.
//!
//! Rows are `layer/operation/way`. Copies count with their pushes; inverses and roots without what brings a value in and out,
//! which a program of its own does, so that it can be taken away.

use blst::blst_fp;
use num_bigint::BigUint;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{g1, inverse_power};
use residue_engine::{Batching, Engine, EngineConfig};
use residue_ir::{Machine, Program, record};
use residue_isa::opcode::evm as op;
use residue_isa::{Assembly, FieldInstruction, FieldOp, GasSchedule, ModulusAt, Revision};
use residue_workbench::harness::{Subject, interleave};
use residue_workbench::statistics::per_thing;

use super::{GAS, number, warmed};
use crate::error::LabError;
use crate::native::field::NativeField;
use crate::native::group::{inverse, square_root};
use crate::opcodes::{assembled, to_be};
use crate::record::{Quantity, RecordRow};

const REVISION: Revision = Revision::Evm384V7;
/// The models that gas is told under.
const MODELS: [&str; 2] = ["model-a", "model-b"];
/// Bytes of a value.
const VALUE: u64 = 48;
/// Copies in a program, and native operations in a run, so that neither is too short to be measured.
const COPIES: usize = 400;
const CHAIN: usize = 16;
/// The precompile MODEXP.
const MODEXP: u8 = 5;
/// Ways to copy: two overlapping words, one range, a sum with zero.
pub(crate) const COPY_WAYS: [&str; 3] = ["mload", "mcopy", "addmod"];
/// Operations that an instruction is missing for.
pub(crate) const OPERATIONS: [&str; 2] = ["inverse", "root"];

/// The rows of all ways.
pub(super) fn options(rounds: usize) -> Result<Vec<RecordRow>, LabError> {
    let mut rows = Vec::new();
    copies(rounds, &mut rows)?;
    for operation in OPERATIONS {
        chains(operation, rounds, &mut rows)?;
    }
    Ok(rows)
}

fn engine(schedule: &str, batching: Batching) -> Result<Engine, LabError> {
    let config = EngineConfig::new(REVISION, GasSchedule::named(schedule, REVISION)?);
    Ok(Engine::new(EngineConfig { batching, ..config })?)
}

/// A subject with its gas.
fn subject(engine: &Engine, name: &str, code: &[u8], input: &[u8], expected: &[u8]) -> (Subject<'static>, u64) {
    let gas = engine.run_code(code, input, GAS).gas_used;
    let (mut prepared, input) = (engine.prepare(code), input.to_vec());
    (Subject::new(name, expected, move || prepared.run_without_memory(&input, GAS).output), gas)
}

/// Code that copies a value to many places and returns the last, or without a way the value. Memory reaches its end first,
/// so that no copy pays for growth. Calldata is the modulus, the value and zero.
fn copy_program(way: Option<&str>) -> Result<Vec<u8>, LabError> {
    let places = (0..COPIES as u64).map(|copy| VALUE * (4 + copy)); // Widens.
    let last = VALUE * (3 + COPIES as u64); // Widens.
    let mut code = Assembly::new();
    code.push(0_u8).push(last + VALUE).op(op::MSTORE);
    code.push(3 * VALUE).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    for to in places.filter(|_| way.is_some()) {
        match way {
            Some("mload") => {
                for word in [0, VALUE - 32] {
                    code.push(VALUE + word).op(op::MLOAD).push(to + word).op(op::MSTORE);
                }
            }
            Some("mcopy") => _ = code.push(VALUE).push(VALUE).push(to).op(op::MCOPY),
            _ => {
                let [out, x, y] = [to, VALUE, 2 * VALUE].map(|at| at as u32); // Far below 2³².
                let modulus = ModulusAt::Offset(0);
                code.field(FieldInstruction::Memory { operation: FieldOp::Add, out, x, y, modulus });
            }
        }
    }
    code.push(VALUE).push(if way.is_some() { last } else { VALUE }).op(op::RETURN);
    assembled(&code, REVISION)
}

fn copies(rounds: usize, rows: &mut Vec<RecordRow>) -> Result<(), LabError> {
    let little = |number: &BigUint| to_be(number, 48).into_iter().rev().collect::<Vec<_>>();
    let value = little(&(modulus() / 3u32));
    let input = [little(&modulus()), value.clone(), vec![0; 48]].concat();
    let codes = [None].into_iter().chain(COPY_WAYS.map(Some)).map(copy_program).collect::<Result<Vec<_>, _>>()?;
    let copies = COPIES as f64; // A small number.
    for schedule in MODELS {
        let engine = engine(schedule, Batching::Off)?;
        let gas: Vec<f64> = codes.iter().map(|code| number(engine.run_code(code, &input, GAS).gas_used)).collect();
        for (way, with) in COPY_WAYS.iter().zip(&gas[1..]) {
            let each = (with - gas[0]) / copies;
            rows.push(RecordRow::exact(format!("{REVISION}:{schedule}/copy/{way}"), Quantity::Gas, each));
        }
    }
    let engine = engine(MODELS[0], Batching::Off)?;
    let subjects = codes.iter().map(|code| subject(&engine, "copies", code, &input, &value).0);
    let samples = interleave(&mut subjects.collect::<Vec<_>>(), rounds, || ())?;
    for (way, with) in COPY_WAYS.iter().zip(&samples[1..]) {
        let each = per_thing(&with.times_ns, &samples[0].times_ns, copies);
        rows.push(RecordRow::new(format!("{REVISION}/copy/{way}"), Quantity::Time, &each));
    }
    Ok(())
}

/// A program that parses a value, applies the operation or nothing, and returns the result.
fn chain_program(operation: &'static str) -> Program {
    record(operation, &modulus(), |machine| {
        let x = machine.parse(machine.small(0), 48);
        let y = match operation {
            "inverse" => inverse_power(machine, x),
            "root" => g1::square_root(machine, x),
            _ => x,
        };
        machine.return_elements(y, 48);
    })
}

/// The input of the precompile for x^e mod p (EIP-198), and code that hands it over.
fn modexp(x: &BigUint, exponent: &BigUint) -> Result<(Vec<u8>, Vec<u8>), LabError> {
    let length = to_be(&VALUE.into(), 32);
    let input = [length.repeat(3), to_be(x, 48), to_be(exponent, 48), to_be(&modulus(), 48)].concat();
    let mut code = Assembly::new();
    code.op(op::CALLDATASIZE).push(0_u8).push(0_u8).op(op::CALLDATACOPY);
    code.push(VALUE).push(0_u8).op(op::CALLDATASIZE).push(0_u8).push(MODEXP).op(op::GAS).op(op::STATICCALL).op(op::POP);
    code.push(VALUE).push(0_u8).op(op::RETURN);
    Ok((input, assembled(&code, REVISION)?))
}

/// An inverse or a root: by the chain of the compiled program, by MODEXP, and by blst.
fn chains(operation: &'static str, rounds: usize, rows: &mut Vec<RecordRow>) -> Result<(), LabError> {
    let p = modulus();
    let x = (&p / 5u32).pow(2) % &p; // A square.
    let exponent = if operation == "inverse" { &p - 2u32 } else { (&p + 1u32) / 4u32 };
    let y = to_be(&x.modpow(&exponent, &p), 48);
    let input = to_be(&x, 48);
    let (modexp_input, modexp_code) = modexp(&x, &exponent)?;
    let mut subjects = Vec::new();
    for schedule in MODELS {
        let engine = engine(schedule, Batching::Warm)?;
        let compiled = |name| {
            let compiled = residue_compiler::compile(&chain_program(name), REVISION, &engine.config().schedule);
            let error = |error| LabError::Compile { name: operation, error: Box::new(error) };
            Ok::<_, LabError>(compiled.map_err(error)?.code)
        };
        let (nothing, nothing_gas) = subject(&engine, "nothing", &compiled("nothing")?, &input, &input);
        let (chain, gas) = subject(&engine, operation, &compiled(operation)?, &input, &y);
        let layer = format!("{REVISION}:{schedule}");
        rows.push(RecordRow::exact(
            format!("{layer}/{operation}/chain"),
            Quantity::Gas,
            number(gas) - number(nothing_gas),
        ));
        let (modexp, gas) = subject(&engine, "modexp", &modexp_code, &modexp_input, &y);
        rows.push(RecordRow::exact(format!("{layer}/{operation}/modexp"), Quantity::Gas, number(gas)));
        subjects = vec![nothing, chain, modexp];
    }
    let native = move || {
        let x = blst_fp::from_be(&input);
        let once = || if operation == "inverse" { inverse(x) } else { square_root(x) };
        (0..CHAIN).fold(x, |_, _| std::hint::black_box(once())).to_be()
    };
    subjects.push(Subject::new("blst", &y, native));
    let samples = interleave(&mut warmed(subjects), rounds, || ())?;
    let [nothing, chain, modexp, native] = [0, 1, 2, 3].map(|index| &samples[index].times_ns);
    let native: Vec<f64> = native.iter().map(|time_ns| time_ns / CHAIN as f64).collect(); // A small number.
    let rest = per_thing(chain, nothing, 1.0);
    for (way, times) in [
        (format!("{REVISION}/{operation}/chain"), &rest),
        (format!("{REVISION}/{operation}/modexp"), modexp),
        (format!("blst/{operation}/native"), &native),
    ] {
        rows.push(RecordRow::new(way, Quantity::Time, times));
    }
    Ok(())
}
