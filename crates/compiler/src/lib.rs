//! The compiler: a field program becomes bytecode for a revision, and every compilation is judged.
//!
//! First come the passes that know no machine ([`residue_passes`]): operations are shared and dropped, values placed in
//! slots. Then `lower` emits control, words and calls; a [`target`] supplies the code that depends on the revision;
//! [`fuse`] makes lanes; [`check`] reads the bytes back and compares them with the source.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod build;
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
mod outline;
mod paths;
mod pipeline;
mod portable;
pub mod source_map;
pub mod target;
pub mod wide;
pub mod words;

pub use creation::creation;
pub use dialect::{Deployment, Dialect};
pub use error::CompileError;
pub use residue_passes::{SmallMultiples, TooFewSlots};
pub use source_map::SourceMap;

use build::{Built, Part, Unit, build, has_elements};
use check::check;
use features::{require_modulus, require_subprogram};
use fuse::Fusions;
use outline::{Outlined, outline};
use pipeline::{Interface, Stage};
use residue_ir::program::{Program, WordDef};
use residue_ir::{Feature, Length};
use residue_isa::assembly::Item;
use residue_isa::revision::Family;
use residue_isa::{GasSchedule, Revision};
use residue_passes::specialise::asks;
use residue_passes::spill::spill;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// Slots that are left free where values stand in memory, for what passes after spilling make live: tried one after the other.
const SPARED: [usize; 4] = [8, 24, 64, 128];
use target::words::{NEAR_BYTES_MAX, NEAR_WIDE_BYTES_MAX, Rules};
use words::backward::Plans;
use words::prices::EvmGas;

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
    /// Field instructions in blocks; none for the EVM of today.
    pub field_instructions: usize,
    /// Operations in the program's blocks, after simplification.
    pub operations: usize,
    /// Function and operations of each byte.
    pub source_map: SourceMap,
    /// The blocks that were read back and compared with the program, in the order of the code.
    pub checks: Vec<BlockCheck>,
    /// Bytes of instructions; the rest of the code is data.
    pub instruction_bytes: usize,
}

/// A block of code that was read back and compared with the program. Code that outlining has moved is expanded again for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCheck {
    /// Function of the program.
    pub function: String,
    /// Its bytes; where outlining has moved some of them, those that are left with the calls in their place.
    pub bytes: Range<usize>,
    /// Operations of the program in it.
    pub operations: usize,
    /// Values that are read after it, all of which were compared.
    pub results: usize,
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
    stage: Stage<'a>,
    /// Blocks that were fused for some revision.
    fusions: Arc<Fusions>,
    /// Plans of blocks in words, which deployment does not change.
    plans: Arc<Mutex<Plans>>,
}

/// A program after the passes that prices do not decide, for a revision and a dialect. Equal ones become equal code.
#[derive(Debug, Clone)]
pub struct Specialised<'a> {
    stage: Stage<'a>,
    interface: Interface,
    /// It asked the interface nothing, so all of it is held to the revision's moduli.
    is_as_written: bool,
    fusions: Arc<Fusions>,
    plans: Arc<Mutex<Plans>>,
}

impl PartialEq for Specialised<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Blocks that were fused or planned before are as they would be.
        let Self { stage: Stage { source, simplified, .. }, interface, is_as_written, fusions: _, plans: _ } = self;
        (source, simplified) == (&other.stage.source, &other.stage.simplified)
            && (interface, is_as_written) == (&other.interface, &other.is_as_written)
    }
}

impl Eq for Specialised<'_> {}

impl<'a> Prepared<'a> {
    /// `source` simplified, with small multiples made in the given way.
    pub fn new(source: &'a Program, multiples: SmallMultiples) -> Result<Self, CompileError> {
        residue_ir::verify(source)?;
        let stage = Stage::simplified(Cow::Borrowed(source), multiples);
        Ok(Self { stage, fusions: Arc::default(), plans: Arc::default() })
    }

    /// The same without borrows.
    pub fn into_owned(self) -> Prepared<'static> {
        Prepared { stage: self.stage.into_owned(), fusions: self.fusions, plans: self.plans }
    }

    /// Compiles it for `revision`; `schedule` decides between ways that differ in gas only.
    pub fn compile(
        &self,
        revision: Revision,
        schedule: &GasSchedule,
        dialect: Dialect,
    ) -> Result<Compiled, CompileError> {
        let asked = self.specialised(revision, dialect).weighed_code(schedule);
        let others = match dialect.deployment {
            Some(_) if dialect.length == Length::Full => lengths_asked_for(&self.stage.source),
            _ => Vec::new(),
        };
        let of = |length| self.specialised(revision, Dialect { length, ..dialect }).weighed_code(schedule);
        let cheapest = others.into_iter().map(of).fold(asked, |best, other| cheaper(best, other, |(_, cost)| *cost));
        cheapest.map(|(compiled, _)| compiled)
    }

    /// The program specialised for `revision` and `dialect`: feature tests are resolved, and operations gathered for
    /// the revision's instructions.
    pub fn specialised(&self, revision: Revision, dialect: Dialect) -> Specialised<'_> {
        let interface = Interface::new(revision, dialect);
        let is_as_written = !asks(&self.stage.source);
        let stage = self.stage.borrowed().specialised(&interface);
        let (fusions, plans) = (Arc::clone(&self.fusions), Arc::clone(&self.plans));
        Specialised { stage, interface, is_as_written, fusions, plans }
    }
}

impl Specialised<'_> {
    /// The result of work by rules that remember plans made before at the same prices. Another thread's work meanwhile begins without.
    fn remembering<T>(&self, schedule: &GasSchedule, work: impl FnOnce(Rules) -> T) -> T {
        let known = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = Rules::remembering(std::mem::take(&mut *known()), EvmGas::of(schedule));
        let plans = Rc::clone(&rules.plans);
        let done = work(rules);
        *known() = plans.take();
        done
    }

    /// Builds it; where there are no field instructions, with more room or shorter code where that is called for.
    fn built(&self, schedule: &GasSchedule) -> Result<Built, CompileError> {
        self.remembering(schedule, |rules| self.built_by(rules, schedule))
    }

    fn built_by(&self, mut rules: Rules, schedule: &GasSchedule) -> Result<Built, CompileError> {
        if self.interface.revision.family() != Family::Words {
            return build(self, schedule, &rules);
        }
        let with_room = |rules: &mut Rules| {
            let built = build(self, schedule, rules);
            if rules.extra_slots > 0 || built.as_ref().is_ok_and(|built| !built.lacks_room()) {
                return built;
            }
            rules.extra_slots = Rules::EXTRA_SLOTS;
            build(self, schedule, rules)
        };
        let mut built = with_room(&mut rules);
        // What no account may have, or labels too far apart: shorter code may do.
        let length = |built: &Result<Built, CompileError>| match built {
            Ok(built) => Some(built.listing.code.bytes.len()),
            Err(CompileError::Far { .. } | CompileError::Assemble(_)) => Some(Rules::TOO_FAR),
            Err(_) => None,
        };
        // Over wide fields alone no state is on the stack.
        let is_wide =
            self.stage.simplified.units().all(|unit| !has_elements(unit) || features::wide_system(unit).is_some());
        // Code whose labels are too far apart may be some that holds it.
        let holds_state = !is_wide && built.as_ref().map_or(true, Built::holds_state);
        let mut longest = None;
        let near_bytes = if is_wide { NEAR_WIDE_BYTES_MAX } else { NEAR_BYTES_MAX };
        while let Some(before) = length(&built)
            && !(is_wide && Rules::is_beyond(before))
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
            Some(long) if length(&built).is_some_and(|length| !Rules::fits(length)) => long,
            _ => built,
        }
    }

    /// Compiles it; `schedule` decides between ways that differ in gas only.
    pub fn compile(&self, schedule: &GasSchedule) -> Result<Compiled, CompileError> {
        self.weighed_code(schedule).map(|(compiled, _)| compiled)
    }

    /// The code, with its cost in one call by counts of runs, 0 if bytes do not count. Where slots are too few, values stand in memory ([`spill`]), at
    /// first as few as seem to do.
    fn weighed_code(&self, schedule: &GasSchedule) -> Result<(Compiled, f64), CompileError> {
        let code = self.code_in_slots(schedule);
        let Err(CompileError::Slots { few, .. }) = &code else { return code };
        let limits = SPARED.into_iter().filter_map(|spared| (few.limit as usize).checked_sub(spared)); // u32 to usize widens
        let spilled =
            limits.filter_map(|limit| self.spilled(limit)).find_map(|spilled| match spilled.code_in_slots(schedule) {
                Ok(code) => Some(Ok(code)),
                Err(error) => error.is_mistake().then_some(Err(error)),
            });
        spilled.unwrap_or(code)
    }

    /// The program with at most `limit` live values in slots; none if no value has to move.
    fn spilled(&self, limit: usize) -> Option<Specialised<'static>> {
        let mut source = Program::clone(&self.stage.source);
        let mut subprograms = std::mem::take(&mut source.subprograms);
        let units = subprograms.iter_mut().chain([&mut source]);
        let is_spilled = units.map(|unit| usize::from(spill(unit, limit))).sum::<usize>() > 0;
        source.subprograms = subprograms;
        is_spilled.then(|| Specialised {
            stage: Stage::simplified(Cow::Owned(source), self.stage.multiples),
            interface: self.interface,
            is_as_written: self.is_as_written,
            fusions: Arc::default(),
            plans: Arc::default(),
        })
    }

    /// The same without values in memory.
    fn code_in_slots(&self, schedule: &GasSchedule) -> Result<(Compiled, f64), CompileError> {
        let Interface { revision, dialect, .. } = self.interface;
        if self.is_as_written {
            // What answers leave without values needs no modulus; this does.
            self.stage.source.subprograms.iter().try_for_each(|subprogram| require_subprogram(subprogram, revision))?;
            self.stage.source.units().try_for_each(|unit| require_modulus(unit, revision))?;
        }
        let Weighed { built, outlined, cost } = match dialect.deployment {
            Some(deployment) => self.weighed(schedule, deployment)?,
            None => Weighed { built: self.built(schedule)?, outlined: None, cost: 0.0 },
        };
        let checked = built.evidence(&self.stage.source).map(|evidence| check(&evidence));
        let checked = checked.collect::<Result<Vec<_>, CompileError>>()?;
        let listing = outlined.as_ref().map_or(&built.listing, |outlined| &outlined.listing);
        let instruction_bytes = dialect.require(listing.assembly.items(), &listing.code, revision)?;
        let source_map = source_map::source_map(&built, &checked, outlined.as_ref());
        let items = built.listing.assembly.items();
        let in_blocks = built.units.iter().flat_map(|unit| &unit.blocks).flat_map(|block| block.items.clone());
        let in_blocks = in_blocks.filter(|&item| matches!(items[item], Item::Field(_)));
        let field_instructions = match &outlined {
            Some(outlined) => {
                in_blocks.filter(|&item| outlined.moved[item].is_some()).count() + outlined.shared_fields()
            }
            None => in_blocks.count(),
        };
        let checks = source_map::checks(&built, checked, outlined.as_ref());
        let call_words = outlined.as_ref().map_or(0, |outlined| outlined.call_words);
        let compiled = Compiled {
            revision,
            slots: built.units.iter().map(|unit| unit.slots).sum(),
            memory_bytes: built.memory_bytes,
            stack_words: built.stack_words + call_words,
            field_instructions,
            operations: built.units.iter().map(|unit| operations(&unit.program)).sum(),
            source_map,
            checks,
            instruction_bytes,
            code: listing.code.bytes.clone(),
        };
        Ok((compiled, cost))
    }

    /// The code that costs least by counts of runs, a call's share of its deployment included: where there are no field instructions, of several that
    /// trade gas for bytes.
    fn weighed(&self, schedule: &GasSchedule, deployment: Deployment) -> Result<Weighed, CompileError> {
        let Interface { revision, .. } = self.interface;
        let weigh = |built: Built| {
            let outlined = outline(&built, deployment, schedule, revision)?;
            let listing = outlined.as_ref().map_or(&built.listing, |outlined| &outlined.listing);
            let bytes = listing.code.bytes.len() as f64; // far below 2⁵³
            let cost = listing.gas(&EvmGas::of(schedule)) + deployment.gas_a_byte_and_call() * bytes;
            Ok(Weighed { built, outlined, cost })
        };
        let first = self.built(schedule).and_then(&weigh);
        if revision.family() != Family::Words {
            return first;
        }
        self.remembering(schedule, |rules| self.weighed_by(rules, first, (schedule, &weigh)))
    }

    /// The code that costs least of `best` and of such that trades gas for bytes.
    fn weighed_by(
        &self,
        rules: Rules,
        mut best: Result<Weighed, CompileError>,
        (schedule, weigh): (&GasSchedule, &impl Fn(Built) -> Result<Weighed, CompileError>),
    ) -> Result<Weighed, CompileError> {
        let mut rules = Rules { holds_numbers: true, extra_slots: Rules::EXTRA_SLOTS, ..rules };
        let is_wide = self.stage.simplified.units().any(|unit| features::wide_system(unit).is_some());
        for calls_often in [false, true].into_iter().take(if is_wide { 2 } else { 1 }) {
            rules.calls_often = calls_often;
            for bytes_a_gas in Rules::BYTES_A_GAS {
                rules.bytes_a_gas = bytes_a_gas;
                // Code for gas alone has been weighed; it counts the results for which wide fields have subroutines.
                if !rules.is_short() && !is_wide {
                    continue;
                }
                let next = build(self, schedule, &rules);
                if rules.is_short() {
                    best = cheaper(best, next.and_then(weigh), |weighed| weighed.cost);
                }
            }
        }
        best
    }
}

/// The cheaper one of two forms. One that cannot be made leaves the other, but for code that a judge refused.
fn cheaper<T>(
    one: Result<T, CompileError>,
    other: Result<T, CompileError>,
    cost: impl Fn(&T) -> f64,
) -> Result<T, CompileError> {
    match (one, other) {
        (Err(mistake), _) | (_, Err(mistake)) if mistake.is_mistake() => Err(mistake),
        (Ok(one), Ok(other)) => Ok(if cost(&other) < cost(&one) { other } else { one }),
        (Ok(one), Err(_)) => Ok(one),
        (Err(_), other) => other,
    }
}

/// Code that has not been judged yet, outlined if that is worth it, with its cost in one call.
struct Weighed {
    built: Built,
    outlined: Option<Outlined>,
    cost: f64,
}

/// The lengths below the longest for which a program answers its questions in another way than for the length before.
fn lengths_asked_for(program: &Program) -> Vec<Length> {
    let words = || program.units().flat_map(|unit| &unit.functions).flat_map(|function| &function.words);
    let features: Vec<Feature> = words()
        .filter_map(|word| match word {
            WordDef::Has(feature) => Some(*feature),
            _ => None,
        })
        .collect();
    let differs = |one: Length, other: Length| features.iter().any(|&asked| one.answer(asked) != other.answer(asked));
    Length::ALL.windows(2).filter(|pair| differs(pair[0], pair[1])).map(|pair| pair[1]).collect()
}

fn operations(program: &Program) -> usize {
    let mut count = 0;
    for function in &program.functions {
        function.body.for_each_block(&mut |block| count += block.ops.len());
    }
    count
}
