//! What a revision has of what programs ask for, how much it does as one, and what is refused where it has not.

use crate::dialect::Dialect;
use crate::error::CompileError;
use crate::portable::SlotNames;
use crate::{has_elements, target, words};
use residue_ir::program::Program;
use residue_ir::{Effect, Feature};
use residue_isa::opcode::evm;
use residue_isa::revision::Family;
use residue_isa::revision::evm384::Modulus;
use residue_isa::revision::rules::{SLOTS_MAX, SetForm};
use residue_isa::{Revision, SlotRules};
use residue_passes::rows::Sizes;
use residue_passes::{Limits, Slot};

/// How much is made as one: any number of slots are loaded and stored by one instruction, and what is read of calldata together may
/// have a word between elements.
const LIMITS: Limits = Limits { values_max: SLOTS_MAX, gap_bytes_max: 32, moved_whole: None };

/// The same for a program, whose elements are moved as they are, or with zeros in front of them too where there is an instruction for that.
pub(crate) fn limits(program: &Program, revision: Revision) -> Limits {
    let sizes = |rules: &SlotRules| {
        let element_bytes = rules.element_bytes(target::slots::modulus_size_bytes(rules, &program.modulus));
        let least_bytes = u32::try_from(element_bytes).ok()?;
        let most_bytes = if rules.store_padded.is_some() { u8::MAX.into() } else { least_bytes };
        Some(Sizes { least_bytes, most_bytes })
    };
    Limits { moved_whole: revision.slot_rules().and_then(sizes), ..LIMITS }
}

/// How many slots a revision has, before portable code leaves some out.
pub(crate) fn slot_limit(revision: Revision) -> Slot {
    match revision.family() {
        Family::Words => target::words::SLOT_LIMIT,
        _ => revision.evm384().map_or(SLOTS_MAX as Slot, target::evm384::slot_limit),
    }
}

/// Whether `revision` has what the program asks for.
pub(crate) fn has_feature(program: &Program, revision: Revision, dialect: Dialect, feature: Feature) -> bool {
    match feature {
        Feature::PowersOfTwo => revision.slot_rules().is_some_and(|rules| rules.moduli.powers_of_two),
        Feature::Given => no_subprogram(revision, true).is_none(),
        Feature::Inversion => {
            revision.slot_rules().is_some_and(SlotRules::inverts)
                || words::inversion::is_by_modexp(program, revision, dialect)
        }
        Feature::Padding => revision.slot_rules().is_some_and(|rules| rules.store_padded.is_some()),
        Feature::ZeroTest => {
            revision.slot_rules().is_some_and(|rules| rules.is_zero.is_some() || rules.equal.is_some())
        }
        Feature::Order => revision.slot_rules().is_some_and(|rules| rules.less.is_some()),
        Feature::FieldSlots => revision.slot_rules().is_some(),
        Feature::ShortParts => revision.slot_rules().is_some() || revision.family() == Family::Words,
        Feature::LeadingZeros => revision.row(evm::CLZ).is_some_and(|row| row.since <= dialect.fork),
        Feature::Slots(count) => {
            let names = SlotNames::new(revision, slot_limit(revision), dialect.portable);
            names.room(0).is_some_and(|room| count <= room)
        }
        Feature::Limbs(limbs) => limbs as usize <= revision.width_limbs_max(), // u32 to usize widens
        Feature::Precompile(address) => dialect.has_precompile(address),
    }
}

/// Refuses a subprogram where the revision cannot have it.
pub(crate) fn require_subprogram(program: &Program, revision: Revision) -> Result<(), CompileError> {
    let is_given = program.modulus.known().is_none();
    match no_subprogram(revision, is_given) {
        Some(reason) => Err(CompileError::Subprogram { revision, subprogram: program.name.clone(), reason }),
        None => Ok(()),
    }
}

/// Why the revision has no subprograms over a modulus that is given, or known; none if it has.
fn no_subprogram(revision: Revision, is_given: bool) -> Option<&'static str> {
    match revision.slot_rules() {
        None if revision.family() == Family::Words => None,
        None => Some("its values are in memory, where one modulus has room"),
        Some(rules) if rules.form == SetForm::One => Some("it has one field context"),
        Some(rules) if is_given && rules.moduli.top_byte => Some("the first byte of a modulus must not be zero"),
        Some(rules) if is_given && rules.moduli.sizes.is_some() => Some("it has moduli of some sizes only"),
        Some(_) => None,
    }
}

/// Refuses inversions where the revision has no instruction for them.
pub(crate) fn require_inversion(program: &Program, revision: Revision, dialect: Dialect) -> Result<(), CompileError> {
    let mut inverts = false;
    program.for_each_effect(&mut |effect| inverts |= matches!(effect, Effect::Invert { .. }));
    match inverts && !has_feature(program, revision, dialect, Feature::Inversion) {
        true => Err(CompileError::Inversion { revision }),
        false => Ok(()),
    }
}

/// Refuses questions which of two elements is less where the revision has no instruction for them.
pub(crate) fn require_order(program: &Program, revision: Revision, dialect: Dialect) -> Result<(), CompileError> {
    let mut compares = false;
    program.for_each_effect(&mut |effect| compares |= matches!(effect, Effect::Less { .. }));
    match compares && !has_feature(program, revision, dialect, Feature::Order) {
        true => Err(CompileError::Order { revision }),
        false => Ok(()),
    }
}

/// Refuses calls of precompiles that code may not call.
pub(crate) fn require_precompiles(program: &Program, dialect: Dialect) -> Result<(), CompileError> {
    let mut refused = None;
    program.for_each_effect(&mut |effect| {
        if let Effect::Precompile { address, .. } | Effect::ReturnPrecompile { address } = effect
            && !u16::try_from(*address).is_ok_and(|address| dialect.has_precompile(address))
        {
            refused.get_or_insert(*address);
        }
    });
    refused.map_or(Ok(()), |address| Err(CompileError::Precompile { address, fork: dialect.fork }))
}

/// Refuses a modulus that the revision has not.
pub(crate) fn require_modulus(program: &Program, revision: Revision) -> Result<(), CompileError> {
    if !has_elements(program) {
        return Ok(());
    }
    let bits = program.modulus.bits();
    let widest = 64 * revision.width_limbs_max() as u64;
    let limit_bits = revision.evm384().map_or(widest, |interface| interface.modulus_bits_max.into());
    if bits > limit_bits {
        return Err(CompileError::Width { revision, bits, limit_bits });
    }
    let is_fixed = revision.evm384().is_some_and(|interface| interface.modulus == Modulus::Fixed);
    let odd = program.modulus.is_odd();
    let power_of_two = program.modulus.known().is_some_and(|modulus| modulus.trailing_zeros() == Some(bits - 1));
    let rules = revision.slot_rules();
    let expressible = odd
        || revision.family() == Family::Words
        || power_of_two && rules.is_some_and(|rules| rules.moduli.powers_of_two);
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
