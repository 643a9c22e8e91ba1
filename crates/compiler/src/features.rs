//! What revisions have that programs ask for, and how much they do as one.

use crate::target;
use residue_ir::{Feature, Program};
use residue_isa::revision::Family;
use residue_isa::revision::rules::{SLOTS_MAX, SetForm};
use residue_isa::{Revision, SlotRules};
use residue_passes::Limits;

/// How much is made as one: any number of slots are loaded and stored by one instruction, and what is read of calldata together may
/// have a word between elements.
const LIMITS: Limits = Limits { values_max: SLOTS_MAX, gap_bytes_max: 32, runs_above_bytes: None };

/// The same for a program, whose elements may be moved with zeros in front of them.
pub(crate) fn limits(program: &Program, revision: Revision) -> Limits {
    let padded = |rules: &SlotRules| {
        let element_bytes = rules.element_bytes(target::slots::modulus_size_bytes(rules, &program.modulus));
        u32::try_from(element_bytes).ok().filter(|_| rules.store_padded.is_some())
    };
    Limits { runs_above_bytes: revision.slot_rules().and_then(padded), ..LIMITS }
}

/// Whether `revision` has what a program asks for.
pub(crate) fn has_feature(revision: Revision, feature: Feature) -> bool {
    match feature {
        Feature::PowersOfTwo => revision.slot_rules().is_some_and(|rules| rules.moduli.powers_of_two),
        Feature::Given => no_subprogram(revision, true).is_none(),
        Feature::Inversion => revision.slot_rules().is_some_and(SlotRules::inverts),
        Feature::Padding => revision.slot_rules().is_some_and(|rules| rules.store_padded.is_some()),
        Feature::ZeroTest => revision.slot_rules().is_some_and(|rules| rules.is_zero.is_some()),
        Feature::Limbs(limbs) => limbs as usize <= revision.width_limbs_max(), // u32 to usize widens
    }
}

/// Why the revision has no subprograms over a modulus that is given, or known; none if it has.
pub(crate) fn no_subprogram(revision: Revision, is_given: bool) -> Option<&'static str> {
    match revision.slot_rules() {
        None if revision.family() == Family::Words => None,
        None => Some("its values are in memory, where one modulus has room"),
        Some(rules) if rules.form == SetForm::One => Some("it has one field context"),
        Some(rules) if is_given && rules.moduli.top_byte => Some("the first byte of a modulus must not be zero"),
        Some(rules) if is_given && rules.moduli.sizes.is_some() => Some("it has moduli of some sizes only"),
        Some(_) => None,
    }
}
