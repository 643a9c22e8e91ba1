//! Origins: the named stretches of a program's text ([`residue_formula::scope`]) that its operations come from.
//!
//! They attribute the cost of a program to its text; results do not depend on them.

use crate::names::Value;
use foldhash::HashMap;
use residue_formula::scope::Scope;
use std::sync::Arc;

/// Source positions of the operations of a function.
///
/// Two are always equal: programs that do the same in the same way are the same program, whatever their text was called.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// One for each stretch, with the one around it, which comes before it.
    stretches: Vec<(Arc<str>, Option<usize>)>,
    /// By value; values of no operation, and those after the end, have none.
    of_value: Vec<Option<usize>>,
    /// Stretches by serial number.
    known: HashMap<u64, usize>,
}

impl Origins {
    /// Notes that an operation with the result `value` stands within these scopes, outermost first.
    pub fn note(&mut self, value: Value, scopes: &[Scope]) {
        let mut innermost = None;
        for scope in scopes {
            let next = self.stretches.len();
            let stretch = *self.known.entry(scope.serial).or_insert(next);
            if stretch == next {
                self.stretches.push((scope.name.into(), innermost));
            }
            innermost = Some(stretch);
        }
        self.note_stretch(value, innermost);
    }

    /// Notes the same for a stretch by its number.
    pub(crate) fn note_stretch(&mut self, value: Value, stretch: Option<usize>) {
        let index = value.0 as usize; // u32 to usize widens
        if self.of_value.len() <= index {
            self.of_value.resize(index + 1, None);
        }
        self.of_value[index] = stretch;
    }

    /// Adds a stretch within another one, whose number is given.
    pub(crate) fn add_stretch(&mut self, name: &str, around: Option<usize>) {
        self.stretches.push((name.into(), around));
    }

    /// All stretches in order, each with the number of the one around it.
    pub(crate) fn stretches(&self) -> &[(Arc<str>, Option<usize>)] {
        &self.stretches
    }

    /// The number of the innermost stretch around the operation with the result `value`.
    pub(crate) fn innermost(&self, value: Value) -> Option<usize> {
        self.of_value.get(value.0 as usize).copied().flatten() // u32 to usize widens
    }

    /// The stretches that the operation with the result `value` stands within, outermost first: name, and a number that
    /// identifies the stretch within the function.
    pub fn of(&self, value: Value) -> Vec<(Arc<str>, usize)> {
        let mut path = Vec::new();
        let mut next = self.innermost(value);
        while let Some(stretch) = next {
            let (name, around) = &self.stretches[stretch];
            path.push((Arc::clone(name), stretch));
            next = *around;
        }
        path.reverse();
        path
    }
}

impl PartialEq for Origins {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origins {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_knows_the_stretches_around_its_operation() {
        let scope = |name, serial| Scope { name, serial };
        let mut origins = Origins::default();
        origins.note(Value(1), &[scope("line", 3), scope("fp2_mul", 4)]);
        origins.note(Value(3), &[scope("line", 3), scope("fp2_mul", 5)]);
        origins.note(Value(4), &[]);
        assert_eq!(origins.of(Value(1)), [("line".into(), 0), ("fp2_mul".into(), 1)]);
        assert_eq!(origins.of(Value(3)), [("line".into(), 0), ("fp2_mul".into(), 2)]);
        for none in [0, 2, 4, 99] {
            assert_eq!(origins.of(Value(none)), []);
        }
        assert_eq!(origins, Origins::default());
    }
}
