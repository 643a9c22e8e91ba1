//! A blockchain test of a file: its blocks executed, and compared with all that the file says of them.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_consensus::transaction::SignerRecoverable;
use alloy_rlp::Decodable;
use residue_engine::Engine;
use serde::Deserialize;
use serde_json::Value;

use crate::chain::{Block, Executed, Rules, execute, fault_of, written};
use crate::difference::Difference;
use crate::exception::{Expected, optional};
use crate::execution::Machine;
use crate::format::{Accounts, Config, Info};
use crate::json::unique;
use crate::judge::{self, Failure, Fault, Subject, Verdict};
use crate::quantity::{HexBytes, Word};
use crate::sources::Source;
use crate::state::State;

/// A blockchain test with its name.
#[derive(Debug)]
pub struct ChainTest {
    /// The file.
    pub source: Arc<Source>,
    /// Its name there.
    pub name: String,
    /// Body of the test in the file.
    pub unit: ChainUnit,
}

/// A blockchain test as its file has it. Fields of another name are refused: what they say would not be compared.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChainUnit {
    /// About the test.
    #[serde(rename = "_info")]
    pub info: Info,
    /// The fork.
    pub network: String,
    #[serde(rename = "genesisBlockHeader")]
    genesis_header: Value,
    #[serde(rename = "genesisRLP")]
    genesis_rlp: HexBytes,
    #[serde(deserialize_with = "unique")]
    pre: Accounts,
    #[serde(deserialize_with = "unique")]
    post_state: Accounts,
    #[serde(rename = "lastblockhash")]
    last_block_hash: Word,
    config: Config,
    blocks: Vec<BlockParts>,
    #[serde(rename = "sealEngine")]
    _seal_engine: String,
}

/// A block: one that is executed, or one that is refused.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BlockParts {
    rlp: HexBytes,
    block_header: Option<Value>,
    transactions: Option<Value>,
    receipts: Option<Value>,
    uncle_headers: Option<Vec<Value>>,
    withdrawals: Option<Vec<Value>>,
    blocknumber: Option<String>,
    #[serde(default, deserialize_with = "optional")]
    expect_exception: Option<Expected>,
    /// Content of the encoding, for readers: the encoding counts.
    #[serde(rename = "rlp_decoded")]
    _decoded: Option<Value>,
}

impl ChainTest {
    /// Verdict of the engines of the revision that it names.
    pub(crate) fn judge(&self, subjects: &[Subject]) -> Verdict {
        let Some(revision) = self.unit.info.revision else {
            return Verdict::Skipped("a blockchain test that names no revision is not executed".to_owned());
        };
        let Some(subject) = subjects.iter().find(|subject| subject.revision == revision) else {
            return Verdict::Skipped(format!("it is a test of {revision}, which is not switched on"));
        };
        let failure = |engine: &Engine| {
            let differences = self.unit.differences(engine).err()?;
            Some(Failure {
                rules: judge::Rules::of(engine),
                fault: Fault::Fields { differences },
                differences: Vec::new(),
            })
        };
        match subject.engines.iter().filter_map(failure).collect::<Vec<_>>() {
            none if none.is_empty() => Verdict::Passed { refusal: None },
            failures => Verdict::Failed(failures),
        }
    }
}

impl ChainUnit {
    /// The first place where an engine comes to something else.
    fn differences(&self, engine: &Engine) -> Result<(), Vec<Difference>> {
        let mut state = State::new(&self.pre);
        let genesis = decoded(&self.genesis_rlp, "genesisRLP")?;
        same("genesisBlockHeader", &written::header(&genesis.header), Some(&self.genesis_header))?;
        equal("genesisBlockHeader.stateRoot", state.root(), genesis.header.state_root)?;
        let mut parent = genesis.header;
        for (place, parts) in self.blocks.iter().enumerate() {
            let place = format!("blocks[{place}]");
            if let Some(executed) = self.block(engine, &place, parts, &parent, &state)? {
                (parent, state) = (executed.header, executed.state);
            }
        }
        equal("lastblockhash", parent.hash_slow(), self.last_block_hash.b256())?;
        let lines = state.differences(&State::new(&self.post_state));
        let difference = |line: String| Difference::new("postState", line, "the accounts of the file".to_owned());
        if lines.is_empty() { Ok(()) } else { Err(lines.into_iter().map(difference).collect()) }
    }

    /// A block that is executed, with what the file says of it; none for one that is refused, as it has to be.
    fn block(
        &self,
        engine: &Engine,
        place: &str,
        parts: &BlockParts,
        parent: &Header,
        state: &State,
    ) -> Result<Option<Executed>, Vec<Difference>> {
        let rules = Rules { fork: &self.network, config: &self.config };
        let block = decoded(&parts.rlp, place)?;
        let executed = execute(Machine::Engine(engine), rules, parent, state, &block);
        let fault = match &executed {
            Ok(executed) => fault_of(&block.header, &executed.header).map(|name| (vec![name], name.to_owned())),
            Err(refusal) => Some((refusal.names.clone(), refusal.to_string())),
        };
        match (fault, &parts.expect_exception) {
            (Some((names, _)), Some(expected)) if expected.allows_any(&names) => return Ok(None),
            (None, None) => {}
            (fault, expected) => {
                let got = fault.map_or_else(|| "executed".to_owned(), |(_, text)| format!("refused: {text}"));
                let expected = expected.as_ref().map_or_else(|| "an execution".to_owned(), Expected::to_string);
                return Err(vec![Difference::new(place, got, expected)]);
            }
        }
        let Ok(executed) = executed else { return Ok(None) };
        let field = |name: &str| format!("{place}.{name}");
        same(field("blockHeader"), &written::header(&executed.header), parts.block_header.as_ref())?;
        let senders = block.body.transactions.iter();
        let transactions = senders.map(|tx| written::transaction(tx, tx.recover_signer().unwrap_or_default()));
        same(field("transactions"), &transactions.collect::<Vec<_>>().into(), parts.transactions.as_ref())?;
        if let Some(receipts) = &parts.receipts {
            same(field("receipts"), &executed.receipts.clone().into(), Some(receipts))?;
        }
        let lists = [
            ("uncleHeaders", Value::Array(Vec::new()), &parts.uncle_headers),
            ("withdrawals", written::withdrawals(&block), &parts.withdrawals),
        ];
        for (name, got, list) in lists {
            same(field(name), &got, list.clone().map(Value::from).as_ref())?;
        }
        let number = Value::from(executed.header.number.to_string());
        same(field("blocknumber"), &number, parts.blocknumber.clone().map(Value::from).as_ref())?;
        Ok(Some(executed))
    }
}

fn decoded(rlp: &HexBytes, place: &str) -> Result<Block, Vec<Difference>> {
    let mut rest = &rlp.0[..];
    let block = Block::decode(&mut rest).map_err(|error| error.to_string());
    let block = block.and_then(|block| if rest.is_empty() { Ok(block) } else { Err("bytes after it".to_owned()) });
    block.map_err(|error| vec![Difference::new(format!("{place}.rlp"), error, "a block".to_owned())])
}

fn equal<T: PartialEq + ToString>(field: &str, got: T, expected: T) -> Result<(), Vec<Difference>> {
    if got == expected { Ok(()) } else { Err(vec![Difference::new(field, got.to_string(), expected.to_string())]) }
}

/// Compares what was executed with what the file says: the first field that differs.
fn same(field: impl Into<String>, got: &Value, said: Option<&Value>) -> Result<(), Vec<Difference>> {
    let field = field.into();
    match (got, said) {
        (got, Some(said)) if got == said => Ok(()),
        (Value::Object(got), Some(Value::Object(said))) => {
            let names = got.keys().chain(said.keys());
            let name = names.into_iter().find(|name| got.get(*name) != said.get(*name)).cloned().unwrap_or_default();
            let absent = Value::from("absent");
            same(format!("{field}.{name}"), got.get(&name).unwrap_or(&absent), Some(said.get(&name).unwrap_or(&absent)))
        }
        (Value::Array(got), Some(Value::Array(said))) if got.len() == said.len() => {
            let place = got.iter().zip(said).position(|(got, said)| got != said).unwrap_or_default();
            same(format!("{field}[{place}]"), &got[place], Some(&said[place]))
        }
        (got, said) => {
            let said = said.map_or_else(|| "absent".to_owned(), Value::to_string);
            Err(vec![Difference::new(field, got.to_string(), said)])
        }
    }
}
