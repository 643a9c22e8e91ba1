//! The compiler: a field program becomes bytecode for a revision, and every compilation is judged.
//!
//! First come the passes that know no machine ([`residue_passes`]): operations are shared and dropped, values placed in
//! slots. Then `lower` emits control, words and calls; a [`target`] supplies the code that depends on the revision;
//! [`fuse`] makes lanes; [`check`] reads the bytes back and compares them with the source.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

#[cfg(test)]
mod carry_out;
pub mod check;
pub mod creation;
pub mod dialect;
pub mod error;
mod features;
pub mod fuse;
mod heights;
pub mod lower;
mod paths;
mod portable;
pub mod source_map;
pub mod target;
pub mod wide;
pub mod words;

pub use creation::creation;
pub use dialect::Dialect;
pub use error::CompileError;
pub use residue_passes::{SmallMultiples, TooFewSlots};
pub use source_map::SourceMap;

use check::{Evidence, check};
use features::{
    has_feature, limits, require_inversion, require_modulus, require_order, require_precompiles, require_subprogram,
    with_modulus,
};
use fuse::{Fused, Fusions};
use lower::{HeldWay, LoweredBlock};
use num_bigint::BigUint;
use portable::{AfterValues, SlotNames};
use residue_ir::program::{ControlKind, Program, Region, Statement};
use residue_ir::{Effect, SubprogramId};
use residue_isa::assembly::{AssembleError, Assembly, Code, Item, LabelId};
use residue_isa::revision::Family;
use residue_isa::revision::rules::{SUM_PRODUCTS_MAX, SlotBytesMax};
use residue_isa::{FieldOp, GasSchedule, Revision, SlotRules};
use residue_passes::choices;
use residue_passes::comparisons;
use residue_passes::derived::{self, Derived};
use residue_passes::fp2;
use residue_passes::fp6;
use residue_passes::rows::rows;
use residue_passes::simplify::simplify;
use residue_passes::specialise::{asks, specialise};
use residue_passes::sums::gather;
use residue_passes::{Allocation, Cost, Rows, Slot, allocate, multiples, threads};
use std::borrow::Cow;
use std::sync::Arc;
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
    /// Bytes of memory for any input; arrays without a fixed size come on top.
    pub memory_bytes: u32,
    /// Maximum height of the stack for any input, in words: at most 1,024.
    pub stack_words: usize,
    /// Field instructions in the code.
    pub field_instructions: usize,
    /// Operations in the program's blocks, after simplification.
    pub operations: usize,
    /// Function of each byte.
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

/// A program after the passes that neither a revision nor prices decide.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    source: Cow<'a, Program>,
    simplified: Cow<'a, Program>,
    multiples: SmallMultiples,
    /// Blocks that were fused for some revision.
    fusions: Arc<Fusions>,
}

/// A program after the passes that prices do not decide, for a revision and a dialect. Equal ones become equal code.
#[derive(Debug, Clone)]
pub struct Specialised<'a> {
    source: Cow<'a, Program>,
    simplified: Cow<'a, Program>,
    revision: Revision,
    dialect: Dialect,
    /// It asked the interface nothing, so all of it is held to the revision's moduli.
    is_as_written: bool,
    fusions: Arc<Fusions>,
}

impl PartialEq for Specialised<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Blocks that were fused before are fused as they would be.
        let Self { source, simplified, revision, dialect, is_as_written, fusions: _ } = self;
        *source == other.source
            && *simplified == other.simplified
            && (*revision, *dialect, *is_as_written) == (other.revision, other.dialect, other.is_as_written)
    }
}

impl Eq for Specialised<'_> {}

impl<'a> Prepared<'a> {
    /// `source` simplified, with small multiples made in the given way.
    pub fn new(source: &'a Program, multiples: SmallMultiples) -> Result<Self, CompileError> {
        residue_ir::verify(source)?;
        Ok(Self::of_verified(Cow::Borrowed(source), multiples))
    }

    /// The same for a program that is known to be right.
    fn of_verified(source: Cow<'a, Program>, multiples: SmallMultiples) -> Self {
        let mut simplified = Program::clone(&source);
        let inner = simplified.subprograms.iter_mut();
        for unit in inner {
            simplify(unit);
            multiples::make(unit, multiples);
        }
        simplify(&mut simplified);
        multiples::make(&mut simplified, multiples);
        Self { source, simplified: Cow::Owned(simplified), multiples, fusions: Arc::default() }
    }

    /// The same without borrows.
    pub fn into_owned(self) -> Prepared<'static> {
        let Self { source, simplified, multiples, fusions } = self;
        let [source, simplified] = [source, simplified].map(|program| Cow::Owned(program.into_owned()));
        Prepared { source, simplified, multiples, fusions }
    }

    /// Compiles it for `revision`; `schedule` decides between ways that differ in gas only.
    pub fn compile(
        &self,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Compiled, CompileError> {
        self.specialised(revision, dialect).compile(schedule)
    }

    /// The program specialised for `revision` and `dialect`: feature tests are resolved, and operations gathered for
    /// the revision's instructions.
    pub fn specialised(&self, revision: Revision, dialect: Dialect) -> Specialised<'_> {
        let [mut source, mut simplified] = [&self.source, &self.simplified].map(|program| Cow::Borrowed(&**program));
        let is_as_written = !asks(&source);
        if !is_as_written {
            let has = |feature| has_feature(&self.source, revision, dialect, feature);
            source = Cow::Owned(specialise(&source, has));
            // Arms that are taken join what is around them.
            let mut special = specialise(&simplified, has);
            simplify_units(&mut special);
            simplified = Cow::Owned(special);
        }
        let rules = revision.slot_rules();
        if rules.is_some_and(|rules| rules.select.is_some()) {
            choices::hoist(source.to_mut());
            Prepared { source, simplified, .. } = Prepared::of_verified(source, self.multiples);
        } else if let Some(rules) = rules.filter(|rules| rules.equal.is_some()) {
            comparisons::compare(source.to_mut(), rules.less.is_some());
            Prepared { source, simplified, .. } = Prepared::of_verified(source, self.multiples);
        } else if revision.family() == Family::Words {
            source = Cow::Owned(words::prepare::prepare(&source));
            let mut special = words::prepare::prepare(&simplified);
            simplify_units(&mut special);
            simplified = Cow::Owned(special);
        }
        let fusions = Arc::clone(&self.fusions);
        Specialised { source, simplified, revision, dialect, is_as_written, fusions }
    }
}

fn simplify_units(program: &mut Program) {
    program.subprograms.iter_mut().for_each(simplify);
    simplify(program);
}

impl Specialised<'_> {
    /// Builds it; where there are no field instructions, with more room or shorter code where that is called for.
    fn built(&self, schedule: &GasSchedule) -> Result<Built, CompileError> {
        let mut rules = target::words::Rules::default();
        if self.revision.family() != Family::Words {
            return build(self, schedule, &rules);
        }
        let with_room = |rules: &mut target::words::Rules| {
            let built = build(self, schedule, rules);
            if rules.extra_slots > 0 || built.as_ref().is_ok_and(|built| !built.lacks_room()) {
                return built;
            }
            rules.extra_slots = target::words::Rules::EXTRA_SLOTS;
            build(self, schedule, rules)
        };
        let mut built = with_room(&mut rules);
        // What no account may have, or labels too far apart: shorter code may do.
        let length = |built: &Result<Built, CompileError>| match built {
            Ok(built) => Some(built.code.bytes.len()),
            Err(CompileError::Far { .. } | CompileError::Assemble(_)) => Some(target::words::Rules::TOO_FAR),
            Err(_) => None,
        };
        // Over wide fields alone no state is on the stack.
        let is_wide = self.simplified.units().all(|unit| !has_elements(unit) || features::wide_system(unit).is_some());
        // Code whose labels are too far apart may be some that holds it.
        let holds_state = !is_wide && built.as_ref().map_or(true, Built::holds_state);
        let mut longest = None;
        let near_bytes = if is_wide { target::words::NEAR_WIDE_BYTES_MAX } else { target::words::NEAR_BYTES_MAX };
        while let Some(before) = length(&built)
            && !(is_wide && target::words::Rules::is_beyond(before))
            && rules.shorten(before, holds_state, near_bytes)
        {
            let short = with_room(&mut rules);
            if length(&short).is_some_and(|length| length < before) {
                let long = std::mem::replace(&mut built, short);
                longest = longest.or(Some(long).filter(|long| long.as_ref().is_ok_and(Built::is_wide)));
            }
        }
        // What an account cannot have in any way need not pay gas for subroutines.
        match longest {
            Some(long) if length(&built).is_some_and(|length| !target::words::Rules::fits(length)) => long,
            _ => built,
        }
    }

    /// Compiles it; `schedule` decides between ways that differ in gas only.
    pub fn compile(&self, schedule: &GasSchedule) -> Result<Compiled, CompileError> {
        let (revision, dialect) = (self.revision, self.dialect);
        if self.is_as_written {
            // What answers leave without values needs no modulus; this does.
            self.source.subprograms.iter().try_for_each(|subprogram| require_subprogram(subprogram, revision))?;
            self.source.units().try_for_each(|unit| require_modulus(unit, revision))?;
        }
        let built = self.built(schedule)?;
        for evidence in built.evidence(&self.source) {
            check(&evidence)?;
        }
        let instruction_bytes = dialect.require(&built.items, &built.code, revision)?;
        let source_map = source_map::source_map(&built);
        Ok(Compiled {
            revision,
            slots: built.units.iter().map(|unit| unit.slots).sum(),
            memory_bytes: built.memory_bytes,
            stack_words: built.stack_words,
            field_instructions: built.units.iter().flat_map(|unit| &unit.blocks).map(|block| block.items.len()).sum(),
            operations: built.units.iter().map(|unit| operations(&unit.program)).sum(),
            source_map,
            instruction_bytes,
            code: built.code.bytes,
        })
    }
}

/// Code that has not been judged yet, with all that the checker wants to see.
struct Built {
    /// The program, then its subprograms.
    units: Vec<Unit>,
    memory_bytes: u32,
    stack_words: usize,
    /// Label at the end of the last function.
    fail: LabelId,
    items: Vec<Item>,
    code: Code,
}

/// A program or subprogram that has been lowered.
struct Unit {
    /// As it was lowered: simplified, with the constants that the target wants.
    program: Program,
    allocation: Allocation,
    constant_slots: Vec<Slot>,
    slots: u32,
    target: Box<dyn Target>,
    blocks: Vec<LoweredBlock>,
    ways: Vec<HeldWay>,
    /// Label at the start of each function.
    begins: Vec<LabelId>,
}

impl Built {
    /// True if a block spills values to memory.
    fn lacks_room(&self) -> bool {
        let lacks_room = |target: &dyn Target| {
            target.words().is_some_and(target::words::Words::lacks_room)
                || target.wide().is_some_and(target::wide::Wide::lacks_room)
        };
        self.units.iter().any(|unit| lacks_room(unit.target.as_ref()))
    }

    /// True if a unit has values of several words.
    fn is_wide(&self) -> bool {
        self.units.iter().any(|unit| unit.target.wide().is_some())
    }

    /// True if the state of a sequence stays on the stack.
    fn holds_state(&self) -> bool {
        self.units.iter().any(|unit| unit.target.words().is_some_and(target::words::Words::holds_state))
    }

    fn evidence<'a>(&'a self, source: &'a Program) -> impl Iterator<Item = Evidence<'a>> {
        self.units.iter().zip(source.units()).map(|(unit, source)| Evidence {
            source,
            lowered: &unit.program,
            allocation: &unit.allocation,
            blocks: &unit.blocks,
            ways: &unit.ways,
            code: &self.code,
            constant_slots: &unit.constant_slots,
            target: unit.target.as_ref(),
        })
    }
}

fn build(
    specialised: &Specialised<'_>,
    schedule: &GasSchedule,
    rules: &target::words::Rules,
) -> Result<Built, CompileError> {
    // style: S2: the passes of a build, one after the other.
    let Specialised { source, simplified, revision, dialect, fusions, .. } = specialised;
    let (revision, dialect) = (*revision, *dialect);
    for subprogram in &source.subprograms {
        require_subprogram(subprogram, revision)?;
    }
    let mut programs = Vec::new();
    for unit in simplified.units() {
        let unit = &with_modulus(unit, revision)?;
        require_inversion(unit, revision, dialect)?;
        require_order(unit, revision, dialect)?;
        require_precompiles(unit, dialect)?;
        let mut program = with_constants(unit, revision);
        if revision.slot_rules().is_some_and(|rules| rules.sums.is_some()) {
            gather(&mut program, SUM_PRODUCTS_MAX);
        }
        let multiplies_fp2 = |rules: &&SlotRules| {
            let width = rules.price_width(target::slots::modulus_size_bytes(rules, &program.modulus));
            target::slots::fp2::is_cheaper((revision, *rules), schedule, width)
        };
        if revision.slot_rules().filter(multiplies_fp2).is_some() {
            fp2::gather(&mut program);
        }
        let multiplies_fp6 = |rules: &&SlotRules| {
            let width = rules.price_width(target::slots::modulus_size_bytes(rules, &program.modulus));
            target::slots::fp6::is_cheaper((revision, *rules), schedule, width)
        };
        if revision.slot_rules().filter(multiplies_fp6).is_some() {
            fp6::gather(&mut program);
        }
        programs.push(program);
    }
    let borrowed: Vec<&Program> = programs.iter().collect();
    let rows: Vec<Rows<'_>> = programs.iter().map(|program| rows(program, &limits(program, revision))).collect();
    let mut assembly = Assembly::for_fork(dialect.fork);
    let origin = assembly.new_label();
    assembly.mark(origin);
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut base_bytes = words_base_bytes(&borrowed, revision);
    for (context, (program, rows)) in programs.iter().zip(rows).enumerate() {
        let context = u32::try_from(context).expect("subprograms are few");
        let is_late = context > 0 && is_entered_late(&borrowed, context as usize - 1); // u32 to usize widens
        let placed = (program, context, is_late, target::words::Rules { base_bytes, ..rules.clone() });
        let part = part(placed, rows, (revision, dialect), (schedule, fusions), &mut assembly)?;
        if part.target.is_in_memory() && part.has_elements() {
            base_bytes = part.target.memory_bytes();
        }
        parts.push(part);
    }
    require_slot_bytes(&parts, revision)?;
    let (lowered, code) = assembled(&parts, (revision, origin), &mut assembly)?;
    let mut ends = lowered.near.iter().map(|(label, bytes)| code.labels[label] + bytes);
    if let Some(offset) = ends.find(|&offset| offset > CHOSEN_MAX) {
        return Err(CompileError::Far { offset, limit: CHOSEN_MAX });
    }
    let mut placed: Vec<Placed> = Vec::new();
    for (part, unit) in parts.into_iter().zip(lowered.units) {
        let Part { allocation, constant_slots, slots, target, .. } = part;
        placed.push((allocation, constant_slots, slots, target, unit));
    }
    let unit = |(program, (allocation, constant_slots, slots, target, lowered)): (Program, Placed)| Unit {
        program,
        allocation,
        constant_slots,
        slots,
        target,
        blocks: lowered.blocks,
        ways: lowered.ways,
        begins: lowered.begins,
    };
    let units = programs.into_iter().zip(placed).map(unit).collect();
    let items = assembly.items().to_vec();
    let (memory_bytes, stack_words) = (lowered.memory_bytes, lowered.stack_words);
    Ok(Built { units, memory_bytes, stack_words, fail: lowered.fail, items, code })
}

/// The parts lowered and assembled: over a wide field, where a turn may take kilobytes, with turns far from each other if they have to be.
fn assembled(
    parts: &[Part<'_>],
    of: (Revision, LabelId),
    assembly: &mut Assembly,
) -> Result<(lower::Lowered, Code), CompileError> {
    let before = assembly.clone();
    let mut has_far_turns = false;
    loop {
        let lowered = lower::lower(parts, of, has_far_turns, assembly)?;
        match assembly.assemble(of.0) {
            Err(AssembleError::Distance { .. })
                if !has_far_turns && parts.iter().any(|part| part.target.wide().is_some()) =>
            {
                has_far_turns = true;
                assembly.clone_from(&before);
            }
            Err(AssembleError::Distance { to: offset, .. }) if offset > CHOSEN_MAX => {
                return Err(CompileError::Far { offset, limit: CHOSEN_MAX });
            }
            code => return Ok((lowered, code?)),
        }
    }
}

/// The last offset that a cell of chosen parts has room for.
const CHOSEN_MAX: usize = 0xffff;

/// Offset of slots that are words of memory: after the scratch memory for setting up a given modulus.
fn words_base_bytes(programs: &[&Program], revision: Revision) -> u32 {
    let has_given = programs.iter().any(|program| program.modulus.known().is_none());
    if revision.family() == Family::Words && has_given { target::words::SCRATCH_BYTES } else { 0 }
}

/// Part without the borrow of its program.
type Placed = (Allocation, Vec<Slot>, u32, Box<dyn Target>, lower::LoweredUnit);

/// `simplified` with the constants that a target wants.
fn with_constants(simplified: &Program, revision: Revision) -> Program {
    let mut program = Program { subprograms: Vec::new(), ..simplified.clone() };
    let conversions = match (revision.family(), program.modulus.known()) {
        (Family::Memory384, Some(modulus)) => target::evm384::conversion_constants(modulus).to_vec(),
        (Family::MemorySlots, Some(modulus)) => target::mont_slots::conversion_constants(modulus).to_vec(),
        _ => vec![],
    };
    let mont = mont_constants(&program, revision);
    for constant in std::iter::once(BigUint::ZERO).chain(conversions).chain(mont.iter().flatten().cloned()) {
        if !program.constants.contains(&constant) {
            program.constants.push(constant);
        }
    }
    program
}

/// The factors of Montgomery form, if the program uses it and the revision's own form is another.
fn mont_constants(program: &Program, revision: Revision) -> Option<[BigUint; 2]> {
    let modulus = program.modulus.known().filter(|_| target::uses_mont(program))?;
    target::mont_constants(modulus, revision.family())
}

/// A program or subprogram that is placed and can be lowered.
struct Part<'a> {
    program: &'a Program,
    rows: Rows<'a>,
    allocation: Allocation,
    constant_slots: Vec<Slot>,
    spare: Slot,
    slots: u32,
    target: Box<dyn Target>,
    /// True if its modulus is set at the entry of the part, not at the start of the program.
    is_late: bool,
}

impl Part<'_> {
    /// True if it has elements: without elements it needs no modulus.
    fn has_elements(&self) -> bool {
        has_elements(self.program)
    }

    /// Bytes at the bottom of memory that its target uses for itself.
    fn memory_bytes(&self) -> u64 {
        if self.has_elements() { self.target.memory_bytes().into() } else { 0 }
    }
}

/// True if a program has elements.
fn has_elements(program: &Program) -> bool {
    let has_values = |function: &residue_ir::Function| function.value_count > 0;
    program.functions.iter().any(has_values) || reads_constants(program)
}

/// True if the known modulus of a subprogram should be set at its entry: a run passes at most one of its entries, and
/// that once.
fn is_entered_late(programs: &[&Program], subprogram: usize) -> bool {
    let is_entry = |statement: &Statement| matches!(statement, Statement::Effect(Effect::Enter { subprogram: SubprogramId(number), .. }) if *number == subprogram);
    let mut entries = 0;
    for function in &programs[0].functions {
        function.body.walk(&mut |statement| entries += usize::from(is_entry(statement)));
    }
    let counted = |SubprogramId(number): SubprogramId| usize::from(number == subprogram);
    entries > 0 && entries == once(&programs[0].entry().body, &is_entry) && paths::most(programs, &counted) == 1
}

/// Number of statements of this kind that are executed at most once each time the region is.
fn once(region: &Region, is_one: &dyn Fn(&Statement) -> bool) -> usize {
    let statements = region.statements.iter().map(|statement| match statement {
        Statement::Control(control) if matches!(control.kind, ControlKind::Branch { .. }) => {
            control.arms.iter().map(|arm| once(&arm.body, is_one)).sum()
        }
        statement => usize::from(is_one(statement)),
    });
    statements.sum()
}

/// True if an effect reads a constant.
fn reads_constants(program: &Program) -> bool {
    let mut reads = false;
    program.for_each_effect(&mut |effect| reads |= effect.operands().next().is_some());
    reads
}

/// Places a program, whose field context has this id; `words` says where its slots begin, if they are words of memory.
fn part<'a>(
    (program, context, is_late, words): (&'a Program, u32, bool, target::words::Rules),
    mut rows: Rows<'a>,
    (revision, dialect): (Revision, Dialect),
    (schedule, fusions): (&GasSchedule, &Arc<Fusions>),
    assembly: &mut Assembly,
) -> Result<Part<'a>, CompileError> {
    let limit = features::slot_limit(revision);
    let constants = program.constants.len();
    // One slot is spare, for cycles of moves.
    let names = SlotNames::new(revision, limit, dialect.portable);
    let extra = if revision.family() == Family::Words { words.extra_slots } else { 0 };
    let room = names.room(constants + extra as usize).ok_or(CompileError::Constants { count: constants, limit })?;
    let is_literal = dialect.portable && revision.is_strided();
    let fused = Fused { end: if is_literal { limit - 1 } else { fuse::ANYWHERE }, known: fusions };
    let cost = revision.is_strided().then_some(&fused as &dyn Cost);
    let mut allocation = allocate(program, &rows, room, cost).map_err(|few| CompileError::Slots { few, limit })?;
    threads::cut(&mut rows, program, &allocation);
    let AfterValues { spare, first_constant } = names.name(&mut allocation, constants);
    let first_constant = first_constant + extra;
    let derived = match (revision.family(), program.modulus.known()) {
        (Family::Slots, Some(modulus)) => derived::derive(&program.constants, modulus, first_constant, spare),
        (Family::Slots, None) => {
            derived::derive_any(&program.constants, &program.modulus.most(), first_constant, spare)
        }
        _ => names.given(&program.constants, first_constant),
    };
    let after_constants = u32::try_from(derived.slots.len().max(derived.given.len())).expect("it fitted above");
    let slots = first_constant + after_constants + u32::from(is_literal);
    let constant_slots = derived.slots.clone();
    let constant_slot = |constant: &BigUint| constant_slots[position(&program.constants, constant)];
    let zero = constant_slot(&BigUint::ZERO);
    let mont = mont_constants(program, revision)
        .map(|[parse, output]| MontFactors { parse: constant_slot(&parse), output: constant_slot(&output) });
    let places = Places { first_constant, zero, spare, mont, is_literal };
    let prices = (schedule, fusions);
    let target = make_target((program, context, is_late, &rows), words, revision, prices, derived, places, assembly);
    Ok(Part { program, rows, allocation, constant_slots, spare, slots, target, is_late })
}

/// Target of the revision's family.
fn make_target(
    (program, context, is_late, rows): (&Program, u32, bool, &Rows<'_>),
    words: target::words::Rules,
    revision: Revision,
    (schedule, fusions): (&GasSchedule, &Arc<Fusions>),
    derived: Derived,
    places: Places,
    code: &mut Assembly,
) -> Box<dyn Target> {
    if let Some(rules) = revision.slot_rules() {
        let row_bytes = rows.parsed_bytes_max();
        let modulus = (&program.modulus, context, is_late);
        let slots = target::slots::Slots::new((revision, rules), modulus, derived, row_bytes, places, code);
        return Box::new(slots.with_prices(schedule).with_fusions(fusions));
    }
    if revision.family() == Family::Words {
        if let Some(system) = features::wide_system(program) {
            return Box::new(target::wide::Wide::new(system, program, &words, places, code));
        }
        return Box::new(target::words::Words::new(program, words, places, code));
    }
    let modulus = program.modulus.known().expect("`require_subprogram` refuses others");
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
    let width_limbs = usize::try_from(modulus.bits().div_ceil(64)).expect("the width was checked");
    let addition = schedule.instruction(FieldOp::Add, width_limbs, 1).whole();
    let uses_mont = target::uses_mont(program);
    Box::new(target::mont_slots::MontSlots::new(revision, modulus, &derived.given, places, addition, uses_mont, code))
}

/// Rejects more bytes of slots than the revision has, over all parts that one run can set up.
fn require_slot_bytes(parts: &[Part<'_>], revision: Revision) -> Result<(), CompileError> {
    let Some(rules) = revision.slot_rules() else { return Ok(()) };
    let mut taken = Vec::new();
    let mut limit = None;
    for Part { program, slots, .. } in parts {
        let modulus_bytes = target::slots::modulus_size_bytes(rules, &program.modulus);
        let (element_bytes, limit_bytes) = match rules.slot_bytes_max {
            SlotBytesMax::None => return Ok(()),
            SlotBytesMax::Frame(limit_bytes) => (rules.slot_bytes(modulus_bytes), limit_bytes),
            SlotBytesMax::Declared(limit_bytes) => (modulus_bytes, limit_bytes),
        };
        let bytes = *slots as usize * element_bytes; // u32 to usize widens
        limit = limit.max(Some((bytes, *slots, element_bytes, limit_bytes)));
        taken.push(bytes);
    }
    // What is set up where it is entered counts on the ways there; the rest in any case.
    let is_late = |unit: usize| parts[unit].is_late || parts[unit].program.modulus.known().is_none();
    let early = |unit: &usize| *unit == 0 && parts[0].has_elements() || *unit > 0 && !is_late(*unit);
    let always: usize = (0..parts.len()).filter(early).map(|unit| taken[unit]).sum();
    let late = |SubprogramId(number): SubprogramId| if is_late(number + 1) { taken[number + 1] } else { 0 };
    let programs: Vec<&Program> = parts.iter().map(|part| part.program).collect();
    let within = paths::most(&programs, &late);
    match limit {
        Some((_, slots, element_bytes, limit_bytes)) if always + within > limit_bytes => {
            Err(CompileError::SlotBytes { slots, element_bytes, limit_bytes })
        }
        _ => Ok(()),
    }
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
