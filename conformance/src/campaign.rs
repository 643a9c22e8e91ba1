//! Many programs, one after the other, with a tally of their ends.

use std::collections::BTreeMap;
use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use residue_judge::differential::{Ending, Pair, Program};
use residue_judge::generate::{self, Kind};

/// Programs of a whole campaign, unless `RESIDUE_CASES` says otherwise.
const CASES: u64 = 700;

/// Programs of a campaign: seeds and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Campaign {
    /// Number of programs.
    pub cases: u64,
    /// The first seed; the others follow by one.
    pub seed: u64,
}

/// Counts of the ends of a campaign's programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs by halt.
    pub by_halt: BTreeMap<&'static str, u64>,
    /// Programs that need a world around their frame.
    pub without_verdict: u64,
}

impl Campaign {
    /// The whole campaign: as many programs as `RESIDUE_CASES` says, from the seed that `RESIDUE_SEED` says, else 0.
    ///
    /// # Panics
    /// If the environment has something else than a number.
    pub fn whole() -> Self {
        Self { cases: residue_extent::number("RESIDUE_CASES").unwrap_or(CASES), seed: residue_extent::seed() }
    }

    /// One `n`-th of the whole campaign, for what runs a program many times.
    ///
    /// # Panics
    /// As [`Campaign::whole`].
    pub fn part(n: u64) -> Self {
        let whole = Self::whole();
        Self { cases: whole.cases.div_ceil(n), ..whole }
    }

    /// A sample of `all` of a quarter, another for the next seed, as many revisions take long.
    ///
    /// # Panics
    /// If the environment has something else than a number.
    pub fn some_of<T>(all: &[T], seed: u64) -> impl Iterator<Item = &T> {
        residue_extent::sample(all, 4, (seed % 4) as usize) // below four
    }

    /// Runs programs of a kind on all sides, a quarter of them with too little gas.
    ///
    /// # Panics
    /// With a report, if two sides disagree.
    pub fn run(self, pair: &Pair, kind: Kind) -> Tally {
        let mut tally = Tally::default();
        for seed in self.seeds() {
            let mut program = generate::program(pair.revision(), kind, seed);
            let mut random = ChaCha8Rng::seed_from_u64(!seed);
            if random.random_ratio(1, 4) {
                program.gas = pair.specified(&program).map_or(0, |ending| random.random_range(0..=ending.gas_used));
            }
            let judged = pair.judge(&program);
            tally.add(judged.unwrap_or_else(|found| panic!("seed {seed}, {kind:?}: {found}")).as_ref());
        }
        tally
    }

    /// Runs short programs at every gas limit up to the one that they use, and one more.
    ///
    /// # Panics
    /// With a report, if two sides disagree.
    pub fn run_at_every_gas(self, pair: &Pair) -> Tally {
        const ENOUGH: u64 = 3_000;
        let mut tally = Tally::default();
        for seed in self.seeds() {
            let program = Program { gas: ENOUGH, ..generate::short_program(pair.revision(), seed) };
            let Some(ending) = pair.specified(&program) else {
                continue;
            };
            let limits = 0..=ending.gas_used.min(ENOUGH - 1) + 1;
            let judged = pair.judge_at(&program, limits);
            tally.add(judged.unwrap_or_else(|found| panic!("seed {seed}: {found}")).as_ref());
        }
        tally
    }

    fn seeds(self) -> impl Iterator<Item = u64> {
        (0..self.cases).map(move |case| self.seed.wrapping_add(case))
    }
}

impl Tally {
    fn add(&mut self, ending: Option<&Ending>) {
        match ending {
            Some(ending) => *self.by_halt.entry(ending.halt).or_default() += 1,
            None => self.without_verdict += 1,
        }
    }

    /// Adds another tally to this one.
    pub fn merge(&mut self, other: Tally) {
        for (halt, count) in other.by_halt {
            *self.by_halt.entry(halt).or_default() += count;
        }
        self.without_verdict += other.without_verdict;
    }

    /// Programs that ended with a halt.
    pub fn of(&self, halt: &str) -> u64 {
        self.by_halt.get(halt).copied().unwrap_or(0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (halt, count) in &self.by_halt {
            write!(f, "{halt} {count}, ")?;
        }
        write!(f, "without verdict {}", self.without_verdict)
    }
}
