//! One entry of a test: executed on stock revm and under every rule set asked for, and compared with its expectations.

use std::cell::RefCell;
use std::fmt;

use residue_engine::revm::context::BlockEnv;
use residue_engine::revm::context::result::{ExecutionResult, HaltReason};
use residue_engine::revm::primitives::B256;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::{Batching, Engine};
use residue_isa::Revision;
use thiserror::Error;

use crate::attribution::{Use, first_use};
use crate::collision;
use crate::difference::Difference;
use crate::encoded;
use crate::exception::{Expected, Refusal};
use crate::execution::{Ended, Execution, Setting};
use crate::file::StateTest;
use crate::fork_rules::{blobs_max, environment, rules_of};
use crate::format::Post;
use crate::state::{State, logs_hash};
use crate::steps;
use crate::transaction::{Built, Wanted, build};

/// Why tests with such a creation are skipped.
const STORAGE_COLLISION: &str =
    "it creates a contract where there is storage already, which EIP-7610 refuses and revm does not look at";

/// A revision of each family, for entries that are spared the others.
const REPRESENTATIVES: [Revision; 3] = [Revision::Evm384V7, Revision::Eip5843, Revision::Eip6690_2024];

/// A revision with its engines: the first is compared with stock revm, the others with the first.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The revision that is switched on.
    pub revision: Revision,
    /// Engines that differ in batching alone. Their memory has the engine's own limit: instructions of ours may reach far.
    pub engines: Vec<Engine>,
    /// As the first, with memory as large as revm lets it grow: for programs that need it without any opcode of ours.
    pub unlimited: Engine,
}

/// Whose rules an execution followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rules {
    /// revm as it is.
    Stock,
    /// The engine.
    Revision(Revision, BatchingName),
}

/// When blocks ran as plans, by name.
pub type BatchingName = &'static str;

/// Verdict on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All as expected under all rules.
    Passed {
        /// Why the transaction was refused, if that was expected.
        refusal: Option<String>,
    },
    /// As expected, except that the program uses opcodes of these revisions and does something else under them.
    Uses(Vec<(Revision, Use)>),
    /// Not executed, or not for this EVM, and why.
    Skipped(String),
    /// Something else than expected.
    Failed(Vec<Failure>),
}

/// Something else than expected, under one rule set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whose rules.
    pub rules: Rules,
    /// The fault.
    pub fault: Fault,
    /// Accounts that differ from those expected, where these are known.
    pub differences: Vec<String>,
}

/// Fault of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// Another state.
    #[error("state root {got}, expected {expected}")]
    Root {
        /// As executed.
        got: B256,
        /// As the test says.
        expected: B256,
    },
    /// Other logs.
    #[error("logs hash {got}, expected {expected}")]
    Logs {
        /// As executed.
        got: B256,
        /// As the test says.
        expected: B256,
    },
    /// A transaction was executed that should be refused.
    #[error("the transaction was executed, expected was {exception}")]
    Accepted {
        /// The exception expected.
        exception: String,
    },
    /// A transaction was refused for another reason than it should be.
    #[error("the transaction was refused as {refusal}; expected was {exception}")]
    Exception {
        /// The names of tests for it, and why.
        refusal: String,
        /// The exception expected.
        exception: String,
    },
    /// Fields of the entry say something else.
    #[error("{}", listed(differences))]
    Fields {
        /// The fields.
        differences: Vec<Difference>,
    },
    /// The accounts afterwards are others, though the root is right.
    #[error("the accounts afterwards are not those of the field state")]
    State,
    /// A transaction was refused that should be executed.
    #[error("the transaction was refused: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The EVM gave up.
    #[error("the EVM gave up: {reason}")]
    Broken {
        /// Why.
        reason: String,
    },
    /// Two executions under the same rules differ.
    #[error("another result than with batching {other}")]
    Batching {
        /// The batching of the other.
        other: BatchingName,
    },
    /// The program panicked.
    #[error("panic: {message}")]
    Panic {
        /// Its message.
        message: String,
    },
}

/// Verdict on an entry, and its extent.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// True if revisions were skipped for it because it executes too much.
    pub is_spared: bool,
}

/// An entry made ready to be executed, or what it comes to without.
pub(crate) enum Ready<'a> {
    /// To be executed.
    Setting(Box<Setting<'a>>),
    /// Decided.
    Decided(Verdict),
}

/// One entry of a test under a fork.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub test: &'a StateTest,
    pub fork: &'a str,
    pub post: &'a Post,
}

/// The name users write.
pub fn batching_name(batching: Batching) -> BatchingName {
    match batching {
        Batching::Off => "off",
        Batching::Warm => "warm",
        Batching::Planned => "planned",
        Batching::Always => "always",
        Batching::Traces => "traces",
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rules::Stock => f.write_str("stock"),
            Rules::Revision(revision, batching) => write!(f, "{revision}, batching {batching}"),
        }
    }
}

impl Rules {
    /// Those of an engine.
    pub fn of(engine: &Engine) -> Self {
        Rules::Revision(engine.config().revision, batching_name(engine.config().batching))
    }
}

impl<'a> Entry<'a> {
    /// Executes the entry under all rules; if it executes more instructions than `steps_max`, under one revision of each family.
    pub fn judge(self, subjects: &[Subject], steps_max: Option<u64>) -> Judged {
        let setting = match self.ready() {
            Ready::Setting(setting) => setting,
            Ready::Decided(verdict) => return Judged { verdict, is_spared: false },
        };
        if let Some(revision) = self.test.unit.info.revision {
            let subject = subjects.iter().find(|subject| subject.revision == revision);
            let verdict = subject.map_or_else(
                || Verdict::Skipped(format!("it is a test of {revision}, which is not switched on")),
                |subject| self.judge_declared(&setting, subject),
            );
            return Judged { verdict, is_spared: false };
        }
        let stock = setting.stock();
        let mut failures = Vec::new();
        let mut skipped = None;
        if let Err(fault) = self.check(&setting, &stock) {
            match collision::with_storage(&setting) {
                Some(_) => skipped = Some(STORAGE_COLLISION.to_owned()),
                None => failures.push(self.failure(&setting, Rules::Stock, fault, &stock, None)),
            }
        }
        let is_spared = steps_max.is_some_and(|max| steps::more_than(max, &setting, &stock));
        let mut uses = Vec::new();
        for subject in subjects.iter().filter(|subject| !is_spared || REPRESENTATIVES.contains(&subject.revision)) {
            self.judge_revision(&setting, &stock, subject, &mut uses, &mut failures);
        }
        let verdict = match (failures.is_empty(), skipped, stock.ended) {
            (false, ..) => Verdict::Failed(failures),
            (true, Some(reason), _) => Verdict::Skipped(reason),
            (true, None, _) if !uses.is_empty() => Verdict::Uses(uses),
            (true, None, Ended::Refused(refusal)) => Verdict::Passed { refusal: Some(refusal.reason) },
            (true, None, _) => Verdict::Passed { refusal: None },
        };
        Judged { verdict, is_spared }
    }

    /// Makes the entry ready.
    pub fn ready(self) -> Ready<'a> {
        let spec = match rules_of(self.fork) {
            Ok(spec) => spec,
            Err(reason) => return Ready::Decided(Verdict::Skipped(reason)),
        };
        let StateTest { unit, state, .. } = self.test;
        let (cfg, block) = environment(&unit.env, &unit.config, self.fork, spec);
        let expected = self.post.expect_exception.as_ref();
        let wanted = Wanted { indexes: self.post.indexes, chain_id: cfg.chain_id, spec, expected };
        let built = build(&unit.transaction, &wanted, state);
        let failed = |fault| {
            Ready::Decided(Verdict::Failed(vec![Failure { rules: Rules::Stock, fault, differences: Vec::new() }]))
        };
        match built {
            Built::Ready(transaction) => {
                let signed = self.post.signed();
                let is_compared = !signed.is_empty() && !expected.is_some_and(Expected::is_about_encoding);
                if is_compared && let Some(difference) = encoded::difference(&transaction, signed) {
                    return failed(Fault::Fields { differences: vec![difference] });
                }
                let (results, blobs_max) = (RefCell::default(), blobs_max(&unit.config, self.fork, spec));
                Ready::Setting(Box::new(Setting { state, cfg, block, transaction: *transaction, blobs_max, results }))
            }
            Built::Unsupported(reason) => Ready::Decided(Verdict::Skipped(reason)),
            Built::Contradiction(difference) => failed(Fault::Fields { differences: vec![difference] }),
            Built::Refused(refusal) => match self.check_refusal(state, &block, spec, &refusal) {
                Ok(()) => Ready::Decided(Verdict::Passed { refusal: Some(refusal.reason) }),
                Err(fault) => failed(fault),
            },
        }
    }

    /// Compares an execution with what the test expects.
    pub fn check(self, setting: &Setting<'_>, execution: &Execution) -> Result<(), Fault> {
        match (&execution.ended, self.post.exception()) {
            (Ended::Broken(reason), _) => Err(Fault::Broken { reason: reason.clone() }),
            (Ended::Refused(refusal), _) => {
                self.check_refusal(setting.state, &setting.block, setting.cfg.spec, refusal)
            }
            (Ended::Executed(_), Some(exception)) => Err(Fault::Accepted { exception }),
            (Ended::Executed(result), None) => self.check_executed(setting, execution, result),
        }
    }

    /// All that an entry says of a transaction that is executed.
    fn check_executed(
        self,
        setting: &Setting<'_>,
        execution: &Execution,
        result: &ExecutionResult<HaltReason>,
    ) -> Result<(), Fault> {
        let (got, expected) = (execution.logs_hash(), self.post.logs.b256());
        if got != expected {
            return Err(Fault::Logs { got, expected });
        }
        let after = setting.state_after(execution);
        let (got, expected) = (after.root(), self.post.hash.b256());
        if got != expected {
            return Err(Fault::Root { got, expected });
        }
        self.check_state(&after)?;
        let receipt = self.post.receipt.as_ref();
        let differences = receipt.map(|receipt| receipt.differences(setting, result, got, self.post.signed()));
        match differences.unwrap_or_default() {
            none if none.is_empty() => Ok(()),
            differences => Err(Fault::Fields { differences }),
        }
    }

    /// The accounts that the entry lists.
    fn check_state(self, after: &State) -> Result<(), Fault> {
        let expected = self.post.state.as_ref().map(State::new);
        match expected.is_none_or(|expected| after.differences(&expected).is_empty()) {
            true => Ok(()),
            false => Err(Fault::State),
        }
    }

    /// A refused transaction is right where its exception is expected, and leaves the state as it was, perhaps with the account that is paid:
    /// before Spurious Dragon tools made that one even so. Tests of before exceptions were noted expect no more than that state.
    fn check_refusal(self, state: &State, block: &BlockEnv, spec: SpecId, refusal: &Refusal) -> Result<(), Fault> {
        let expected = self.post.hash.b256();
        let is_unchanged = || state.root() == expected;
        let is_touched =
            || !spec.is_enabled_in(SpecId::SPURIOUS_DRAGON) && state.with_account(block.beneficiary).root() == expected;
        let Some(exception) = &self.post.expect_exception else {
            let is_right = self.post.txbytes.is_none() && (is_unchanged() || is_touched());
            return if is_right { Ok(()) } else { Err(Fault::Refused { reason: refusal.reason.clone() }) };
        };
        if !exception.allows(refusal) {
            return Err(Fault::Exception { refusal: refusal.to_string(), exception: exception.to_string() });
        }
        if !expected.is_zero() && !is_unchanged() && !is_touched() {
            return Err(Fault::Root { got: state.root(), expected });
        }
        let (got, expected) = (logs_hash(&[]), self.post.logs.b256());
        if !expected.is_zero() && got != expected {
            return Err(Fault::Logs { got, expected });
        }
        if self.post.receipt.is_some() {
            let [got, expected] = ["none, as the transaction is refused", "one"].map(str::to_owned);
            return Err(Fault::Fields { differences: vec![Difference::new("receipt", got, expected)] });
        }
        if is_touched() { Ok(()) } else { self.check_state(state) }
    }

    /// A test that names the revision it is for is not for revm as it is: every engine of that revision must give what it expects.
    fn judge_declared(self, setting: &Setting<'_>, subject: &Subject) -> Verdict {
        let mut failures = Vec::new();
        for engine in &subject.engines {
            let execution = setting.with_engine(engine);
            if let Err(fault) = self.check(setting, &execution) {
                failures.push(self.failure(setting, Rules::of(engine), fault, &execution, None));
            }
        }
        if failures.is_empty() { Verdict::Passed { refusal: None } } else { Verdict::Failed(failures) }
    }

    fn judge_revision(
        self,
        setting: &Setting<'_>,
        stock: &Execution,
        subject: &Subject,
        uses: &mut Vec<(Revision, Use)>,
        failures: &mut Vec<Failure>,
    ) {
        let Some((first, others)) = subject.engines.split_first() else {
            return;
        };
        let plain = setting.with_engine(first);
        if !plain.is_same(stock)
            && let Err(fault) = self.check(setting, &plain)
        {
            match first_use(setting, first) {
                Some(found) => uses.push((subject.revision, found)),
                None if setting.with_engine(&subject.unlimited).is_same(stock) => {}
                None => failures.push(self.failure(setting, Rules::of(first), fault, &plain, Some(stock))),
            }
        }
        for engine in others {
            let batched = setting.with_engine(engine);
            if !batched.is_same(&plain) {
                let fault = Fault::Batching { other: batching_name(first.config().batching) };
                failures.push(self.failure(setting, Rules::of(engine), fault, &batched, Some(&plain)));
            }
        }
    }

    /// A failure with the accounts that differ from those that the test names, or else from those of another execution.
    fn failure(
        self,
        setting: &Setting<'_>,
        rules: Rules,
        fault: Fault,
        got: &Execution,
        other: Option<&Execution>,
    ) -> Failure {
        let expected = match (&self.post.state, other) {
            (_, Some(other)) => Some(setting.state_after(other)),
            (Some(accounts), None) => Some(State::new(accounts)),
            (None, None) => None,
        };
        let differences = expected.map_or_else(Vec::new, |expected| setting.state_after(got).differences(&expected));
        Failure { rules, fault, differences }
    }
}

fn listed(differences: &[Difference]) -> String {
    differences.iter().map(Difference::to_string).collect::<Vec<_>>().join("; ")
}
