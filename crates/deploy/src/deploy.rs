//! `residue deploy`: a contract at its address, by the CREATE2 factory, unless it is there.

use std::thread::sleep;
use std::time::{Duration, Instant};

use alloy_primitives::{B256, Bytes, U256};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use residue_command::deployable::{Deployable, DeployableArgs, FACTORY, FACTORY_CODE};
use residue_command::verdict::Verdict;
use residue_command::{input, output};
use serde_json::{Value, json};

use crate::account::{Fees, Payer, PayerArgs, Unpriced};
use crate::rpc::{Rpc, RpcError};

/// Options of `deploy`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue deploy p256/verify --rpc http://localhost:8545 --unlocked 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  residue deploy modexp/words --linked --rpc http://localhost:8545 --unlocked 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  residue deploy groth16 --key key.json --use-precompiles --rpc https://rpc.example --key-file secret.hex --chain-id 1 --dry-run")]
pub struct DeployArgs {
    /// The contract.
    #[command(flatten)]
    pub contract: DeployableArgs,
    /// The node, by HTTP or HTTPS.
    #[arg(long, value_name = "URL")]
    pub rpc: String,
    /// Account that pays.
    #[command(flatten)]
    pub payer: PayerArgs,
    /// The id that the chain has to have.
    #[arg(long, value_name = "ID", value_parser = input::number)]
    pub chain_id: Option<u64>,
    /// Ask all there is to ask, and send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Seconds to wait for the transaction's receipt.
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    pub timeout: u64,
}

/// Time between two questions for a receipt.
const PAUSE: Duration = Duration::from_millis(200);

/// A deployment that was asked about and not sent yet.
struct Asked {
    transaction: Unpriced,
    fees: Fees,
}

/// Deploys the contract. Sends nothing if the account has its code.
pub fn deploy(args: &DeployArgs, json: bool) -> Result<Verdict> {
    let payer = args.payer.payer()?;
    let deployable = args.contract.compiled()?;
    let rpc = Rpc::new(&args.rpc);
    let chain_id = rpc.chain_id()?;
    if let Some(wanted) = args.chain_id {
        ensure!(chain_id == wanted, "{}: the chain has the id {chain_id}, and --chain-id is {wanted}", args.rpc);
    }
    let parts = || deployable.stages.iter().chain([&deployable]);
    // All that can be asked of all codes is asked before the first is sent.
    let ask = |part| if is_there(&rpc, part)? { Ok(None) } else { asked(&rpc, part, &payer, chain_id).map(Some) };
    let missing = parts().map(ask).collect::<Result<Vec<_>>>()?;
    ensure_balance(&rpc, &payer, missing.iter().flatten(), chain_id)?;
    let mut outcomes = Vec::new();
    for (part, asked) in parts().zip(missing) {
        outcomes.push(match asked {
            None => ("there already", Value::Null),
            Some(asked) if args.dry_run => {
                let known = json!({ "gas": asked.transaction.gas, "wei_max": asked.cost().to_string() });
                ("not sent, and would be created", known)
            }
            Some(asked) => ("created", create(&rpc, part, &payer, asked, args.timeout)?),
        });
    }
    told(&deployable, chain_id, &outcomes, json)
}

/// Sends what was asked about, and waits until the account has its code.
fn create(rpc: &Rpc, part: &Deployable, payer: &Payer, asked: Asked, timeout: u64) -> Result<Value> {
    let hash = payer.send(rpc, asked.transaction, asked.fees)?;
    let receipt = receipt(rpc, hash, Duration::from_secs(timeout))?;
    let gas_used: Option<U256> = receipt.get("gasUsed").and_then(|gas| serde_json::from_value(gas.clone()).ok());
    // Another sender's transaction may have come first: then ours failed, and the contract exists.
    ensure!(
        is_there(rpc, part)?,
        "the transaction {hash} is in a block with status {}, and {} has no code",
        receipt.get("status").unwrap_or(&Value::Null),
        part.address()
    );
    Ok(json!({ "transaction": hash, "gas_used": gas_used.map(|gas| gas.saturating_to::<u64>()) }))
}

/// Refuses more transactions than the account can pay for.
fn ensure_balance<'a>(
    rpc: &Rpc,
    payer: &Payer,
    missing: impl Iterator<Item = &'a Asked> + Clone,
    chain_id: u64,
) -> Result<()> {
    let (count, cost) = (missing.clone().count(), missing.map(Asked::cost).fold(U256::ZERO, U256::saturating_add));
    if count > 1 {
        let from = payer.address();
        let balance: U256 = rpc.get("eth_getBalance", json!([from, "latest"]))?;
        ensure!(
            balance >= cost,
            "{from} has {balance} wei on chain {chain_id}, and up to {cost} are needed for {count} transactions"
        );
    }
    Ok(())
}

/// True if the account has the code. Nothing but this code can get to the address.
fn is_there(rpc: &Rpc, deployable: &Deployable) -> Result<bool> {
    let (address, found) = (deployable.address(), rpc.code(deployable.address())?);
    ensure!(
        found.is_empty() || found == deployable.compiled.code,
        "{address} has other code, of {} bytes: no chain that computes addresses as EIP-1014 has that",
        found.len()
    );
    Ok(!found.is_empty())
}

/// Everything that can be asked before something is sent.
fn asked(rpc: &Rpc, deployable: &Deployable, payer: &Payer, chain_id: u64) -> Result<Asked> {
    let factory = rpc.code(FACTORY)?;
    ensure!(
        !factory.is_empty(),
        "there is no CREATE2 factory at {FACTORY} on chain {chain_id}: its keyless transaction, which github.com/Arachnid/deterministic-deployment-proxy has, creates it"
    );
    ensure!(
        factory == FACTORY_CODE,
        "the code at {FACTORY} on chain {chain_id} is not that of the CREATE2 factory (EIP-7997)"
    );
    let (from, input) = (payer.address(), Bytes::from(deployable.factory_calldata()));
    let call = json!({ "from": from, "to": FACTORY, "data": input });
    let created: Bytes = rpc.get("eth_call", json!([call, "latest"])).map_err(|error| match error {
        RpcError::Refused { reason, .. } => anyhow!("{}: {reason}", not_created(deployable, chain_id)),
        error => error.into(),
    })?;
    let address = deployable.address();
    ensure!(
        created.as_ref() == address.as_slice(),
        "{}: the factory answers {created} where {address} is expected",
        not_created(deployable, chain_id)
    );
    let fees = Fees::of(rpc)?;
    let balance: U256 = rpc.get("eth_getBalance", json!([from, "latest"]))?;
    let gas: U256 = rpc.get("eth_estimateGas", json!([call])).map_err(|error| match error {
        // Nodes that hold an estimate to the balance say so themselves.
        RpcError::Refused { reason, .. } => anyhow!("{from} with {balance} wei cannot pay for it: {reason}"),
        error => error.into(),
    })?;
    let gas = u64::try_from(gas).context("the estimate is more gas than a transaction may take")?;
    let asked = Asked { transaction: Unpriced { chain_id, to: FACTORY, input, gas }, fees };
    let cost = asked.cost();
    ensure!(
        balance >= cost,
        "{from} has {balance} wei on chain {chain_id}, and up to {cost} are needed: {gas} gas at {} wei",
        fees.most()
    );
    Ok(asked)
}

fn not_created(deployable: &Deployable, chain_id: u64) -> String {
    let bytes = deployable.compiled.code.len();
    let fork = deployable.dialect.fork;
    format!(
        "chain {chain_id} does not create {} ({bytes} bytes of code for {fork}; --fork names an older one)",
        deployable.name()
    )
}

impl Asked {
    /// Wei at most.
    fn cost(&self) -> U256 {
        U256::from(self.transaction.gas).saturating_mul(U256::from(self.fees.most()))
    }
}

/// The receipt of a transaction, once there is one.
fn receipt(rpc: &Rpc, hash: B256, patience: Duration) -> Result<Value> {
    let begun = Instant::now();
    loop {
        let receipt: Value = rpc
            .get("eth_getTransactionReceipt", json!([hash]))
            .with_context(|| format!("the transaction {hash} was sent; asking for its receipt"))?;
        if receipt.is_object() {
            return Ok(receipt);
        }
        if begun.elapsed() >= patience {
            bail!(
                "the transaction {hash} was sent, and is in no block after {} s: the same command later says whether it is",
                patience.as_secs()
            );
        }
        sleep(PAUSE);
    }
}

/// Says what became of it, and of its stages, which come before it.
fn told(deployable: &Deployable, chain_id: u64, outcomes: &[(&str, Value)], json: bool) -> Result<Verdict> {
    let Some(((outcome, known), of_stages)) = outcomes.split_last() else { bail!("there is no code to deploy") };
    let stages = || deployable.stages.iter().zip(of_stages);
    if json {
        let mut object = deployable.to_json();
        object["chain_id"] = chain_id.into();
        add_outcome(&mut object, outcome, known);
        for (number, (_, (outcome, known))) in stages().enumerate() {
            add_outcome(&mut object["stages"][number], outcome, known);
        }
        output::json(&object)?;
    } else {
        let of_stages = stages().map(|(stage, (outcome, known))| described(stage, chain_id, outcome, known) + "\n");
        let text: String = of_stages.chain([described(deployable, chain_id, outcome, known)]).collect();
        output::result(&text)?;
    }
    Ok(Verdict::Good)
}

fn add_outcome(object: &mut Value, outcome: &str, known: &Value) {
    object["outcome"] = outcome.into();
    for key in ["transaction", "gas_used", "gas", "wei_max"] {
        object[key] = known.get(key).cloned().unwrap_or_default();
    }
}

fn described(part: &Deployable, chain_id: u64, outcome: &str, known: &Value) -> String {
    let known = known.as_object().into_iter().flatten().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("\n{}: {value}", name.replace('_', " "))
    });
    let known: String = known.collect();
    format!("{}: {} is {outcome} on chain {chain_id}{known}", part.address(), part.name())
}
