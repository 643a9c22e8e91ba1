//! The compiler: a field program becomes bytecode for a revision, and every compilation is judged.
//!
//! First come the passes that know no machine ([`residue_passes`]): operations are shared and dropped, values placed in slots.
//! Then `lower` emits control, words and calls; a [`target`] supplies what revisions differ in; [`fuse`] makes lanes;
//! [`check`] reads the bytes back and compares them with the source.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod check;
pub mod dialect;
pub mod error;
pub mod fuse;
pub mod lower;
mod portable;
pub mod source_map;
pub mod target;

pub use dialect::Dialect;
pub use error::CompileError;
pub use residue_passes::{SmallMultiples, TooFewSlots};
pub use source_map::SourceMap;

use check::{Evidence, check};
use fuse::Fused;
use num_bigint::BigUint;
use portable::{AfterValues, SlotNames};
use residue_ir::program::Program;
use residue_isa::assembly::{Assembly, Code, Item};
use residue_isa::revision::Family;
use residue_isa::revision::evm384::Modulus;
use residue_isa::revision::rules::{SLOTS_MAX, SlotBytesMax};
use residue_isa::{FieldOp, GasSchedule, Revision};
use residue_passes::derived::{self, Derived};
use residue_passes::rows::rows;
use residue_passes::simplify::simplify;
use residue_passes::{Allocation, Cost, Limits, Rows, Slot, allocate, multiples, threads};
use target::{MontFactors, Places, Target};

/// A compiled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The code, with its data after it.
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
    /// Which function each byte comes from.
    pub source_map: SourceMap,
    /// Bytes of instructions; the rest of the code is data.
    pub instruction_bytes: usize,
}

/// Compiles `program` for `revision`; `schedule` decides between ways that differ in gas only. Small multiples are made as the
/// program's text makes them.
pub fn compile(program: &Program, revision: Revision, schedule: &GasSchedule) -> Result<Compiled, CompileError> {
    compile_with(program, revision, schedule, SmallMultiples::AsWritten)
}

/// The same with small multiples made in the given way.
pub fn compile_with(
    program: &Program,
    revision: Revision,
    schedule: &GasSchedule,
    multiples: SmallMultiples,
) -> Result<Compiled, CompileError> {
    compile_as(program, revision, schedule, multiples, Dialect::default())
}

/// The same with code of a dialect.
pub fn compile_as(
    program: &Program,
    revision: Revision,
    schedule: &GasSchedule,
    multiples: SmallMultiples,
    dialect: Dialect,
) -> Result<Compiled, CompileError> {
    Prepared::new(program, multiples)?.compile(revision, schedule, dialect)
}

/// A program after the passes that neither a revision nor prices decide. Equal ones become equal code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared<'a> {
    source: &'a Program,
    simplified: Program,
}

impl<'a> Prepared<'a> {
    /// `source` simplified, with small multiples made in the given way.
    pub fn new(source: &'a Program, multiples: SmallMultiples) -> Result<Self, CompileError> {
        residue_ir::verify(source)?;
        let mut simplified = source.clone();
        simplify(&mut simplified);
        multiples::make(&mut simplified, multiples);
        Ok(Self { source, simplified })
    }

    /// Compiles it for `revision`; `schedule` decides between ways that differ in gas only.
    pub fn compile(
        &self,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Compiled, CompileError> {
        let built = build(self, revision, schedule, dialect)?;
        check(&built.evidence(self.source))?;
        let instruction_bytes = dialect.require(&built.items, &built.code, revision)?;
        let source_map = source_map::source_map(&built);
        let Built { simplified, lowered, code, slots, .. } = built;
        Ok(Compiled {
            revision,
            slots,
            memory_bytes: lowered.memory_bytes,
            field_instructions: lowered.blocks.iter().map(|block| block.items.len()).sum(),
            operations: operations(&simplified),
            source_map,
            instruction_bytes,
            code: code.bytes,
        })
    }
}

/// Code that has not been judged yet, with all that the checker wants to see.
struct Built {
    simplified: Program,
    allocation: Allocation,
    constant_slots: Vec<Slot>,
    slots: u32,
    target: Box<dyn Target>,
    lowered: lower::Lowered,
    items: Vec<Item>,
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
            constant_slots: &self.constant_slots,
            target: self.target.as_ref(),
        }
    }
}

fn build(
    prepared: &Prepared<'_>,
    revision: Revision,
    schedule: &GasSchedule,
    dialect: Dialect,
) -> Result<Built, CompileError> {
    let program = prepared.source;
    require_modulus(program, revision)?;
    let mut simplified = prepared.simplified.clone();
    let conversions = match revision.family() {
        Family::Memory384 => target::evm384::conversion_constants(&program.modulus).to_vec(),
        Family::MemorySlots => target::mont_slots::conversion_constants(&program.modulus).to_vec(),
        Family::Slots => vec![],
    };
    let mont_constants =
        target::uses_mont(program).then(|| target::mont_constants(&program.modulus, revision.family())).flatten();
    for constant in std::iter::once(BigUint::ZERO).chain(conversions).chain(mont_constants.iter().flatten().cloned()) {
        if !simplified.constants.contains(&constant) {
            simplified.constants.push(constant);
        }
    }

    let limit = revision.evm384().map_or(SLOTS_MAX as Slot, target::evm384::slot_limit);
    let constants = simplified.constants.len();
    // One slot is spare, for cycles of moves.
    let names = SlotNames::new(revision, limit, dialect.portable);
    let room = names.room(constants).ok_or(CompileError::Constants { count: constants, limit })?;
    let cost = revision.is_strided().then_some(&Fused as &dyn Cost);
    let mut rows = rows(&simplified, &LIMITS);
    let mut allocation = allocate(&simplified, &rows, room, cost)?;
    threads::cut(&mut rows, &simplified, &allocation);
    let AfterValues { spare, first_constant } = names.name(&mut allocation, constants);
    let is_literal = dialect.portable && revision.is_strided();
    let derived = match revision.family() {
        Family::Slots => derived::derive(&simplified.constants, &program.modulus, first_constant, spare),
        _ => names.given(&simplified.constants, first_constant),
    };
    let after_constants = u32::try_from(derived.slots.len().max(derived.given.len())).expect("it fitted above");
    let slots = first_constant + after_constants + u32::from(is_literal);
    require_slot_bytes(program, revision, slots)?;

    let mut assembly = Assembly::for_fork(dialect.fork);
    let origin = assembly.new_label();
    assembly.mark(origin);
    let constant_slots = derived.slots.clone();
    let constant_slot = |constant: &BigUint| constant_slots[position(&simplified.constants, constant)];
    let zero = constant_slot(&BigUint::ZERO);
    let mont = mont_constants
        .map(|[parse, output]| MontFactors { parse: constant_slot(&parse), output: constant_slot(&output) });
    let places = Places { first_constant, zero, spare, mont, is_literal };
    let target = make_target((program, &rows), revision, schedule, derived, places, &mut assembly);
    let interface = (target.as_ref(), revision, origin);
    let lowered = lower::lower(&simplified, &rows, &allocation, &constant_slots, spare, interface, &mut assembly)?;
    let code = assembly.assemble(revision)?;
    let items = assembly.items().to_vec();
    Ok(Built { simplified, allocation, constant_slots, slots, target, lowered, items, code })
}

/// How much is made as one: any number of slots are loaded and stored by one instruction, and what is read of calldata together may
/// have a word between elements.
const LIMITS: Limits = Limits { values_max: SLOTS_MAX, gap_bytes_max: 32 };

/// What lowers for the revision's family.
fn make_target(
    (program, rows): (&Program, &Rows<'_>),
    revision: Revision,
    schedule: &GasSchedule,
    derived: Derived,
    places: Places,
    code: &mut Assembly,
) -> Box<dyn Target> {
    let modulus = &program.modulus;
    if let Some(interface) = revision.evm384() {
        return Box::new(target::evm384::Evm384::new(
            revision,
            interface,
            modulus,
            &derived.given,
            places,
            (schedule, code.fork()),
            code,
        ));
    }
    if let Some(rules) = revision.slot_rules() {
        let row_bytes = rows.parsed_bytes_max();
        return Box::new(target::slots::Slots::new((revision, rules), modulus, derived, row_bytes, places, code));
    }
    let width_limbs = usize::try_from(modulus.bits().div_ceil(64)).expect("the width was checked");
    let addition = schedule.instruction(FieldOp::Add, width_limbs, 1).whole();
    let uses_mont = target::uses_mont(program);
    Box::new(target::mont_slots::MontSlots::new(revision, modulus, &derived.given, places, addition, uses_mont, code))
}

/// Refuses more bytes of slots than the revision has.
fn require_slot_bytes(program: &Program, revision: Revision, slots: u32) -> Result<(), CompileError> {
    let Some(rules) = revision.slot_rules() else { return Ok(()) };
    let modulus_bytes = target::slots::modulus_size_bytes(rules, &program.modulus);
    let (element_bytes, limit_bytes) = match rules.slot_bytes_max {
        SlotBytesMax::None => return Ok(()),
        SlotBytesMax::Frame(limit_bytes) => (rules.element_bytes(modulus_bytes), limit_bytes),
        SlotBytesMax::Declared(limit_bytes) => (modulus_bytes, limit_bytes),
    };
    if slots as usize * element_bytes > limit_bytes {
        return Err(CompileError::SlotBytes { slots, element_bytes, limit_bytes });
    }
    Ok(())
}

fn position(constants: &[BigUint], wanted: &BigUint) -> usize {
    constants.iter().position(|constant| constant == wanted).expect("the caller added it")
}

fn operations(program: &Program) -> usize {
    let mut count = 0;
    for function in &program.functions {
        function.body.for_each_block(&mut |block| count += block.ops.len());
    }
    count
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
    let rules = revision.slot_rules();
    let expressible = odd || power_of_two && rules.is_some_and(|rules| rules.moduli.powers_of_two);
    if !expressible {
        return Err(CompileError::EvenModulus { revision });
    }
    if is_fixed && program.modulus != target::evm384::fixed_modulus() {
        return Err(CompileError::FixedField { revision });
    }
    match rules.and_then(|rules| rules.moduli.sizes) {
        Some(_) if bits.div_ceil(64) != revision.width_limbs_max() as u64 => {
            Err(CompileError::OnlyWidth { revision, bits, limbs: revision.width_limbs_max() })
        }
        _ => Ok(()),
    }
}
