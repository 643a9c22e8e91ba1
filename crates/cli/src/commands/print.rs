//! `residue print`: a contract, or a program of one's own, in the text form of the IR.

use anyhow::{Result, ensure};
use clap::Args;
use residue_compiler::Dialect;
use residue_ir::text;
use serde_json::json;

use crate::formulas::Formulas;
use crate::options::InterfaceRules;
use crate::subject::{Chosen, KeyOptions};
use crate::takers::{self, Kind, Reads};
use crate::verdict::Verdict;
use crate::{output, program_file};

/// Options of `print`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue print bls12_381/fp2_mul
  residue print bls12_381/g1_add --revision evm384-v7
  residue print examples/ir/polynomial.ir
  residue print examples/ir/polynomial.ir --python")]
pub struct PrintArgs {
    /// A contract of `residue list contracts`, or a file of a program whose name ends in .ir; - for a program on standard input.
    pub contract: String,
    /// The interface and the prices, which decide between formulas.
    #[command(flatten)]
    pub rules: InterfaceRules,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// As a function of the Python package, which records the same program.
    #[arg(long)]
    pub python: bool,
}

/// Prints the program. What is printed compiles to the bytes of the contract, with the option that the first line names.
pub fn print(args: &PrintArgs, json: bool) -> Result<Verdict> {
    let kind = Kind::of(&args.contract, &args.key, Reads::Programs)?;
    kind.ensure_takes(&args.contract, &[&args.key.given(), &args.formulas.given()])?;
    let (program, multiples) = if kind == Kind::Program {
        ensure!(
            args.rules.schedule.is_none(),
            "--schedule has no effect on {:?}, which is a program and has no formulas to choose from: it is for contracts",
            args.contract
        );
        (program_file::read(&args.contract)?, args.formulas.multiples_of_program())
    } else {
        let contract = Chosen::named(&args.contract, &args.key)?;
        let contract = contract.source();
        takers::ensure_formulas(&args.formulas, &args.contract, |product| contract.program_with(product))?;
        let variant =
            args.formulas.compile(contract, args.rules.revision, &args.rules.schedule()?, Dialect::default())?.variant;
        (contract.program_with(variant.product), variant.multiples)
    };
    let text = match args.python {
        true => text::python(&program),
        false => text::print(&program),
    };
    let multiples = crate::formulas::Multiples::of(multiples).option();
    if json {
        let revision = args.rules.revision.name();
        let contract = &args.contract;
        output::json(&json!({ "contract": contract, "revision": revision, "multiples": multiples, "program": text }))?;
    } else if args.python {
        output::result(&text)?;
    } else {
        let options = format!("--revision {} --multiples {multiples}", args.rules.revision);
        output::result(&format!("# residue build FILE.ir {options}\n{text}"))?;
    }
    Ok(Verdict::Good)
}
