//! End of a transaction and its effects, and the first difference between two of them.

use std::fmt::Debug;

use residue_engine::Halt;
use residue_engine::revm::context::result::ExecutionResult;
use residue_engine::revm::state::EvmState;

/// End of a transaction and its effects: everything that must not depend on the engine's memory of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// Result, gas, output and logs; or why revm refused the transaction.
    pub result: Result<ExecutionResult, String>,
    /// Halt of the outermost frame, in our terms; none if no frame began.
    pub halt: Option<Halt>,
    /// Gas of the outermost frame, refunds not subtracted.
    pub gas_used: u64,
    /// Memory of the outermost frame; empty after an exceptional halt, where it means nothing.
    pub memory: Vec<u8>,
    /// Every account touched: balance, nonce, code, storage.
    pub state: EvmState,
}

impl Ending {
    /// The name of the halt.
    pub fn halt_name(&self) -> &'static str {
        self.halt.map_or("no_frame", Halt::name)
    }

    /// First difference from another ending.
    pub fn difference(&self, found: &Self) -> Option<String> {
        if self == found {
            return None;
        }
        let by = |what: &str, plain: &dyn Debug, found: &dyn Debug| {
            Some(format!("{what} is {plain:?} by the plain engine, {found:?} here"))
        };
        if self.halt != found.halt {
            return by("halt", &self.halt_name(), &found.halt_name());
        }
        if self.gas_used != found.gas_used {
            return by("gas used", &self.gas_used, &found.gas_used);
        }
        let whole = || by("the result", &self.result, &found.result);
        let (Ok(a), Ok(b)) = (&self.result, &found.result) else { return whole() };
        let output = |result: &ExecutionResult| result.output().cloned().unwrap_or_default();
        bytes_differ("output", &output(a), &output(b))
            .or_else(|| bytes_differ("memory", &self.memory, &found.memory))
            .or_else(|| (a.logs() != b.logs()).then(|| by("what was logged", &a.logs(), &b.logs()))?)
            .or_else(|| states_differ(&self.state, &found.state))
            .or_else(whole)
    }

    /// First difference from the specification's outcome.
    pub fn difference_from_specified(&self, specified: &residue_spec::Outcome) -> Option<String> {
        let by = |what: &str, plain: &dyn Debug, specified: &dyn Debug| {
            Some(format!("{what} is {plain:?} by the plain engine, {specified:?} by the specification"))
        };
        if self.halt_name() != specified.halt.name() {
            return by("halt", &self.halt_name(), &specified.halt.name());
        }
        if self.gas_used != specified.gas_used {
            return by("gas used", &self.gas_used, &specified.gas_used);
        }
        let output = self.result.as_ref().ok().and_then(ExecutionResult::output).map_or(&[][..], |output| output);
        let memory = if specified.halt.is_exceptional() { &[][..] } else { &specified.memory };
        bytes_differ("output", output, &specified.output).or_else(|| bytes_differ("memory", &self.memory, memory))
    }
}

fn states_differ(plain: &EvmState, found: &EvmState) -> Option<String> {
    let mut addresses: Vec<_> = plain.keys().chain(found.keys()).collect();
    addresses.sort_unstable();
    let address = addresses.into_iter().find(|address| plain.get(*address) != found.get(*address))?;
    let (Some(a), Some(b)) = (plain.get(address), found.get(address)) else {
        return Some(format!("the account {address} is touched by one side only"));
    };
    let mut keys: Vec<_> = a.storage.keys().chain(b.storage.keys()).collect();
    keys.sort_unstable();
    if let Some(key) = keys.into_iter().find(|key| a.storage.get(*key) != b.storage.get(*key)) {
        let value =
            |storage: Option<&residue_engine::revm::state::EvmStorageSlot>| storage.map(|slot| slot.present_value);
        let (a, b) = (value(a.storage.get(key)), value(b.storage.get(key)));
        return Some(format!("storage of {address} at {key:#x} is {a:?} by the plain engine, {b:?} here"));
    }
    let shown = |account: &residue_engine::revm::state::Account| format!("{:?}, {:?}", account.info, account.status);
    Some(format!("the account {address} is {} by the plain engine, {} here", shown(a), shown(b)))
}

fn bytes_differ(what: &str, plain: &[u8], found: &[u8]) -> Option<String> {
    if plain.len() != found.len() {
        return Some(format!(
            "{what} has {} bytes by the plain engine, {} by the other side",
            plain.len(),
            found.len()
        ));
    }
    let first = plain.iter().zip(found).position(|(a, b)| a != b)?;
    let window = |bytes: &[u8]| hex::encode(&bytes[first..bytes.len().min(first + 16)]);
    let (plain, found) = (window(plain), window(found));
    Some(format!("{what} differs from byte {first} on: {plain} by the plain engine, {found} by the other side"))
}
