//! Why a program cannot be compiled.

use crate::features::slot_limit;
use num_bigint::BigUint;
use residue_ir::VerifyError;
use residue_isa::assembly::AssembleError;
use residue_isa::{Fork, Revision};
use residue_passes::TooFewSlots;
use thiserror::Error;

/// Why a program cannot be compiled for a revision. A limit names the function and the number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The program is not well formed.
    #[error("the program is not well formed: {0}")]
    Program(VerifyError),
    /// The modulus has a width that the revision does not have.
    #[error("{revision} has moduli up to {limit_bits} bits; this program's has {bits}")]
    Width {
        /// The revision.
        revision: Revision,
        /// Bits of the modulus.
        bits: u64,
        /// The most the revision can have.
        limit_bits: u64,
    },
    /// The revision has moduli of one width only.
    #[error("{revision} has moduli of {limbs} limbs only; this program's has {bits} bits")]
    OnlyWidth {
        /// The revision.
        revision: Revision,
        /// Bits of the modulus.
        bits: u64,
        /// The only width in 64-bit limbs.
        limbs: usize,
    },
    /// It has no instruction that inverts, and the program does not ask.
    #[error("{revision} has no instruction that inverts: ask with `has inversion`")]
    Inversion {
        /// The revision.
        revision: Revision,
    },
    /// It has no instruction that tells which of two elements is less, and the program does not ask.
    #[error("{revision} has no instruction that tells which of two elements is less: ask with `has order`")]
    Order {
        /// The revision.
        revision: Revision,
    },
    /// Montgomery form needs an odd modulus.
    #[error("{revision} needs an odd modulus{}; this program's is {}", or_power_of_two(*revision), shown(modulus))]
    EvenModulus {
        /// The revision.
        revision: Revision,
        /// The modulus.
        modulus: BigUint,
    },
    /// The modulus has a factor in common with one of those that values are residues of.
    #[error("{revision} has moduli of more than 256 bits without the factor {factor:#x}; this program's has it")]
    Factor {
        /// The revision.
        revision: Revision,
        /// Their common factor.
        factor: BigUint,
    },
    /// The revision has one field, and the program is over another.
    #[error("{revision} has one field only, the base field of BLS12-381; this program is over another")]
    FixedField {
        /// The revision.
        revision: Revision,
    },
    /// The revision cannot go from one modulus to another and back.
    #[error("{revision} cannot have subprogram `{subprogram}`: {reason}")]
    Subprogram {
        /// The revision.
        revision: Revision,
        /// The subprogram.
        subprogram: String,
        /// Why not.
        reason: &'static str,
    },
    /// More slots are needed at once than there are.
    #[error("{few}; an array (`store` and `load`) holds values in memory{}", with_more(*limit))]
    Slots {
        /// The function, and the number that it needs.
        few: TooFewSlots,
        /// The slots of the revision, those of constants included.
        limit: u32,
    },
    /// More constants than there are slots.
    #[error("the program has {count} constants; {limit} slots hold them and at least one value; a table (`lookup`) holds constants in code{}", with_more(*limit))]
    Constants {
        /// Number of constants.
        count: usize,
        /// Number of slots.
        limit: u32,
    },
    /// Slots together take more bytes than a frame may have.
    #[error("{slots} slots of {element_bytes} bytes, with those of other moduli, are more than {limit_bytes} bytes")]
    SlotBytes {
        /// Slots of the modulus that takes the most.
        slots: u32,
        /// Bytes of one.
        element_bytes: usize,
        /// The most that one frame may have.
        limit_bytes: usize,
    },
    /// Arrays of fixed size, elements and output together take too much memory.
    #[error("the program uses {bytes} bytes of memory whatever its input; at most {limit_bytes} can be used")]
    Memory {
        /// Bytes up to the first that is too far.
        bytes: u64,
        /// The most that there can be.
        limit_bytes: u64,
    },
    /// A word lies too deep in the stack for DUP16.
    #[error("function `{function}` keeps more than 16 words on the stack")]
    Stack {
        /// The function.
        function: String,
    },
    /// The stack would have more words than the EVM's.
    #[error("the stack would have {words} words in function `{function}`; the EVM's has {limit}")]
    Height {
        /// The function where it is highest.
        function: String,
        /// The words, with those of callers.
        words: usize,
        /// The most there can be.
        limit: usize,
    },
    /// Parts of a sequence that words choose are too far from the beginning of the code.
    #[error("parts that words choose end at offset {offset}; their addresses have to be at most {limit}")]
    Far {
        /// End of the labels, in bytes.
        offset: usize,
        /// The last address there can be.
        limit: usize,
    },
    /// The program needs an opcode that the fork lacks, and nothing there does the same.
    #[error("the program needs {opcode}, which {fork} lacks: it came with {since}")]
    Fork {
        /// The fork.
        fork: Fork,
        /// Missing opcode.
        opcode: &'static str,
        /// The first fork that has it.
        since: Fork,
    },
    /// The program calls a precompile that code may not call, or that the fork lacks.
    #[error(
        "the program calls the precompile at {address:#x}: code may do that if it is asked to, and if {fork} has it"
    )]
    Precompile {
        /// Its address.
        address: u32,
        /// The fork.
        fork: Fork,
    },
    /// Portable code has a jump target, or a byte that is taken for one, where only data of PUSH is skipped. This is a mistake in the compiler.
    #[error("the code is not portable: offset {offset} is a jump target for one analysis only")]
    NotPortable {
        /// Offset of the jump target.
        offset: usize,
    },
    /// Outlined code does not expand to the code as it was. This is a mistake in the compiler.
    #[error("outlined code does not expand to the code as it was: {what} at item {item}")]
    Outlined {
        /// Description of the difference.
        what: String,
        /// Index of the outlined item.
        item: usize,
    },
    /// The code could not be encoded.
    #[error("assembling: {0}")]
    Assemble(AssembleError),
    /// The checker found code that does not mean its block. This is a mistake in the compiler.
    #[error("function `{function}`: compiled code does not mean its block: {what}")]
    Judged {
        /// The function.
        function: String,
        /// Description of the difference.
        what: String,
    },
}

// The message says these, so that they are no sources, which would be said again.
impl From<VerifyError> for CompileError {
    fn from(error: VerifyError) -> Self {
        Self::Program(error)
    }
}

impl From<AssembleError> for CompileError {
    fn from(error: AssembleError) -> Self {
        Self::Assemble(error)
    }
}

/// The revisions with more than `limit` slots, for the end of a message.
fn with_more(limit: u32) -> String {
    let mut most: Vec<(u32, Vec<&str>)> = Vec::new();
    for revision in Revision::every() {
        let slots = slot_limit(revision);
        if slots > limit {
            match most.iter_mut().find(|(other, _)| *other == slots) {
                Some((_, names)) => names.push(revision.name()),
                None => most.push((slots, vec![revision.name()])),
            }
        }
    }
    most.sort_unstable_by_key(|&(slots, _)| std::cmp::Reverse(slots));
    let some = |(slots, names): &(u32, Vec<&str>)| match names.len() {
        0..=2 => format!("; {slots} slots under {}", names.join(" and ")),
        others => format!("; {slots} slots under {} and {} others", names[0], others - 1),
    };
    most.iter().map(some).collect()
}

fn or_power_of_two(revision: Revision) -> &'static str {
    let has_them = revision.slot_rules().is_some_and(|rules| rules.moduli.powers_of_two);
    if has_them { " or a power of two" } else { "" }
}

/// A modulus in a message: one that is long by its bits.
fn shown(modulus: &BigUint) -> String {
    if modulus.bits() <= 64 { format!("{modulus:#x}") } else { format!("even and of {} bits", modulus.bits()) }
}

impl CompileError {
    /// True if a judge refused the code, which is a mistake in the compiler: no other form of the code may stand in for it in silence.
    pub fn is_mistake(&self) -> bool {
        matches!(self, Self::Judged { .. } | Self::Outlined { .. } | Self::NotPortable { .. })
    }

    /// True if the revision has no code for such a program: unsupported or too few moduli, inversions or comparisons;
    /// addresses of chosen parts beyond two bytes; too high a stack or too much memory.
    pub fn is_inexpressible(&self) -> bool {
        use CompileError::{
            EvenModulus, Factor, Far, FixedField, Height, Inversion, Memory, OnlyWidth, Order, Subprogram, Width,
        };
        let is_of_modulus =
            matches!(self, Width { .. } | OnlyWidth { .. } | EvenModulus { .. } | FixedField { .. } | Factor { .. });
        is_of_modulus
            || matches!(
                self,
                Subprogram { .. } | Inversion { .. } | Order { .. } | Far { .. } | Height { .. } | Memory { .. }
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::CHOSEN_MAX;
    use crate::lower::layout::MEMORY_BYTES_MAX;
    use crate::{compile, features::slot_limit};
    use residue_ir::text;
    use residue_isa::GasSchedule;
    use residue_isa::opcode::evm;

    #[test]
    fn the_page_has_the_limits_of_code() {
        let mut slots: Vec<(u32, Vec<String>)> = Vec::new();
        for revision in Revision::every() {
            let (limit, name) = (slot_limit(revision), format!("`{revision}`"));
            match slots.iter_mut().find(|(other, _)| *other == limit) {
                Some((_, names)) => names.push(name),
                None => slots.push((limit, vec![name])),
            }
        }
        slots.sort_by_key(|(limit, _)| std::cmp::Reverse(*limit));
        let most = slots.iter().map(|(_, names)| names.len()).max();
        let mut rows = String::new();
        for (limit, names) in slots {
            let names = if Some(names.len()) == most { "any other revision".to_owned() } else { names.join(", ") };
            let limit = residue_pages::grouped(limit.into());
            rows +=
                &format!("| values of one statement and constants, one place left free, under {names} | {limit} |\n");
        }
        for (of, most) in [
            ("bytes of memory that do not depend on the input", MEMORY_BYTES_MAX),
            ("words that a function keeps on the stack", u64::from(evm::DUP16 - evm::DUP1) + 1),
            ("offset in code of a part that a word chooses", CHOSEN_MAX as u64), // usize to u64 widens
        ] {
            rows += &format!("| {of} | {} |\n", residue_pages::grouped(most));
        }
        residue_pages::hold("docs/ir.md", "limits of code", &format!("| | at most |\n|---|---:|\n{rows}"));
    }

    /// A program whose one statement defines `count` values.
    fn at_once(count: usize) -> String {
        let values: String = (0..count).map(|value| format!("v{value} ")).collect();
        format!(
            "program \"live\" modulus 0x61 array a0 \"rows\" values {count} capacity 1
             function f0 \"start\" () -> () values {count} {{ word w0 = 0x0 load a0 w0 -> ({values}) return_elements ({values}) bytes 1 }}"
        )
    }

    #[test]
    fn too_many_values_at_once_are_told_the_ways_out() {
        let message = |count, revision: Revision| {
            let schedule = GasSchedule::default_for(revision).unwrap();
            compile(&text::read(&at_once(count)).unwrap(), revision, &schedule).map_err(|error| error.to_string())
        };
        assert!(message(200, Revision::Eip6690_2024).is_ok());
        let few = message(800, Revision::Eip6690_2024).unwrap_err();
        for part in ["`start` needs more than 254 slots at once, ", "`store` and `load`", "16384 slots under evm and "]
        {
            assert!(few.contains(part), "{few}");
        }
    }

    /// Programs without a placement are refused before quadratic memory is taken.
    #[test]
    fn an_element_that_has_no_place_is_refused_before_all_else() {
        let values: String = (0..20_000).map(|value| format!("v{value} ")).collect();
        let text = format!(
            "program \"wide\" modulus 0x61 table t0 \"t\" values 20000 {{ ({}) }} function f0 \"start\" () -> () values 20000 {{
             word w0 = 0x0 lookup t0 w0 -> ({values}) return_elements (v0) bytes 1 }}",
            "0x1 ".repeat(20_000)
        );
        let program = text::read(&text).unwrap();
        let schedule = |revision| GasSchedule::default_for(revision).unwrap();
        let revision = Revision::Eip6690_2024;
        let error = compile(&program, revision, &schedule(revision)).unwrap_err();
        assert!(matches!(error, CompileError::Slots { ref few, .. } if few.needed == Some(20_000)), "{error}");
        // Where a row of known number is constants, one of them is read here.
        assert!(compile(&program, Revision::Evm, &schedule(Revision::Evm)).is_ok());
    }

    #[test]
    fn constant_indices_that_no_array_has_are_addresses_all_the_same() {
        let most = format!("0x{}", "f".repeat(64));
        for body in [
            "reserve a0 w0 load a0 w1 -> (v0) return_elements (v0) bytes 1",
            "reserve a0 w1 parse w0 bytes 1 -> v0",
            "parse w0 bytes 1 -> v0 store a0 w1 (v0)",
            "load a0 w1 -> (v0)",
        ] {
            let text = format!(
                "program \"p\" modulus 0x61 array a0 \"a\" values 1 capacity unbounded
                 function f0 \"start\" () -> () values 1 {{ word w0 = 0x1 word w1 = {most} {body} }}"
            );
            let program = text::read(&text).unwrap();
            for revision in Revision::every() {
                let compiled = compile(&program, revision, &GasSchedule::default_for(revision).unwrap());
                if let Err(CompileError::Assemble(error)) = compiled {
                    panic!("{revision}: {error}: {body}");
                }
            }
        }
    }
}
