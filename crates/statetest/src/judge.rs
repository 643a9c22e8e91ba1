//! One entry of a test: executed on stock revm and under every rule set asked for, and compared with what is expected.

use std::cell::RefCell;
use std::fmt;

use residue_engine::revm::context::BlockEnv;
use residue_engine::revm::primitives::B256;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::{Batching, Engine};
use residue_isa::Revision;
use thiserror::Error;

use crate::attribution::{Use, first_use};
use crate::collision;
use crate::execution::{Ended, Execution, Setting};
use crate::file::StateTest;
use crate::fork_rules::{environment, rules_of};
use crate::format::Post;
use crate::state::State;
use crate::steps;
use crate::transaction::{Built, build};

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

/// What an entry came to.
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
    /// What is wrong.
    pub fault: Fault,
    /// Accounts that differ from those expected, where these are known.
    pub differences: Vec<String>,
}

/// What is wrong.
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

/// What an entry came to, and under how much.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// Whether it was spared revisions for all that it executes.
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
        if let Some(revision) = self.test.unit.config.revision {
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
            (true, None, Ended::Refused(reason)) => Verdict::Passed { refusal: Some(reason) },
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
        let (cfg, block) = environment(unit, self.fork, spec);
        let built = build(&unit.transaction, self.post.indexes, cfg.chain_id, self.post.exception().is_some());
        let failed = |fault| {
            Ready::Decided(Verdict::Failed(vec![Failure { rules: Rules::Stock, fault, differences: Vec::new() }]))
        };
        match built {
            Built::Ready(transaction) => {
                let results = RefCell::default();
                Ready::Setting(Box::new(Setting { state, cfg, block, transaction: *transaction, results }))
            }
            Built::Unsupported(reason) => Ready::Decided(Verdict::Skipped(reason)),
            Built::Refused(reason) => match self.check_refusal(state, &block, spec, reason.clone()) {
                Ok(()) => Ready::Decided(Verdict::Passed { refusal: Some(reason) }),
                Err(fault) => failed(fault),
            },
        }
    }

    /// Compares an execution with what the test expects.
    pub fn check(self, setting: &Setting<'_>, execution: &Execution) -> Result<(), Fault> {
        match (&execution.ended, self.post.exception()) {
            (Ended::Broken(reason), _) => Err(Fault::Broken { reason: reason.clone() }),
            (Ended::Refused(reason), _) => {
                self.check_refusal(setting.state, &setting.block, setting.cfg.spec, reason.clone())
            }
            (Ended::Executed(_), Some(exception)) => Err(Fault::Accepted { exception }),
            (Ended::Executed(_), None) => {
                let (got, expected) = (execution.logs_hash(), self.post.logs.b256());
                if got != expected {
                    return Err(Fault::Logs { got, expected });
                }
                let (got, expected) = (setting.state_after(execution).root(), self.post.hash.b256());
                if got == expected { Ok(()) } else { Err(Fault::Root { got, expected }) }
            }
        }
    }

    /// A refused transaction is right where an exception is expected; the state that such tests note is not looked at, as fillings
    /// differ in it. Tests of before exceptions were noted expect the state as it was, perhaps with the account that is paid.
    fn check_refusal(self, state: &State, block: &BlockEnv, spec: SpecId, reason: String) -> Result<(), Fault> {
        if self.post.exception().is_some() {
            return Ok(());
        }
        let expected = self.post.hash.b256();
        let is_old = self.post.txbytes.is_none();
        let is_unchanged = || state.root() == expected;
        let is_touched =
            || !spec.is_enabled_in(SpecId::SPURIOUS_DRAGON) && state.with_account(block.beneficiary).root() == expected;
        if is_old && (is_unchanged() || is_touched()) { Ok(()) } else { Err(Fault::Refused { reason }) }
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
