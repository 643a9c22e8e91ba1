//! The compiler: a field program becomes bytecode for a revision, and every compilation is judged.
//!
//! The passes in order: [`simplify`] shares and drops operations; [`allocate`] places values in slots; `lower` emits
//! control, words and calls; a [`target`] supplies what revisions differ in; [`check`] reads the bytes back and compares
//! them with the source.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod allocate;
pub mod check;
pub mod error;
pub mod fuse;
pub mod live;
pub mod lower;
pub mod moves;
pub mod simplify;
pub mod target;

pub use error::CompileError;

use allocate::{Allocation, Slot, allocate};
use check::{Evidence, check};
use num_bigint::BigUint;
use residue_ir::program::Program;
use residue_isa::assembly::{Assembly, Code};
use residue_isa::revision::evm384::Modulus;
use residue_isa::revision::{Family, eip6690_2024};
use residue_isa::{GasSchedule, Revision};
use std::ops::Range;
use target::Target;

/// A compiled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The code, with its data behind it.
    pub code: Vec<u8>,
    /// The revision that it is for.
    pub revision: Revision,
    /// Slots that it uses, constants included.
    pub slots: u32,
    /// Bytes of memory that it uses whatever its input; arrays without a fixed size come on top.
    pub memory_bytes: u32,
    /// Field instructions in the code.
    pub field_instructions: usize,
    /// Operations in the program's blocks, after simplification.
    pub operations: usize,
    /// The bytes of each function, by name.
    pub functions: Vec<(String, Range<usize>)>,
}

/// Compiles `program` for `revision`; `schedule` decides between ways that differ in gas only.
pub fn compile(program: &Program, revision: Revision, schedule: &GasSchedule) -> Result<Compiled, CompileError> {
    let built = build(program, revision, schedule)?;
    check(&built.evidence(program))?;
    let Built { simplified, lowered, code, slots, .. } = built;
    Ok(Compiled {
        revision,
        slots,
        memory_bytes: lowered.memory_bytes,
        field_instructions: lowered.blocks.iter().map(|block| block.items.len()).sum(),
        operations: operations(&simplified),
        functions: function_ranges(&simplified, &lowered, &code),
        code: code.bytes,
    })
}

/// Code that has not been judged yet, with all that the checker wants to see.
struct Built {
    simplified: Program,
    allocation: Allocation,
    first_constant: Slot,
    slots: u32,
    target: Box<dyn Target>,
    lowered: lower::Lowered,
    code: Code,
}

impl Built {
    fn evidence<'a>(&'a self, source: &'a Program) -> Evidence<'a> {
        Evidence {
            source,
            lowered: &self.simplified,
            allocation: &self.allocation,
            blocks: &self.lowered.blocks,
            code: &self.code,
            first_constant: self.first_constant,
            target: self.target.as_ref(),
        }
    }
}

fn build(program: &Program, revision: Revision, schedule: &GasSchedule) -> Result<Built, CompileError> {
    residue_ir::verify(program)?;
    require_modulus(program, revision)?;
    let mut simplified = program.clone();
    simplify::simplify(&mut simplified);
    let evm384 = revision.evm384();
    let conversions = match evm384 {
        Some(_) => target::evm384::conversion_constants(&program.modulus).to_vec(),
        None => vec![],
    };
    for constant in std::iter::once(BigUint::ZERO).chain(conversions) {
        if !simplified.constants.contains(&constant) {
            simplified.constants.push(constant);
        }
    }

    let limit = evm384.map_or(eip6690_2024::SLOTS_MAX as Slot, target::evm384::slot_limit);
    let constants = simplified.constants.len();
    // One slot is spare, for cycles of moves.
    let room =
        u32::try_from(constants).ok().and_then(|constants| limit.checked_sub(constants + 1)).filter(|&room| room > 0);
    let room = room.ok_or(CompileError::Constants { count: constants, limit })?;
    let allocation = allocate(&simplified, room, evm384.is_none())?;
    let spare = allocation.slots_used;
    let first_constant = spare + 1;
    let slots = first_constant + u32::try_from(constants).expect("it fitted above");
    if evm384.is_none() {
        let element_bytes = program.element_bytes();
        if slots as usize * element_bytes > eip6690_2024::SLOT_BYTES_MAX {
            return Err(CompileError::SlotBytes { slots, element_bytes, limit_bytes: eip6690_2024::SLOT_BYTES_MAX });
        }
    }

    let mut assembly = Assembly::new();
    let zero = first_constant + position(&simplified.constants, &BigUint::ZERO);
    let target: Box<dyn Target> = if let Some(interface) = evm384 {
        Box::new(target::evm384::Evm384::new(
            revision,
            interface,
            &program.modulus,
            &simplified.constants,
            [first_constant, zero],
            schedule,
            &mut assembly,
        ))
    } else {
        let constants = simplified.constants.clone();
        Box::new(target::slots::Slots::new(&program.modulus, constants, first_constant, zero, spare, &mut assembly))
    };
    let lowered = lower::lower(&simplified, &allocation, first_constant, spare, target.as_ref(), &mut assembly)?;
    let code = assembly.assemble(revision)?;
    Ok(Built { simplified, allocation, first_constant, slots, target, lowered, code })
}

fn position(constants: &[BigUint], wanted: &BigUint) -> Slot {
    let index = constants.iter().position(|constant| constant == wanted).expect("the caller added it");
    Slot::try_from(index).expect("the number of constants was checked")
}

fn operations(program: &Program) -> usize {
    let mut count = 0;
    for function in &program.functions {
        function.body.for_each_block(&mut |block| count += block.ops.len());
    }
    count
}

/// Where each function's code is: the start from 0, the others from their labels to the next one's.
fn function_ranges(program: &Program, lowered: &lower::Lowered, code: &Code) -> Vec<(String, Range<usize>)> {
    let starts: Vec<usize> = lowered.entries.iter().map(|label| code.labels.get(label).copied().unwrap_or(0)).collect();
    let end = code.labels[&lowered.fail];
    let range = |(number, function): (usize, &residue_ir::Function)| {
        let start = starts[number];
        let next = starts.iter().copied().chain([end]).filter(|&other| other > start).min().unwrap_or(end);
        (function.name.clone(), start..next)
    };
    program.functions.iter().enumerate().map(range).collect()
}

fn require_modulus(program: &Program, revision: Revision) -> Result<(), CompileError> {
    let bits = program.modulus.bits();
    let limit_bits = 64 * revision.width_limbs_max() as u64;
    if bits > limit_bits {
        return Err(CompileError::Width { revision, bits, limit_bits });
    }
    let is_fixed = revision.evm384().is_some_and(|interface| interface.modulus == Modulus::Fixed);
    let odd = program.modulus.bit(0);
    let power_of_two = program.modulus.trailing_zeros() == Some(bits - 1);
    match revision.family() {
        Family::Memory384 if !odd => Err(CompileError::EvenModulus { revision }),
        Family::Slots if !odd && !power_of_two => Err(CompileError::EvenModulus { revision }),
        _ if is_fixed && program.modulus != target::evm384::fixed_modulus() => {
            Err(CompileError::FixedField { revision })
        }
        _ => Ok(()),
    }
}
