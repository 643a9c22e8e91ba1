//! Features of revisions: support for the feature tests of programs, limits of rows, and rejection of unsupported
//! programs.

use crate::dialect::Dialect;
use crate::error::CompileError;
use crate::portable::SlotNames;
use crate::wide::system::{BITS_MAX, Missing, System};
use crate::{has_elements, target, words};
use num_bigint::BigUint;
use residue_ir::program::Program;
use residue_ir::{Effect, Feature};
use residue_isa::opcode::evm;
use residue_isa::revision::Family;
use residue_isa::revision::evm384::Modulus;
use residue_isa::revision::rules::{SLOTS_MAX, SetForm};
use residue_isa::{Fork, Form, Revision, SlotRules};
use residue_passes::rows::Sizes;
use residue_passes::{Limits, Slot};
use std::borrow::Cow;

/// Limits of rows: one instruction loads or stores any number of slots; elements of calldata read together may have a
/// word between them.
const LIMITS: Limits = Limits { values_max: SLOTS_MAX, gap_bytes_max: 32, moved_whole: None };

/// The same for a program, whose elements are moved as they are, or with zeros in front of them too where there is an instruction for that.
pub(crate) fn limits(program: &Program, revision: Revision) -> Limits {
    let sizes = |rules: &SlotRules| {
        let element_bytes = rules.element_bytes(target::slots::modulus_size_bytes(rules, &program.modulus));
        let least_bytes = u32::try_from(element_bytes).ok()?;
        let most_bytes = if rules.has(Form::StorePadded) { u8::MAX.into() } else { least_bytes };
        Some(Sizes { least_bytes, most_bytes })
    };
    Limits { moved_whole: revision.slot_rules().and_then(sizes), ..LIMITS }
}

/// Number of slots of a revision, before portable code excludes some.
pub(crate) fn slot_limit(revision: Revision) -> Slot {
    match revision.family() {
        Family::Words => target::words::SLOT_LIMIT,
        _ => revision.evm384().map_or(SLOTS_MAX as Slot, target::evm384::slot_limit),
    }
}

/// True if `revision` has the feature.
pub(crate) fn has_feature(program: &Program, revision: Revision, dialect: Dialect, feature: Feature) -> bool {
    match feature {
        Feature::PowersOfTwo => revision.slot_rules().is_some_and(|rules| rules.moduli.powers_of_two),
        Feature::Given => no_subprogram(revision, true).is_none(),
        Feature::Inversion => {
            revision.slot_rules().is_some_and(SlotRules::inverts)
                || words::inversion::is_by_modexp(program, revision, dialect)
                || is_by_euclid(program, revision, dialect)
        }
        Feature::Padding => revision.slot_rules().is_some_and(|rules| rules.has(Form::StorePadded)),
        Feature::ZeroTest => {
            revision.slot_rules().is_some_and(|rules| rules.has(Form::IsZero) || rules.has(Form::Equal))
        }
        Feature::Order => revision.slot_rules().is_some_and(|rules| rules.has(Form::Less)),
        Feature::FieldSlots => revision.slot_rules().is_some(),
        Feature::ShortParts => revision.slot_rules().is_some() || revision.family() == Family::Words,
        // They are shifted (EIP-145).
        Feature::WordLanes => revision.family() == Family::Words && dialect.fork >= Fork::Petersburg,
        Feature::ShortCode | Feature::SmallTables => dialect.length.answer(feature).is_some_and(|answer| answer),
        Feature::Packed => revision.slot_rules().is_some_and(|rules| rules.is_packed),
        Feature::LeadingZeros => revision.row(evm::CLZ).is_some_and(|row| row.since <= dialect.fork),
        Feature::Slots(count) => {
            let names = SlotNames::new(revision, slot_limit(revision), dialect.portable);
            names.room(0).is_some_and(|room| count <= room)
        }
        Feature::Limbs(limbs) => limbs as usize <= revision.width_limbs_max(), // u32 to usize widens
        Feature::Precompile(address) => dialect.has_precompile(address),
    }
}

/// True if code for `program` inverts by Euclid's algorithm in words, as for values of several words.
fn is_by_euclid(program: &Program, revision: Revision, dialect: Dialect) -> bool {
    let mut units = program.units().filter(|unit| target::wide::inverts(unit)).peekable();
    // It shifts signed words.
    revision.family() == Family::Words
        && dialect.fork >= Fork::Petersburg
        && units.peek().is_some()
        && units.all(|unit| wide_system(unit).is_some())
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
    match target::wide::inverts(program) && !has_feature(program, revision, dialect, Feature::Inversion) {
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

/// The program, with another modulus where the revision has not its own and nothing is left in it that is below one. Else such a modulus is
/// refused.
pub(crate) fn with_modulus(program: &Program, revision: Revision) -> Result<Cow<'_, Program>, CompileError> {
    let needs_none = || !has_elements(program) && program.tables.is_empty() && program.modulus.known().is_some();
    match require_modulus(program, revision) {
        Err(_) if needs_none() => {
            let modulus = BigUint::from(3u8).into();
            Ok(Cow::Owned(Program { modulus, constants: Vec::new(), ..program.clone() }))
        }
        checked => checked.map(|()| Cow::Borrowed(program)),
    }
}

/// Rejects a modulus that the revision lacks: one that is too long or even, in any program, and one of another field or
/// width than the revision's only one, in programs with elements.
pub(crate) fn require_modulus(program: &Program, revision: Revision) -> Result<(), CompileError> {
    let bits = program.modulus.bits();
    let widest = match program.modulus.known() {
        Some(_) if revision.family() == Family::Words => BITS_MAX,
        _ => 64 * revision.width_limbs_max() as u64,
    };
    let limit_bits = revision.evm384().map_or(widest, |interface| interface.modulus_bits_max.into());
    if bits > limit_bits {
        return Err(CompileError::Width { revision, bits, limit_bits });
    }
    let is_fixed = revision.evm384().is_some_and(|interface| interface.modulus == Modulus::Fixed);
    let odd = program.modulus.is_odd();
    let power_of_two = program.modulus.known().is_some_and(|modulus| modulus.trailing_zeros() == Some(bits - 1));
    let rules = revision.slot_rules();
    let expressible = odd
        || revision.family() == Family::Words && bits <= WORD_BITS
        || power_of_two && rules.is_some_and(|rules| rules.moduli.powers_of_two);
    if !expressible {
        return Err(CompileError::EvenModulus { revision, modulus: program.modulus.most() });
    }
    // A table has elements too.
    if revision.family() == Family::Words
        && (has_elements(program) || !program.tables.is_empty())
        && let Some(Err(Missing::Factor(factor))) = is_wide(program).map(System::new)
    {
        return Err(CompileError::Factor { revision, factor });
    }
    if !has_elements(program) {
        return Ok(());
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

/// Bits of a word.
const WORD_BITS: u64 = 256;

/// The modulus, if values below it are longer than a word.
fn is_wide(program: &Program) -> Option<&BigUint> {
    program.modulus.known().filter(|modulus| modulus.bits() > WORD_BITS)
}

/// The residue system of a program whose values are longer than a word, if it has elements.
pub(crate) fn wide_system(program: &Program) -> Option<System> {
    is_wide(program).and_then(|modulus| System::new(modulus).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_as;
    use residue_ir::text;
    use residue_isa::GasSchedule;
    use residue_passes::SmallMultiples;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Programs without field operations, over the modulus written `M`; `T` is M − 1.
    const BODIES: [&str; 11] = [
        "function f0 \"start\" () -> () values 0 { }",
        "constant c0 = T function f0 \"start\" () -> () values 0 { word w0 = 0x1 return_word w0 }",
        "table t0 \"t\" values 1 { (T) (0x1) } function f0 \"start\" () -> () values 0 { }",
        "array a0 \"a\" values 2 capacity 3 array a1 \"b\" values 1 capacity unbounded
         function f0 \"start\" () -> () values 0 { word w0 = 0x2 reserve a1 w0 }",
        "array a0 \"a\" values 1 capacity 4 table t0 \"t\" values 1 { (T) (T) }
         function f0 \"start\" () -> () values 0 { fill_from a0 t0 }",
        "variable x0 \"x\" function f0 \"start\" () -> () values 0 {
           word w0 = 0x0 word w1 = 0x20 word w2 = defined word w3 = scratch_word w0
           scratch bytes 64 copy_calldata w0 from w0 bytes w1 set_scratch w1 w3
           sha256 (word w0 bytes w1) -> w2 set x0 w2 return_scratch w0 bytes w1 }",
        "subprogram p0 \"p\" modulus M { function f0 \"in\" () -> () values 0 { } }
         function f0 \"start\" () -> () values 0 { enter p0 () }",
        "subprogram p0 \"p\" modulus given limbs 4 { function f0 \"in\" () -> () values 0 { } }
         function f0 \"start\" () -> () values 0 { word w0 = 0x65 enter p0 (w0) }",
        "constant c0 = T function f0 \"start\" () -> () values 0 { return_elements (c0) bytes 600 }",
        // Values that are there for some answers only.
        "constant c0 = T function f0 \"start\" () -> () values 1 { word w0 = has limbs 64 word w1 = 0x0
           branch w0 { reduce w1 -> v0 return_elements (v0) bytes 600 give () } else { return_word w1 give () } -> () }",
        "constant c0 = T function f0 \"start\" () -> () values 1 { word w0 = has powers_of_two word w1 = 0x0
           branch w0 { reduce w1 -> v0 return_elements (v0) bytes 600 give () } else { return_word w1 give () } -> () }",
    ];

    /// Moduli of lengths about those where revisions differ: odd, even and powers of two.
    fn moduli() -> Vec<BigUint> {
        let power = |bits: u32| BigUint::from(1u8) << bits;
        let lengths = [3, 65, 255, 256, 257, 383, 384, 385, 767, 768, 769, 1024, 1025, 4094];
        let about = |bits: u32| [power(bits), power(bits) - 1u8, power(bits) + 1u8, power(bits) + 2u8];
        let mut moduli: Vec<BigUint> = lengths.into_iter().flat_map(about).collect();
        moduli.extend([3u8, 4, 6].map(BigUint::from));
        moduli.push(target::evm384::fixed_modulus());
        moduli
    }

    #[test]
    fn programs_that_operate_on_nothing_are_compiled_or_refused() {
        let mut panicked = Vec::new();
        let (mut compiled, mut refused) = (0, 0);
        let with_prices = |revision| (revision, GasSchedule::default_for(revision).unwrap());
        let interfaces: Vec<(Revision, GasSchedule)> = Revision::every().map(with_prices).collect();
        for modulus in moduli() {
            for (number, body) in BODIES.iter().enumerate() {
                let body = body.replace('M', &format!("{modulus:#x}")).replace('T', &format!("{:#x}", &modulus - 1u8));
                let program = text::read(&format!("program \"empty\" modulus {modulus:#x} {body}")).unwrap();
                let dialect = Dialect { portable: number % 2 > 0, ..Dialect::default() };
                for (revision, schedule) in &interfaces {
                    let compile =
                        || compile_as(&program, *revision, schedule, SmallMultiples::AsWritten, dialect).is_ok();
                    match catch_unwind(AssertUnwindSafe(compile)) {
                        Ok(true) => compiled += 1,
                        Ok(false) => refused += 1,
                        Err(_) => panicked.push(format!("{number} {modulus:#x} {revision}")),
                    }
                }
            }
        }
        assert!(compiled > 1000 && refused > 1000, "{compiled} compiled, {refused} refused");
        assert!(panicked.is_empty(), "{} panic, among them {:?}", panicked.len(), &panicked[..panicked.len().min(20)]);
    }

    /// Feature tests are resolved, and the rest needs no modulus.
    #[test]
    fn a_program_that_asks_has_a_modulus_where_there_is_one() {
        let wide = format!("0x1{}", "0".repeat(255) + "1");
        for (modulus, body, revision) in [
            ("0x80", BODIES[10], Revision::Evm384V9),
            ("0x80", BODIES[10], Revision::Eip5843),
            (&wide, BODIES[9], Revision::XMovx),
            (&wide, BODIES[9], Revision::Evm),
        ] {
            let text = format!("program \"asks\" modulus {modulus} {}", body.replace('T', "0x1"));
            let schedule = GasSchedule::default_for(revision).unwrap();
            let compiled = crate::compile(&text::read(&text).unwrap(), revision, &schedule);
            assert!(compiled.is_ok(), "{revision}: {compiled:?}");
        }
    }

    #[test]
    fn a_modulus_that_a_revision_has_not_is_refused_whatever_the_program_does() {
        let refused = |modulus: &str, revision: &str| {
            let text = format!("program \"empty\" modulus {modulus} {}", BODIES[0]);
            let (program, revision) = (text::read(&text).unwrap(), revision.parse().unwrap());
            let schedule = GasSchedule::default_for(revision).unwrap();
            crate::compile(&program, revision, &schedule).unwrap_err().to_string()
        };
        let wide = format!("0x1{}", "0".repeat(255) + "1");
        assert_eq!(refused("0x80", "evm384-v9"), "evm384-v9 needs an odd modulus; this program's is 0x80");
        assert_eq!(
            refused("0x60", "x-callsub"),
            "x-callsub needs an odd modulus or a power of two; this program's is 0x60"
        );
        assert_eq!(refused("0x80", "eip5843"), "eip5843 needs an odd modulus; this program's is 0x80");
        assert_eq!(refused(&wide, "x-movx"), "x-movx has moduli up to 768 bits; this program's has 1025");
        assert_eq!(refused(&wide, "evm"), "evm has moduli up to 768 bits; this program's has 1025");
    }
}
