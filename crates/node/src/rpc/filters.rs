//! Logs, and filters that remember their queries.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use alloy_eips::{BlockId, BlockNumberOrTag};
use alloy_primitives::{B256, BloomInput, Log};
use alloy_rpc_types_eth::{Filter, FilterBlockOption};
use serde_json::Value;

use super::Method;
use super::blocks::{Found, find, numbered, position};
use super::error::{Answer, RpcError};
use super::format::{self, bytes, quantity};
use super::params::Params;
use crate::node::Node;

/// Filters that are kept; the one that was asked longest ago goes first.
const FILTERS_MAX: usize = 1024;
/// A filter that nobody asks for so long is gone, as geth's.
const KEPT_FOR: Duration = Duration::from_secs(300);
/// Logs of one answer.
const LOGS_MAX: usize = 100_000;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("eth_getLogs", |node, params| logs(node, &LogFilter::of(params, 0)?)),
    ("eth_newFilter", |node, params| {
        let filter = LogFilter::of(params, 0)?;
        install(node, Kind::Logs(Box::new(filter)))
    }),
    ("eth_newBlockFilter", |node, _| install(node, Kind::Blocks)),
    ("eth_newPendingTransactionFilter", |node, _| install(node, Kind::Pending)),
    ("eth_uninstallFilter", |node, params| {
        let id = params.number(0)?.unwrap_or(u64::MAX);
        Ok(node.lock().filters.installed.remove(&id).is_some().into())
    }),
    ("eth_getFilterChanges", changes),
    ("eth_getFilterLogs", |node, params| {
        let id = params.number(0)?.unwrap_or(u64::MAX);
        let kind = node.lock().filters.installed.get(&id).map(|installed| installed.kind.clone());
        match kind {
            Some(Kind::Logs(filter)) => logs(node, &filter),
            _ => Err(RpcError::input("filter not found")),
        }
    }),
];

/// Installed filters by id.
#[derive(Debug, Default)]
pub struct Filters {
    installed: BTreeMap<u64, Installed>,
    last: u64,
}

impl Filters {
    /// Blocks after this one are new to all filters: the chain has become another one there.
    pub fn follow(&mut self, number: u64) {
        for installed in self.installed.values_mut() {
            installed.next = installed.next.min(number.saturating_add(1));
        }
    }
}

#[derive(Debug)]
struct Installed {
    kind: Kind,
    /// The first block that has not been told.
    next: u64,
    /// Waiting transactions that have been told.
    told: std::collections::BTreeSet<B256>,
    asked: Instant,
}

#[derive(Debug, Clone)]
enum Kind {
    Logs(Box<LogFilter>),
    Blocks,
    Pending,
}

/// Filter of logs.
#[derive(Debug, Clone)]
pub struct LogFilter {
    filter: Filter,
    /// Topics that a log has to have, whatever they are: null asks for one too, as geth has it.
    topics: usize,
}

impl LogFilter {
    /// The filter of a parameter; of all logs where it is absent.
    pub fn of(params: &Params, at: usize) -> Result<Self, RpcError> {
        let given: Value = params.find(at)?.unwrap_or_else(|| serde_json::json!({}));
        let has = |name| given.get(name).is_some_and(|value: &Value| !value.is_null());
        if has("blockHash") && (has("fromBlock") || has("toBlock")) {
            return Err(RpcError::params(format!(
                "invalid argument {at}: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
            )));
        }
        let topics = given.get("topics").and_then(Value::as_array).map_or(0, Vec::len);
        let invalid = |error| RpcError::params(format!("invalid argument {at}: {error}"));
        Ok(Self { filter: serde_json::from_value(given).map_err(invalid)?, topics })
    }

    /// True if a log matches.
    fn wants(&self, log: &Log) -> bool {
        let is_at = self.filter.address.is_empty() || self.filter.address.contains(&log.address);
        let topic = |(at, wanted): (usize, &alloy_rpc_types_eth::Topic)| {
            wanted.is_empty() || log.topics().get(at).is_some_and(|topic| wanted.contains(topic))
        };
        is_at && log.topics().len() >= self.topics && self.filter.topics.iter().enumerate().all(topic)
    }
}

fn install(node: &Node, kind: Kind) -> Answer {
    let mut working = node.lock();
    let head = node.chain.head()?.0;
    let told = working.pool.all().map(|tx| *tx.tx_hash()).collect();
    let filters = &mut working.filters;
    filters.installed.retain(|_, installed| installed.asked.elapsed() < KEPT_FOR);
    if filters.installed.len() >= FILTERS_MAX {
        let oldest = filters.installed.iter().min_by_key(|(_, installed)| installed.asked).map(|(id, _)| *id);
        oldest.map(|id| filters.installed.remove(&id));
    }
    filters.last += 1;
    let id = filters.last;
    filters.installed.insert(id, Installed { kind, next: head + 1, told, asked: Instant::now() });
    Ok(quantity(id))
}

fn changes(node: &Node, params: &Params) -> Answer {
    let id = params.number(0)?.unwrap_or(u64::MAX);
    let mut working = node.lock();
    let head = node.chain.head()?.0;
    let waiting: Vec<B256> = working.pool.all().map(|tx| *tx.tx_hash()).collect();
    let installed = working.filters.installed.get_mut(&id).ok_or_else(|| RpcError::input("filter not found"))?;
    installed.asked = Instant::now();
    let from = installed.next.min(head + 1);
    installed.next = head + 1;
    let kind = installed.kind.clone();
    if let Kind::Pending = kind {
        let mut new = waiting;
        for number in from..=head {
            let block = node.chain.store().block(number)?;
            new.extend(block.iter().flat_map(|block| block.body.transactions.iter().map(|tx| *tx.tx_hash())));
        }
        new.retain(|hash| installed.told.insert(*hash));
        return Ok(new.into_iter().map(bytes).collect());
    }
    drop(working);
    match kind {
        Kind::Blocks => {
            let hash = |number| Ok::<_, RpcError>(bytes(node.chain.store().hash(number)?.unwrap_or_default()));
            (from..=head).map(hash).collect()
        }
        Kind::Logs(filter) => {
            let mut found = Vec::new();
            let (first, last) = range(node, &filter.filter)?;
            for number in from.max(first)..=head.min(last.max(head.min(last))) {
                logs_of_block(node, number, &filter, &mut found)?;
            }
            Ok(Value::Array(found))
        }
        Kind::Pending => Ok(Value::Array(Vec::new())),
    }
}

/// First and last block of a filter; the last may be one that is to come.
fn range(node: &Node, filter: &Filter) -> Result<(u64, u64), RpcError> {
    let (from, to) = match filter.block_option {
        FilterBlockOption::AtBlockHash(hash) => {
            let number = node.chain.store().number(hash)?.ok_or_else(|| RpcError::input("unknown block"))?;
            return Ok((number, number));
        }
        FilterBlockOption::Range { from_block, to_block } => (from_block, to_block),
    };
    let bound = |tag: Option<BlockNumberOrTag>, default: u64| match tag {
        Some(BlockNumberOrTag::Number(number)) => Ok(number),
        Some(BlockNumberOrTag::Earliest) => Ok(0),
        Some(BlockNumberOrTag::Latest | BlockNumberOrTag::Pending) | None => Ok(default),
        Some(tag) => Ok::<_, RpcError>(numbered(node, BlockId::Number(tag))?.unwrap_or(default)),
    };
    Ok((bound(from, 0)?, bound(to, u64::MAX)?))
}

fn logs(node: &Node, wanted: &LogFilter) -> Answer {
    let head = node.chain.head()?.0;
    let filter = &wanted.filter;
    let (mut first, last) = range(node, filter)?;
    if let FilterBlockOption::Range {
        from_block: None | Some(BlockNumberOrTag::Latest | BlockNumberOrTag::Pending),
        ..
    } = filter.block_option
    {
        first = head;
    }
    if let FilterBlockOption::Range { to_block: Some(BlockNumberOrTag::Number(to)), .. } = filter.block_option {
        if first > to {
            return Err(RpcError::params("invalid block range params"));
        }
        if to > head {
            return Err(RpcError::params("block range extends beyond current head block"));
        }
    }
    if first > head {
        return Err(RpcError::params("block range extends beyond current head block"));
    }
    let mut found = Vec::new();
    for number in first..=last.min(head) {
        logs_of_block(node, number, wanted, &mut found)?;
        if found.len() > LOGS_MAX {
            return Err(RpcError::new(-32005, format!("more than {LOGS_MAX} logs: ask for fewer blocks")));
        }
    }
    Ok(Value::Array(found))
}

/// The logs of a block that a filter wants.
pub fn logs_of_block(node: &Node, number: u64, wanted: &LogFilter, found: &mut Vec<Value>) -> Result<(), RpcError> {
    let Some(header) = node.chain.store().header(number)? else { return Ok(()) };
    let addresses = &wanted.filter.address;
    let may_have = |bloom: &alloy_primitives::Bloom| {
        addresses.is_empty()
            || addresses.iter().any(|address| bloom.contains_input(BloomInput::Raw(address.as_slice())))
    };
    if header.logs_bloom.is_zero() || !may_have(&header.logs_bloom) {
        return Ok(());
    }
    let Some(block) = find(node, BlockId::number(number))? else { return Ok(()) };
    found.extend(all_logs(node, &block)?.into_iter().filter(|(log, _)| wanted.wants(log)).map(|(_, value)| value));
    Ok(())
}

fn all_logs(node: &Node, block: &Found) -> Result<Vec<(Log, Value)>, RpcError> {
    let receipts = node.chain.store().receipts(block.block.header.number)?.unwrap_or_default();
    let mut index = 0;
    let mut logs = Vec::new();
    for (at, (tx, receipt)) in (0u64..).zip(block.block.body.transactions.iter().zip(&receipts)) {
        for log in receipt.logs() {
            logs.push((log.clone(), format::log(log, position(block, at), *tx.tx_hash(), index)));
            index += 1;
        }
    }
    Ok(logs)
}
