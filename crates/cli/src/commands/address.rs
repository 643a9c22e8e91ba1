//! `residue address`: where a contract is on every chain that has it, without asking one.

use anyhow::Result;
use clap::Args;

use crate::deployable::DeployableArgs;
use crate::output;
use crate::verdict::Verdict;

/// Options of `address`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue address p256/verify
  residue address modexp/words --linked
  residue address groth16 --key examples/groth16/key.json --use-precompiles --json")]
pub struct AddressArgs {
    /// The contract.
    #[command(flatten)]
    pub contract: DeployableArgs,
}

/// Compiles the contract and prints the address that follows from its code.
pub fn address(args: &AddressArgs, json: bool) -> Result<Verdict> {
    let deployable = args.contract.compiled()?;
    match json {
        true => output::json(&deployable.to_json())?,
        false => {
            let own = deployable.address().to_checksum(None);
            let stages = deployable.stages.iter();
            let stages = stages.map(|stage| format!("\n{} {}", stage.address().to_checksum(None), stage.stage_name()));
            output::result(&stages.fold(own, |text, line| text + &line))?;
        }
    }
    Ok(Verdict::Good)
}
