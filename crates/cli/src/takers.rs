//! Options that have an effect on some subjects only. Given with another, one is refused with what it is for.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use residue_compiler::Dialect;
use residue_contracts::PROOF_SYSTEMS;
use residue_ir::{Fp2Product, Program};
use residue_isa::Revision;
use residue_workbench::variants::has_use_for_precompiles;

use crate::formulas::Formulas;
use crate::options::CodeRules;
use crate::program_file;
use crate::subject::KeyOptions;

/// The subjects that commands work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A contract of the list.
    Contract,
    /// All of them.
    All,
    /// A verifier, which a key makes.
    Verifier,
    /// A program of the user's.
    Program,
    /// Code of a file.
    Code,
}

/// The kind of subject that a command reads from standard input and from files whose names do not end in `.ir`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Code.
    Code,
    /// Programs from standard input, and nothing from such files.
    Programs,
}

const VERIFIER: &[Kind] = &[Kind::Verifier];
/// Subjects with an example and a choice of formulas.
const LISTED: &[Kind] = &[Kind::Contract, Kind::All, Kind::Verifier];
const COMPILED: &[Kind] = &[Kind::Contract, Kind::All, Kind::Verifier, Kind::Program];
/// Subjects of one code each that is compiled.
const ONE: &[Kind] = &[Kind::Contract, Kind::Verifier, Kind::Program];

/// The options that not every subject takes.
pub const TAKERS: &[(&str, &[Kind])] = &[
    ("--key", VERIFIER),
    ("--witness", VERIFIER),
    ("--allow-unsafe-key", VERIFIER),
    ("--proof", VERIFIER),
    ("--public", VERIFIER),
    ("--example", LISTED),
    ("--f2mul", LISTED),
    ("--explain", LISTED),
    ("--multiples", COMPILED),
    ("--portable", COMPILED),
    ("--use-precompiles", COMPILED),
    ("--function", COMPILED),
    ("--schedule", COMPILED),
    ("--fork", COMPILED),
    ("--address", ONE),
    ("--certificate", ONE),
    ("--linked", &[Kind::Contract]),
];

impl Kind {
    /// The kind of what is called `name`, where a file goes before a contract of its name.
    pub fn of(name: &str, key: &KeyOptions, reads: Reads) -> Result<Self> {
        let is_system = PROOF_SYSTEMS.iter().any(|system| system.name.eq_ignore_ascii_case(name));
        if is_system && key.key.is_some() {
            return Ok(Self::Verifier);
        }
        if program_file::is_program(name) {
            return Ok(Self::Program);
        }
        match (reads, name) {
            (Reads::Code, "-") => return Ok(Self::Code),
            (Reads::Programs, "-") => return Ok(Self::Program),
            (Reads::Code, _) if Path::new(name).exists() || is_file_name(name) => return Ok(Self::Code),
            (Reads::Programs, _) if is_file_name(name) => {
                bail!("{name:?} is neither a contract nor a program: the name of a program ends in .ir")
            }
            _ if is_system => return Ok(Self::Verifier),
            _ => {}
        }
        residue_contracts::named(name)?;
        Ok(Self::Contract)
    }

    /// Refuses the options given that have no effect on what is called `name`, which is of this kind.
    pub fn ensure_takes(self, name: &str, given: &[&[(&'static str, bool)]]) -> Result<()> {
        for &(option, is_given) in given.iter().copied().flatten() {
            let takers = TAKERS.iter().find(|(known, _)| *known == option).map_or(&[][..], |(_, takers)| takers);
            ensure!(
                !is_given || takers.contains(&self),
                "{option} has no effect on {name:?}, which is {}: it is for {}",
                self.called(),
                in_words(takers)
            );
        }
        Ok(())
    }

    const fn called(self) -> &'static str {
        match self {
            Self::Contract => "a contract",
            Self::All => "every contract",
            Self::Verifier => "a proof system",
            Self::Program => "a program",
            Self::Code => "code",
        }
    }

    const fn many(self) -> Option<&'static str> {
        match self {
            Self::Contract => Some("contracts"),
            Self::All => None,
            Self::Verifier => Some("the proof systems of `residue list verifiers`"),
            Self::Program => Some("programs"),
            Self::Code => Some("code"),
        }
    }
}

/// No name of a contract has a dot.
fn is_file_name(name: &str) -> bool {
    Path::new(name).extension().is_some()
}

fn in_words(kinds: &[Kind]) -> String {
    let many: Vec<&str> = kinds.iter().filter_map(|kind| kind.many()).collect();
    match &many[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        many => many.join(""),
    }
}

/// Refuses options of code that change nothing of this program under any of these revisions.
pub fn ensure_code_rules(
    code: CodeRules,
    name: &str,
    revisions: &[Revision],
    program: impl Fn() -> Program,
) -> Result<()> {
    ensure_portable(code, revisions)?;
    ensure!(
        !code.use_precompiles || has_use_for_precompiles(&program()),
        "--use-precompiles has no effect on {name:?}: it has no use for a precompile"
    );
    Ok(())
}

/// Refuses portable code where code is always portable.
pub fn ensure_portable(code: CodeRules, revisions: &[Revision]) -> Result<()> {
    let matters = revisions.iter().any(|&revision| Dialect::portable_matters(revision));
    let names: Vec<&str> = revisions.iter().map(|revision| revision.name()).collect();
    ensure!(
        !code.portable || matters,
        "--portable has no effect under {}, whose code is always portable: it is for revisions with operands in immediates",
        names.join(", ")
    );
    Ok(())
}

/// Refuses a choice between products in Fp2 for a contract that has none. `program` is its program with such products.
pub fn ensure_formulas(formulas: &Formulas, name: &str, program: impl Fn(Fp2Product) -> Program) -> Result<()> {
    ensure!(
        formulas.f2mul.is_none() || program(Fp2Product::Karatsuba) != program(Fp2Product::Schoolbook),
        "--f2mul has no effect on {name:?}: it has no product in Fp2"
    );
    Ok(())
}
