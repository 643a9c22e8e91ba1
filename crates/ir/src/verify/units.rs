//! Checks of a program and each of its subprograms before their functions: moduli, and the numbers below them.

use super::Place;
use crate::effect::Effect;
use crate::limits::{MODULUS_BITS_MAX, RETURNED_BYTES_MAX};
use crate::program::{Program, VariableId};
use foldhash::{HashSet, HashSetExt};
use num_bigint::BigUint;

/// Checks where a value is shifted from.
pub(super) fn high(program: &Program, first_bit: u32) -> Result<(), String> {
    let bits = program.modulus.bits();
    if first_bit.is_multiple_of(8) && u64::from(first_bit) < bits {
        Ok(())
    } else {
        Err(format!("no byte of a value of {bits} bits begins at bit {first_bit}"))
    }
}

/// Checks that `elements` elements fit an output with a length known at run time, and that it is not too long.
pub(super) fn returned(elements: usize, element_bytes: u32, limit_bytes: u32) -> Result<(), String> {
    let bytes = elements as u64 * u64::from(element_bytes); // usize to u64 widens
    if element_bytes > 0 && bytes <= u64::from(limit_bytes) && limit_bytes <= RETURNED_BYTES_MAX {
        Ok(())
    } else {
        Err(format!("{bytes} bytes of elements in an output of {limit_bytes}, at most {RETURNED_BYTES_MAX}"))
    }
}

/// Checks that a modulus is one, and that constants and the values of tables are below it.
pub(super) fn numbers(program: &Program) -> Result<(), (Place, String)> {
    let modulus = &program.modulus;
    if modulus.least() < BigUint::from(3u8) || !(2..=MODULUS_BITS_MAX).contains(&modulus.bits()) {
        return Err((Place::Modulus, format!("modulus {modulus} is below 3 or above {MODULUS_BITS_MAX} bits")));
    }
    let least = modulus.least();
    let is_below = |constant: &BigUint| *constant < least;
    if let Some((number, constant)) = program.constants.iter().enumerate().find(|(_, constant)| !is_below(constant)) {
        return Err((Place::Constant(number), format!("constant {constant:#x} is not below the modulus")));
    }
    for (number, table) in program.tables.iter().enumerate() {
        let wrong = |what: String| Err((Place::Table(number), format!("table `{}` {what}", table.name)));
        if table.elements.is_empty() || table.element_values == 0 {
            return wrong("has no element, or elements of no values".to_owned());
        }
        if let Some(element) = table.elements.iter().find(|element| element.len() != table.element_values) {
            return wrong(format!("has elements of {} values, and one of {}", table.element_values, element.len()));
        }
        if let Some(value) = table.elements.iter().flatten().find(|value| !is_below(value)) {
            return wrong(format!("has {value:#x}, which is not below the modulus"));
        }
    }
    Ok(())
}

/// A variable with indices of arrays that the program and a subprogram use, or two subprograms: arrays are of one of them.
pub(super) fn indices_of_two(program: &Program) -> Option<VariableId> {
    let (mut users, mut with_indices) = (HashSet::new(), HashSet::new());
    for (unit, program) in program.units().enumerate() {
        program.for_each_effect(&mut |effect| {
            users.extend(effect.variables().map(|variable| (variable, unit)));
            if matches!(effect, Effect::SetIndices { .. } | Effect::Index { .. }) {
                with_indices.extend(effect.variables());
            }
        });
    }
    let units_of = |variable: &VariableId| users.iter().filter(|(user, _)| user == variable).count();
    with_indices.into_iter().filter(|variable| units_of(variable) > 1).min()
}
