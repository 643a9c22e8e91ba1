//! The specification of each revision.
//!
//! The specification has a list and names of its own, as it imports nothing of ours; the test here holds the two lists together.

use residue_isa::Revision;

/// The executable specification of a revision.
pub fn specified(revision: Revision) -> &'static residue_spec::Revision {
    residue_spec::Revision::named(revision.name()).expect("every revision has a specification, which a test holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_have_the_same_revisions_in_the_same_order() {
        let ours: Vec<_> = Revision::ALL.iter().map(|revision| revision.name()).collect();
        let specified: Vec<_> = residue_spec::Revision::ALL.iter().map(|revision| revision.name).collect();
        assert_eq!(ours, specified);
    }

    /// Opcodes are written twice too: that they are the same shows that no name stands for another revision.
    #[test]
    fn a_revision_has_the_opcodes_of_its_specification() {
        for &revision in Revision::ALL {
            let mut ours: Vec<_> = revision.opcodes().iter().map(|row| (row.byte, row.mnemonic)).collect();
            let opcodes = specified(revision).opcodes.iter();
            let mut specified: Vec<_> = opcodes.map(|opcode| (opcode.byte, opcode.mnemonic)).collect();
            ours.sort_unstable();
            specified.sort_unstable();
            assert_eq!(ours, specified, "{revision}");
        }
    }
}
