//! Histories: contracts, and the transactions that run them one after the other, for one engine that remembers them all.
//!
//! A history says everything that its outcome depends on, so it can be run again by anyone. [`text`] writes it as assembly text
//! with a line for each transaction, and reads that.

pub mod text;

use residue_engine::Fork;
use residue_engine::revm::primitives::Address;
use residue_isa::Revision;
use residue_isa::assembly::{Item, LabelId};

/// Contracts and the transactions that run them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The field instructions there are.
    pub revision: Revision,
    /// The name of the gas schedule.
    pub schedule: String,
    /// The rules of the EVM under them.
    pub fork: Fork,
    /// The accounts that have code.
    pub contracts: Vec<Contract>,
    /// The transactions, in turn.
    pub runs: Vec<Run>,
}

/// An account with code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// Its address.
    pub address: Account,
    /// Body of the account.
    pub body: Body,
}

/// A short address: all other bytes are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(pub u16);

/// Body of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Code, as items that can be left out one by one.
    Code(Vec<Item>),
    /// The designator of EIP-7702: the code of another account.
    Delegation(Account),
}

/// One transaction, or several that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Callee.
    pub to: Account,
    /// Caller.
    pub caller: Account,
    /// Value of the call, in wei.
    pub value: u64,
    /// The gas of the outermost frame.
    pub gas: Gas,
    /// The input, in parts.
    pub input: Vec<Datum>,
    /// Number of repetitions.
    pub times: u16,
    /// True if an inspector watches every instruction.
    pub is_inspected: bool,
    /// True if it begins with the first run's initial state again, on an EVM of its own.
    pub is_fresh: bool,
    /// Authorisations before it begins, from an account to its delegate (EIP-7702).
    pub authorisations: Vec<(Account, Account)>,
}

/// Gas of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gas {
    /// So much.
    Limit(u64),
    /// So many thousandths of what it takes with [`GAS_AMPLE`].
    Share(u16),
}

/// Gas that covers most runs, and ends every loop.
pub const GAS_AMPLE: u64 = 150_000;

/// A part of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum {
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// A word: the offset of a jump target of a contract, with a number of bits from the 32nd on.
    Target {
        /// The contract.
        contract: Account,
        /// The target.
        label: LabelId,
        /// Bits of the word from bit 32 on.
        above: u8,
    },
}

impl History {
    /// The contract at an address.
    pub fn contract(&self, address: Account) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.address == address)
    }

    /// Transactions in all.
    pub fn run_count(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.times)).sum()
    }
}

impl Run {
    /// A plain call with ample gas, which nobody watches.
    pub fn new(to: Account) -> Self {
        Self {
            to,
            caller: Account::CALLER,
            value: 0,
            gas: Gas::Limit(GAS_AMPLE),
            input: Vec::new(),
            times: 1,
            is_inspected: false,
            is_fresh: false,
            authorisations: Vec::new(),
        }
    }
}

impl Account {
    /// The first contract of histories that are made.
    pub const FIRST: Account = Account(0x1000);
    /// The first caller.
    pub const CALLER: Account = Account(0xca00);

    /// The address of twenty bytes.
    pub fn address(self) -> Address {
        let mut bytes = [0; 20];
        bytes[18..].copy_from_slice(&self.0.to_be_bytes());
        Address::from(bytes)
    }
}
