//! A build: units are placed, lowered and assembled, with what the checker wants to see of them.

use crate::check::Evidence;
use crate::error::CompileError;
use crate::features::{
    limits, require_inversion, require_order, require_precompiles, require_subprogram, slot_limit, wide_system,
    with_modulus,
};
use crate::fuse::{self, Fused};
use crate::lower::{self, CallGas, Filled, HeldWay, LoweredBlock};
use crate::pipeline::{Interface, Priced, fuse};
use crate::portable::{AfterValues, SlotNames};
use crate::target::words::Rules;
use crate::target::{self, MontFactors, Places, Target};
use crate::words::inversion::is_by_modexp;
use crate::{Specialised, paths};
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use residue_ir::program::{ControlKind, Operand, Program, Region, Statement};
use residue_ir::{Effect, SubprogramId};
use residue_isa::assembly::{AssembleError, Assembly, Code, Item, LabelId};
use residue_isa::revision::Family;
use residue_isa::revision::rules::SlotBytesMax;
use residue_isa::{FieldOp, GasSchedule, Revision};
use residue_passes::derived::{self, Derived};
use residue_passes::rows::rows;
use residue_passes::{Allocation, Cost, Rows, Slot, allocate, threads};

/// Code that has not been judged yet, with all that the checker wants to see.
pub(crate) struct Built {
    /// The program, then its subprograms.
    pub units: Vec<Unit>,
    pub memory_bytes: u32,
    pub stack_words: usize,
    pub listing: Listing,
}

/// Items with their code, and what is known of them.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub assembly: Assembly,
    pub code: Code,
    /// Label at the end of the last function.
    pub fail: LabelId,
    /// Labels whose addresses have to fit the cells of a word, and how many bytes after them do too.
    pub near: Vec<(LabelId, usize)>,
    /// Bodies that are equally long, as code computes their addresses.
    pub filled: Vec<Filled>,
    /// Expected runs of each item in one call.
    pub runs: Vec<f64>,
}

impl Listing {
    /// True if cells have room for the addresses of chosen labels in code of these labels.
    pub fn is_near(&self, code: &Code) -> bool {
        too_far(&self.near, code).is_none()
    }
}

/// Rounds in which calls of subroutines by subroutines are counted.
const CALL_ROUNDS: usize = 4;

/// Runs of each item: in functions from those of the items where they change, and in subroutines of targets, which are before and after all functions, as
/// often as the label before them is pushed.
fn runs(changes: &[(usize, f64)], items: &[Item], fail: LabelId) -> Vec<f64> {
    let mut runs = vec![1.0; items.len()];
    let end = items.iter().position(|item| *item == Item::Label(fail)).unwrap_or(items.len());
    let ends = changes.iter().skip(1).map(|&(next, _)| next).chain([end]);
    for (&(start, expected), end) in changes.iter().zip(ends) {
        runs[start..end.max(start)].fill(expected);
    }
    let first = changes.first().map_or(end, |&(first, _)| first);
    for _ in 0..CALL_ROUNDS {
        let mut pushed: HashMap<LabelId, f64> = HashMap::new();
        for (item, runs) in items.iter().zip(&runs) {
            if let Item::PushLabel(label) | Item::PushDistances { to: label, .. } = item {
                *pushed.entry(*label).or_default() += runs;
            }
        }
        for area in [0..first, end..items.len()] {
            let mut calls = 1.0;
            for item in area {
                if let Item::Label(label) = &items[item] {
                    calls = pushed.get(label).copied().unwrap_or(calls);
                }
                runs[item] = calls;
            }
        }
    }
    runs
}

/// A program or subprogram that has been lowered.
pub(crate) struct Unit {
    /// As it was lowered: simplified, with the constants that the target wants.
    pub program: Program,
    pub allocation: Allocation,
    pub constant_slots: Vec<Slot>,
    pub slots: u32,
    pub target: Box<dyn Target>,
    pub blocks: Vec<LoweredBlock>,
    pub ways: Vec<HeldWay>,
    /// Label at the start of each function.
    pub begins: Vec<LabelId>,
}

impl Built {
    /// True if a block spills values to memory.
    pub fn lacks_room(&self) -> bool {
        let lacks_room = |target: &dyn Target| {
            target.words().is_some_and(target::words::Words::lacks_room)
                || target.wide().is_some_and(target::wide::Wide::lacks_room)
        };
        self.units.iter().any(|unit| lacks_room(unit.target.as_ref()))
    }

    /// True if a unit has values of several words.
    pub fn is_wide(&self) -> bool {
        self.units.iter().any(|unit| unit.target.wide().is_some())
    }

    /// True if the state of a sequence stays on the stack.
    pub fn holds_state(&self) -> bool {
        self.units.iter().any(|unit| unit.target.words().is_some_and(target::words::Words::holds_state))
    }

    pub fn evidence<'a>(&'a self, source: &'a Program) -> impl Iterator<Item = Evidence<'a>> {
        self.units.iter().zip(source.units()).map(|(unit, source)| Evidence {
            source,
            lowered: &unit.program,
            allocation: &unit.allocation,
            blocks: &unit.blocks,
            ways: &unit.ways,
            code: &self.listing.code,
            constant_slots: &unit.constant_slots,
            target: unit.target.as_ref(),
        })
    }
}

pub(crate) fn build(
    specialised: &Specialised<'_>,
    schedule: &GasSchedule,
    rules: &Rules,
) -> Result<Built, CompileError> {
    let Specialised { stage, interface, fusions, .. } = specialised;
    let priced = Priced { interface: *interface, schedule, fusions };
    let Interface { revision, dialect, .. } = *interface;
    for subprogram in &stage.source.subprograms {
        require_subprogram(subprogram, revision)?;
    }
    let unit = |unit: &Program| {
        let unit = with_modulus(unit, revision)?;
        require_inversion(&unit, revision, dialect)?;
        require_order(&unit, revision, dialect)?;
        require_precompiles(&unit, dialect)?;
        let mut program = with_constants(&unit, revision);
        fuse(&mut program, &priced);
        Ok(program)
    };
    let programs = stage.simplified.units().map(unit).collect::<Result<Vec<Program>, CompileError>>()?;
    let borrowed: Vec<&Program> = programs.iter().collect();
    let rows: Vec<Rows<'_>> = programs.iter().map(|program| rows(program, &limits(program, revision))).collect();
    let mut assembly = Assembly::for_fork(dialect.fork);
    let origin = assembly.new_label();
    assembly.mark(origin);
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut base_bytes = words_base_bytes(&borrowed, revision);
    let has_modexp = is_by_modexp(&stage.source, revision, dialect);
    for (unit, (program, rows)) in programs.iter().zip(rows).enumerate() {
        let context = u32::try_from(unit).expect("subprograms are few");
        let is_late = unit > 0 && is_entered_late(&borrowed, unit - 1);
        let words = Rules { base_bytes, ..rules.clone() };
        let part = part(Unplaced { program, context, is_late, has_modexp, words }, rows, &priced, &mut assembly)?;
        if part.target.is_in_memory() && part.has_elements() {
            base_bytes = part.target.memory_bytes();
        }
        parts.push(part);
    }
    require_slot_bytes(&parts, revision)?;
    let (lowered, code) = assembled(&parts, (revision, origin), &mut assembly)?;
    if let Some(offset) = too_far(&lowered.near, &code) {
        return Err(CompileError::Far { offset, limit: CHOSEN_MAX });
    }
    let unit = |(part, lowered): (Part<'_>, lower::LoweredUnit)| Unit {
        program: part.program.clone(),
        allocation: part.allocation,
        constant_slots: part.constant_slots,
        slots: part.slots,
        target: part.target,
        blocks: lowered.blocks,
        ways: lowered.ways,
        begins: lowered.begins,
    };
    let units = parts.into_iter().zip(lowered.units).map(unit).collect();
    let lower::Lowered { memory_bytes, stack_words, fail, near, filled, runs: changes, .. } = lowered;
    let runs = runs(&changes, assembly.items(), fail);
    Ok(Built { units, memory_bytes, stack_words, listing: Listing { assembly, code, fail, near, filled, runs } })
}

/// The end of chosen labels that cells have no room for.
fn too_far(near: &[(LabelId, usize)], code: &Code) -> Option<usize> {
    near.iter().map(|(label, bytes)| code.labels[label] + bytes).find(|&offset| offset > CHOSEN_MAX)
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
pub(crate) const CHOSEN_MAX: usize = 0xffff;

/// Offset of slots that are words of memory: after the scratch memory for setting up a given modulus.
fn words_base_bytes(programs: &[&Program], revision: Revision) -> u32 {
    let has_given = programs.iter().any(|program| program.modulus.known().is_none());
    if revision.family() == Family::Words && has_given { target::words::SCRATCH_BYTES } else { 0 }
}

/// `simplified` with the constants that a target wants.
fn with_constants(simplified: &Program, revision: Revision) -> Program {
    let mut program = Program { subprograms: Vec::new(), ..simplified.clone() };
    forget_constants(&mut program);
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

/// Makes constants 0 that nothing reads, as zero has a slot in any case: those of arms that are not taken, and those that were folded. Their numbers stay.
fn forget_constants(program: &mut Program) {
    let mut is_read = vec![false; program.constants.len()];
    for function in &program.functions {
        let mut read = |operand| {
            if let Operand::Constant(id) = operand {
                is_read[id.0 as usize] = true; // u32 to usize widens
            }
        };
        function.results.iter().copied().for_each(&mut read);
        function.body.walk(&mut |statement| statement.for_each_operand(&mut read));
    }
    for (constant, _) in program.constants.iter_mut().zip(is_read).filter(|(_, is_read)| !is_read) {
        *constant = BigUint::ZERO;
    }
}

/// The factors of Montgomery form, if the program uses it and the revision's own form is another.
fn mont_constants(program: &Program, revision: Revision) -> Option<[BigUint; 2]> {
    let modulus = program.modulus.known().filter(|_| target::uses_mont(program))?;
    target::mont_constants(modulus, revision.family())
}

/// A program or subprogram that is placed and can be lowered.
pub(crate) struct Part<'a> {
    pub program: &'a Program,
    pub rows: Rows<'a>,
    pub allocation: Allocation,
    pub constant_slots: Vec<Slot>,
    pub spare: Slot,
    pub slots: u32,
    pub target: Box<dyn Target>,
    pub calls: CallGas,
    /// True if its modulus is set at the entry of the part, not at the start of the program.
    pub is_late: bool,
    /// True if the precompile MODEXP inverts.
    pub has_modexp: bool,
}

impl Part<'_> {
    /// True if it has elements: without elements it needs no modulus.
    pub fn has_elements(&self) -> bool {
        has_elements(self.program)
    }

    /// Bytes at the bottom of memory that its target uses for itself.
    pub fn memory_bytes(&self) -> u64 {
        if self.has_elements() { self.target.memory_bytes().into() } else { 0 }
    }
}

/// True if a program has elements.
pub(crate) fn has_elements(program: &Program) -> bool {
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

/// A program or subprogram before it is placed.
struct Unplaced<'a> {
    program: &'a Program,
    /// The id of its field context.
    context: u32,
    is_late: bool,
    has_modexp: bool,
    /// Its slots, if they are words of memory.
    words: Rules,
}

/// Places a program, and makes its target.
fn part<'a>(
    unplaced: Unplaced<'a>,
    mut rows: Rows<'a>,
    priced: &Priced<'_>,
    assembly: &mut Assembly,
) -> Result<Part<'a>, CompileError> {
    let Unplaced { program, is_late, has_modexp, ref words, .. } = unplaced;
    let Priced { interface: Interface { revision, dialect, .. }, schedule, fusions } = *priced;
    let limit = slot_limit(revision);
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
        (Family::Words, _) => names.given(&program.constants, first_constant),
        _ => names.given_once(&program.constants, first_constant),
    };
    let after_constants = u32::try_from(derived.slots.len().max(derived.given.len())).expect("it fitted above");
    let slots = first_constant + after_constants + u32::from(is_literal);
    let constant_slots = derived.slots.clone();
    let constant_slot = |constant: &BigUint| constant_slots[position(&program.constants, constant)];
    let zero = constant_slot(&BigUint::ZERO);
    let mont = mont_constants(program, revision)
        .map(|[parse, output]| MontFactors { parse: constant_slot(&parse), output: constant_slot(&output) });
    let places = Places { first_constant, zero, spare, mont, is_literal };
    let target = make_target(unplaced, &rows, priced, derived, places, assembly);
    let calls = CallGas::of(schedule);
    Ok(Part { program, rows, allocation, constant_slots, spare, slots, target, is_late, has_modexp, calls })
}

/// Target of the revision's family.
fn make_target(
    Unplaced { program, context, is_late, has_modexp, words }: Unplaced<'_>,
    rows: &Rows<'_>,
    priced: &Priced<'_>,
    derived: Derived,
    places: Places,
    code: &mut Assembly,
) -> Box<dyn Target> {
    let Priced { interface: Interface { revision, rules, .. }, schedule, .. } = *priced;
    if let Some(rules) = rules {
        let row_bytes = rows.parsed_bytes_max();
        let modulus = (&program.modulus, context, is_late);
        let slots = target::slots::Slots::new((revision, rules), modulus, derived, row_bytes, places, code);
        return Box::new(slots.with_prices(priced, &program.modulus));
    }
    if revision.family() == Family::Words {
        if let Some(system) = wide_system(program) {
            return Box::new(target::wide::Wide::new(system, (program, has_modexp), &words, places, code));
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

#[cfg(test)]
mod tests {
    use residue_ir::{Feature, Machine, record};
    use residue_isa::{GasSchedule, Revision};

    /// A constant of an arm that no revision takes is in no code.
    #[test]
    fn constants_that_nothing_reads_are_in_no_code() {
        let p = (num_bigint::BigUint::from(1u8) << 127u8) - 1u8;
        fn times<M: Machine>(machine: &M, constant: u64) -> M::Fe {
            machine.parse(machine.small(0), 16) * machine.constant(&(constant * 0x0101_0101_0101_0101).into())
        }
        let whole = record("arms", &p, |machine| {
            let value = machine.branch(
                machine.has(Feature::Limbs(99)),
                |machine| times(machine, 7),
                |machine| times(machine, 5),
            );
            machine.return_elements(value, 16);
        });
        let taken = record("arms", &p, |machine| machine.return_elements(times(machine, 5), 16));
        let mut compiled = 0;
        for &revision in Revision::ALL {
            let schedule = GasSchedule::default_for(revision).expect("each has a schedule");
            let Ok(expected) = crate::compile(&taken, revision, &schedule) else { continue };
            let found = crate::compile(&whole, revision, &schedule).expect("an arm more is no reason to refuse it");
            // Its number is left, so that some addresses may have a byte more; the constant has eight and more.
            assert!(found.code.len() < expected.code.len() + 8, "{revision}");
            compiled += 1;
        }
        assert!(compiled > 20, "{compiled}");
    }
}
