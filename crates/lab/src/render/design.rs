//! The ablation as tables and a figure: each instruction alone against the base, greedily added, contract by contract,
//! and the Pareto front of gas against opcodes.
//!
//! All is made of one record of `lab design`. A ratio over several contracts is the geometric mean of theirs, all alike, or the ratio of the gas of
//! all their calls, where calls are known.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::design::weights::Weights;
use crate::design::{Added, LEFT_OUT, name};
use crate::error::LabError;
use crate::record::{Quantity, Record};
use crate::render::svg::points::{Point, Points};

/// The part of the page that the tables are.
const PART: &str = "residue lab design";
/// Cell without a number.
const DASH: &str = "–";
/// A contract whose gas changes by less is not shown by itself.
const CHANGE_MIN: f64 = 0.001;

/// A record with what it compares.
#[derive(Debug)]
pub struct Ablated<'a> {
    record: &'a Record,
    weights: &'a Weights,
    base: &'a str,
    others: Vec<Other>,
    contracts: Vec<String>,
}

/// A revision that adds opcodes.
#[derive(Debug, Clone, PartialEq)]
struct Other {
    name: String,
    adds: Vec<Added>,
}

impl Other {
    /// The names of the opcodes that it adds.
    fn opcodes(&self) -> impl Iterator<Item = &str> {
        self.adds.iter().filter(|added| added.is_opcode()).map(|added| added.mnemonic.as_str())
    }
}

/// Some instructions together.
#[derive(Debug, Clone, PartialEq)]
struct Set {
    /// The revisions that add them.
    label: String,
    /// Number of opcodes.
    opcodes: usize,
    /// The ratio of gas, all contracts alike.
    alike: f64,
    /// The ratio of the gas of all calls.
    called: Option<f64>,
    /// True if no revision has exactly this set, so that the savings of each alone were added up.
    is_estimate: bool,
}

impl Set {
    /// Origin of its numbers.
    fn how(&self) -> &'static str {
        if self.is_estimate { "what each saves alone, added up" } else { "compiled and run" }
    }
}

impl<'a> Ablated<'a> {
    /// Reads which revisions and contracts a record has.
    pub fn new(record: &'a Record, weights: &'a Weights) -> Result<Self, LabError> {
        let missing = |what: &str| LabError::Scene { reason: format!("the record names no {what}") };
        let base = record.environment.get("base").ok_or_else(|| missing("base revision"))?;
        let gas = record.rows.iter().filter(|row| row.quantity == Quantity::Gas);
        let (mut others, mut contracts): (Vec<Other>, Vec<String>) = (Vec::new(), Vec::new());
        for (layer, contract) in gas.filter_map(|row| row.name.split_once('/')) {
            if layer == base {
                contracts.push(contract.to_owned());
            } else if others.iter().all(|other| other.name != layer) {
                let adds = record.environment.get(&Added::header(layer)).and_then(Added::read_all);
                let adds = adds.ok_or_else(|| missing(&Added::header(layer)))?;
                others.push(Other { name: layer.to_owned(), adds });
            }
        }
        Ok(Self { record, weights, base, others, contracts })
    }

    fn value(&self, layer: &str, contract: &str, quantity: Quantity) -> Option<f64> {
        Some(self.record.find(&name(layer, contract), quantity, None)?.spread.median)
    }

    /// Gas of a contract: of the base's code where a revision that adds to it does no better.
    fn gas(&self, revision: &str, contract: &str, quantity: Quantity) -> Option<f64> {
        let gas = |layer: &str| self.value(layer, contract, quantity);
        gas(revision).into_iter().chain(gas(self.base)).min_by(f64::total_cmp)
    }

    fn ratio(&self, revision: &str, contract: &str, quantity: Quantity) -> Option<f64> {
        Some(self.gas(revision, contract, quantity)? / self.value(self.base, contract, quantity)?)
    }

    /// The geometric mean of what `ratio` says of each contract; none if it says nothing.
    fn mean(&self, ratio: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let logarithms: Vec<f64> = self.contracts.iter().filter_map(|contract| ratio(contract)).map(f64::ln).collect();
        let count = logarithms.len() as f64; // A small number.
        (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
    }

    /// The gas of all calls as a share of the base's.
    fn called(&self, gas: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let (mut of, mut base) = (0.0, 0.0);
        for contract in &self.contracts {
            let calls = self.weights.of(contract) as f64; // Far below 2⁵³.
            if let (Some(gas), Some(base_gas)) = (gas(contract), self.value(self.base, contract, Quantity::Gas)) {
                of += calls * gas;
                base += calls * base_gas;
            }
        }
        (base > 0.0).then(|| of / base)
    }

    fn time(&self, revision: &str, engine: &str) -> Option<f64> {
        self.mean(|contract| {
            let time = |revision: &str| self.value(&format!("{revision}:{engine}"), contract, Quantity::Time);
            Some(time(revision)? / time(self.base)?)
        })
    }

    /// Savings of each revision by itself, and its cost to implementers.
    fn alone(&self) -> String {
        let mut text = "| revision | adds | gas, all contracts alike | gas of all calls | gas at measured prices | best contract | better by 1 % | code, bytes | time, one by one | time, batches | opcodes | operand bytes | words taken, put |\n\
             |---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
        for Other { name: revision, adds } in &self.others {
            let gas = |contract: &str| self.ratio(revision, contract, Quantity::Gas);
            let best = self.contracts.iter().filter_map(|contract| Some((contract, gas(contract)?)));
            let best = best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, ratio)| *ratio < 1.0 - CHANGE_MIN);
            let better =
                self.contracts.iter().filter(|contract| gas(contract).is_some_and(|ratio| ratio < 0.99)).count();
            let code = self.mean(|contract| {
                let size = |revision: &str| self.value(revision, contract, Quantity::CodeSize);
                Some(size(revision)? / size(self.base)?)
            });
            let sum = |of: fn(&Added) -> u32| adds.iter().map(of).sum::<u32>();
            let cells = [
                format!("`{revision}`"),
                adds.iter().map(|added| added.mnemonic.as_str()).collect::<Vec<_>>().join(", "),
                shown(self.mean(gas)),
                shown(self.called(|contract| self.gas(revision, contract, Quantity::Gas))),
                shown(self.mean(|contract| self.ratio(revision, contract, Quantity::GasMeasured))),
                best.map_or(DASH.to_owned(), |(contract, ratio)| format!("`{contract}` {ratio:.3}")),
                better.to_string(),
                shown(code),
                shown(self.time(revision, "plain")),
                shown(self.time(revision, "batch")),
                adds.iter().filter(|added| added.is_opcode()).count().to_string(),
                sum(|row| row.immediate_bytes).to_string(),
                format!("{}, {}", sum(|row| row.pops), sum(|row| row.pushes)),
            ];
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text
    }

    /// The revisions to choose from. Others are sums of them.
    fn single(&self) -> Vec<&Other> {
        let is_sum = |own: &Other| {
            let parts = self.others.iter().filter(|other| other.name != own.name);
            parts.map(|other| mnemonics(&[other])).any(|part| part.is_subset(&mnemonics(&[own])))
        };
        self.others.iter().filter(|other| !is_sum(other)).collect()
    }

    /// Some single revisions together: of the revision that has just these; else of the one that has most of them, and what each of the others saves alone.
    fn set(&self, revisions: &[&Other]) -> Set {
        let wanted = mnemonics(revisions);
        let is_within = |other: &&Other| mnemonics(&[*other]).is_subset(&wanted);
        let most = self.others.iter().filter(is_within).max_by_key(|other| mnemonics(&[*other]).len());
        let known = most.map_or(BTreeSet::new(), |most| mnemonics(&[most]));
        let others: Vec<&Other> =
            revisions.iter().copied().filter(|other| !mnemonics(&[*other]).is_subset(&known)).collect();
        let gas = |contract: &str| {
            let base = self.value(self.base, contract, Quantity::Gas)?;
            let begin = most.map_or(Some(base), |most| self.gas(&most.name, contract, Quantity::Gas))?;
            let saved = |other: &&Other| Some(base - self.gas(&other.name, contract, Quantity::Gas)?);
            // Savings that overlap may come to more than there is.
            Some((begin - others.iter().filter_map(saved).sum::<f64>()).max(1.0))
        };
        let ratio = |contract: &str| Some(gas(contract)? / self.value(self.base, contract, Quantity::Gas)?);
        Set {
            label: if revisions.is_empty() { "nothing".to_owned() } else { names(revisions) },
            opcodes: revisions.iter().flat_map(|other| other.opcodes()).collect::<BTreeSet<_>>().len(),
            alike: self.mean(ratio).unwrap_or(1.0),
            called: self.called(gas),
            is_estimate: !others.is_empty(),
        }
    }

    /// From nothing on, always what brings most.
    fn greedy(&self) -> Vec<Set> {
        let mut left = self.single();
        let mut taken: Vec<&Other> = Vec::new();
        let mut sets = vec![self.set(&[])];
        while !left.is_empty() {
            let with = |other: &Other| self.set(&[&taken[..], &[other]].concat());
            let best = (0..left.len()).min_by(|&a, &b| with(left[a]).alike.total_cmp(&with(left[b]).alike));
            let Some(best) = best else { break };
            taken.push(left.remove(best));
            sets.push(self.set(&taken));
        }
        sets
    }

    fn greedily(&self) -> String {
        let sets = self.greedy();
        let mut text = "| step | added | gas, all contracts alike | of it, this step | gas of all calls | opcodes | how |\n|---:|---|---:|---:|---:|---:|---|\n".to_owned();
        for (step, pair) in sets.windows(2).enumerate() {
            let [before, set] = pair else { continue };
            let last = set
                .label
                .strip_prefix(before.label.as_str())
                .map_or(set.label.as_str(), |rest| rest.trim_start_matches(", "));
            let _ = writeln!(
                text,
                "| {} | {last} | {:.4} | {:+.2} % | {} | {} | {} |",
                step + 1,
                set.alike,
                100.0 * (set.alike / before.alike - 1.0),
                shown(set.called),
                set.opcodes,
                set.how(),
            );
        }
        text
    }

    /// Sets by their opcodes: those alone, those of the greedy order, and revisions that add several.
    fn sets(&self) -> Vec<Set> {
        let mut sets = self.greedy();
        sets.extend(self.single().iter().map(|&other| self.set(&[other])));
        let single = self.single();
        for other in self.others.iter().filter(|other| !single.contains(other)) {
            sets.push(Set {
                label: other.name.clone(),
                opcodes: other.opcodes().count(),
                alike: self.mean(|contract| self.ratio(&other.name, contract, Quantity::Gas)).unwrap_or(1.0),
                called: self.called(|contract| self.gas(&other.name, contract, Quantity::Gas)),
                is_estimate: false,
            });
        }
        let mut different: Vec<Set> = Vec::new();
        for set in sets {
            let is_same = |other: &Set| (other.opcodes, other.alike.to_bits()) == (set.opcodes, set.alike.to_bits());
            match different.iter_mut().find(|other| is_same(other)) {
                // The sum of all by its own name, and instructions that bring as much as each other by theirs.
                Some(other) if other.label != set.label && !other.label.contains(", ") => {
                    other.label = format!("{}; {}", other.label, set.label);
                }
                Some(_) => {}
                None => different.push(set),
            }
        }
        different
    }

    /// The sets than which no other has as few opcodes and less gas.
    fn front(&self) -> Vec<Set> {
        let sets = self.sets();
        let is_better = |set: &Set, than: &Set| {
            let (fewer, less) = (set.opcodes <= than.opcodes, set.alike <= than.alike);
            fewer && less && (set.opcodes < than.opcodes || set.alike < than.alike)
        };
        let mut front: Vec<Set> =
            sets.iter().filter(|set| !sets.iter().any(|other| is_better(other, set))).cloned().collect();
        front.sort_by_key(|set| set.opcodes);
        front
    }

    fn pareto(&self) -> String {
        let mut text =
            "| opcodes | which | gas, all contracts alike | gas of all calls | how |\n|---:|---|---:|---:|---|\n"
                .to_owned();
        for set in self.front() {
            let called = shown(set.called);
            let _ = writeln!(text, "| {} | {} | {:.4} | {called} | {} |", set.opcodes, set.label, set.alike, set.how());
        }
        text
    }

    /// Every contract that some instruction helps.
    fn by_contract(&self) -> String {
        let headings: Vec<String> = self.others.iter().map(|other| format!("`{}`", other.name)).collect();
        let mut text = format!(
            "| contract | gas, `{}` | {} |\n|---|---:|{}\n",
            self.base,
            headings.join(" | "),
            "---:|".repeat(headings.len())
        );
        let mut same = Vec::new();
        for contract in &self.contracts {
            let ratios: Vec<Option<f64>> =
                self.others.iter().map(|other| self.ratio(&other.name, contract, Quantity::Gas)).collect();
            if ratios.iter().flatten().all(|ratio| (ratio - 1.0).abs() < CHANGE_MIN) {
                same.push(format!("`{contract}`"));
                continue;
            }
            let gas = self.value(self.base, contract, Quantity::Gas);
            let gas = gas.map_or(DASH.to_owned(), crate::render::figures::shown);
            let ratios: Vec<String> = ratios.into_iter().map(shown).collect();
            let _ = writeln!(text, "| `{contract}` | {gas} | {} |", ratios.join(" | "));
        }
        if !same.is_empty() {
            let _ = write!(text, "\nWithout change of 0.1 %: {}.\n", same.join(", "));
        }
        text
    }

    /// All tables, in Markdown.
    pub fn tables(&self) -> String {
        let of = |name| self.record.environment.get(name).unwrap_or("none");
        let left_out = self.record.environment.get(LEFT_OUT);
        let left_out = left_out.map_or(String::new(), |contracts| {
            format!(" What a revision cannot express is left out, and the base's code counts: {contracts}.")
        });
        let times = match self.record.rows.iter().any(|row| row.quantity == Quantity::Time) {
            true => format!("; times on {} ({}, {})", of("machine"), of("features"), of("clock measured")),
            false => String::new(),
        };
        format!(
            "{} contracts under `{}` and {} revisions that add to it, {}. Numbers are ratios to `{}`; measured prices: {}{times}.{left_out}\n\n\
             ### Each alone\n\n{}\n### Greedily added\n\n{}\n### Pareto front\n\n{}\n### By contract\n\n{}",
            self.contracts.len(),
            self.base,
            self.others.len(),
            self.record.date,
            self.base,
            of("measured prices"),
            self.alone(),
            self.greedily(),
            self.pareto(),
            self.by_contract(),
        )
    }

    /// A page with its tables made anew. An error if it has no place for them.
    pub fn page_with_tables(&self, page: &str) -> Result<String, LabError> {
        residue_pages::with(page, PART, &self.tables()).ok_or(LabError::NoPlace { part: PART })
    }

    /// The figure: gas against opcodes, with the front as a line.
    pub fn figure(&self) -> String {
        let point = |set: &Set| Point { x: set.opcodes as f64, y: set.alike, label: set.label.clone() }; // Small.
        let points = Points {
            x: "opcodes added".to_owned(),
            y: format!("gas of all contracts, {} = 1", self.base),
            points: self.sets().iter().map(point).collect(),
            line: self.front().iter().map(point).collect(),
        };
        points.to_svg("Gas against added opcodes, with the Pareto front")
    }
}

fn names(revisions: &[&Other]) -> String {
    revisions.iter().map(|other| other.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Opcodes that some revisions add.
fn mnemonics<'a>(revisions: &[&'a Other]) -> BTreeSet<&'a str> {
    revisions.iter().flat_map(|other| &other.adds).map(|added| added.mnemonic.as_str()).collect()
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map_or(DASH.to_owned(), |ratio| format!("{ratio:.4}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordRow;
    use crate::record::date::Date;
    use crate::record::environment::Environment;

    fn record() -> Record {
        let row =
            |layer: &str, contract: &str, quantity, value| RecordRow::exact(name(layer, contract), quantity, value);
        let mut rows = Vec::new();
        let gas = [
            ("eip6690-2024", [1000.0, 4000.0, 50.0]),
            ("x-first", [250.0, 4400.0, 50.0]),
            ("x-second", [1000.0, 3600.0, 50.0]),
            ("x-both", [250.0, 3600.0, 50.0]),
            ("x-wider", [1000.0, 4000.0, 50.0]),
        ];
        for (layer, values) in gas {
            for (contract, value) in ["bn254/add", "bn254/mul", "poseidon/t2"].into_iter().zip(values) {
                rows.push(row(layer, contract, Quantity::Gas, value));
                rows.push(row(layer, contract, Quantity::CodeSize, value));
            }
        }
        let mut environment = Environment::default();
        environment.set("base", "eip6690-2024");
        let adds = [
            ("x-first", "FIRSTX 5 0 0"),
            ("x-second", "SECONDX 1 0 1"),
            ("x-both", "FIRSTX 5 0 0, SECONDX 1 0 1"),
            ("x-wider", "64-limbs 0 0 0"),
        ];
        for (revision, adds) in adds {
            environment.set(&Added::header(revision), adds);
        }
        Record { group: crate::design::GROUP.to_owned(), date: Date::after_epoch(0), environment, rows }
    }

    #[test]
    fn what_brings_most_comes_first_and_the_base_s_code_serves_where_it_is_cheaper() {
        let (record, weights) = (record(), Weights::default());
        let ablated = Ablated::new(&record, &weights).unwrap();
        let sets = ablated.greedy();
        assert_eq!(sets[1].label, "x-first");
        // A quarter in one of three, and no loss in the second.
        assert!((sets[1].alike - 0.25_f64.cbrt()).abs() < 1e-9, "{sets:?}");
        // No revision has wider moduli and these two; x-both has the two.
        assert_eq!(sets[3].alike.to_bits(), sets[2].alike.to_bits());
        assert_eq!(sets.iter().map(|set| set.is_estimate).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(sets[3].opcodes, 2);
        let tables = ablated.tables();
        assert!(tables.contains("| `bn254/mul` | 4 000 | 1.0000 | 0.9000 | 0.9000 | 1.0000 |"), "{tables}");
        assert!(tables.contains("| `x-wider` | 64-limbs |"), "{tables}");
        assert!(tables.contains("Without change of 0.1 %: `poseidon/t2`"), "{tables}");
        assert!(ablated.page_with_tables("no place").is_err());
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        let (record, weights) = (record(), Weights::default());
        let ablated = Ablated::new(&record, &weights).unwrap();
        let labels: Vec<String> = ablated.front().into_iter().map(|set| set.label).collect();
        assert_eq!(labels.first().map(String::as_str), Some("nothing; x-wider"));
        assert!(labels.contains(&"x-first".to_owned()) && !labels.contains(&"x-second".to_owned()), "{labels:?}");
        let figure = ablated.figure();
        assert!(figure.contains("x-second") && figure.contains("polyline"), "{figure}");
    }

    #[test]
    fn page_and_figure_are_what_the_newest_record_says() {
        let record =
            crate::render::figures::Records::newest(&residue_pages::path("records"), crate::design::GROUP).unwrap();
        let weights = Weights::default();
        let ablated = Ablated::new(&record, &weights).unwrap();
        let page = residue_pages::read("docs/design.md");
        assert_eq!(page, ablated.page_with_tables(&page).unwrap(), "`residue lab design --from` makes it anew");
        assert_eq!(residue_pages::read("docs/design.svg"), ablated.figure(), "as above");
    }

    #[test]
    fn a_record_without_base_is_refused() {
        let record = Record { environment: Environment::default(), ..record() };
        assert!(Ablated::new(&record, &Weights::default()).is_err());
    }
}
