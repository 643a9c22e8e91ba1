//! Table of all groups of measurements.

use super::{
    bn254, comparison, eip2537, evidence, goals, instructions, lanes, libraries, memory, operations, pairing, scaling,
    stock, today,
};
use crate::bench::group::Group;

/// Every group.
pub const GROUPS: &[Group] = &[
    instructions::GROUP,
    lanes::GROUP,
    pairing::GROUP,
    eip2537::GROUP,
    bn254::GROUP,
    evidence::GROUP,
    goals::GROUP,
    today::GROUP,
    libraries::GROUP,
    operations::GROUP,
    operations::ELEMENTS,
    comparison::GROUP,
    scaling::GROUP,
    memory::GROUP,
    stock::GROUP,
];

/// The group of a name.
pub fn find(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_different_names_that_fit_into_paths() {
        for (index, group) in GROUPS.iter().enumerate() {
            assert_eq!(GROUPS.iter().position(|other| other.name == group.name), Some(index));
            assert!(group.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            assert_eq!(find(group.name).map(|found| found.summary), Some(group.summary));
        }
    }
}
