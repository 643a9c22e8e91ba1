//! Tests of the pieces of a search: candidates spend their gas, attacks can be built, measurements measure.

use residue_engine::{Halt, Step, Tracer, View};

use super::cycle::{Content, Cycle, cycle};
use super::extremes::extremes;
use super::genome::Filler;
use super::known::{attacks, first, instructions};
use super::resident::Counted;
use super::scene::seeded;
use super::*;

const GAS: u64 = 200_000;

fn search(revision: Revision) -> Search {
    Search {
        revision,
        schedule: GasSchedule::default_for(revision).unwrap(),
        gas: GAS,
        code_bytes_max: CODE_BYTES_MAX,
        rounds: 1,
        // Memory is measured in a process of the program, which a test is not.
        parts: vec![Part::Time, Part::Bounded, Part::OverPlain],
        effort: Effort { seed: 1, population: 6, generations: 1, time: None, begins_with_known: false },
    }
}

fn scene_of(ground: &Ground, gas: u64, genome: &Genome) -> Scene {
    let schedule = GasSchedule::default_for(ground.revision).unwrap();
    Scene::new(ground, &schedule, gas, CODE_BYTES_MAX, genome)
}

#[test]
fn a_search_finds_candidates_that_use_their_gas_beside_honest_ones() {
    let searches = [Revision::Evm384V9, Revision::Eip6690_2024].map(search);
    let [first, second] = searches.map(|search| attack(&search, &mut |_| ()).unwrap());
    let rows = first.1.rows.len() + second.1.rows.len();
    for findings in [first.0, second.0] {
        for found in findings.parts.iter().flat_map(|(_, found)| found) {
            assert!(found.gas_used > 1000 && found.codes.iter().all(|code| code.len() <= CODE_BYTES_MAX), "{found:?}");
            assert!(
                !found.description.is_empty()
                    && found.inputs.len() == found.scene.as_ref().unwrap().genome.history.len()
            );
        }
        assert!(!findings.honest.is_empty() && findings.ratio().unwrap() > 0.0 && findings.over_plain().unwrap() > 0.0);
        for part in [Part::Time, Part::Bounded, Part::OverPlain] {
            assert!(findings.worst(part).is_some(), "{part:?}");
        }
    }
    let record = joined(first.1, second.1);
    assert_eq!(record.rows.len(), rows);
    assert!(record.rows.iter().any(|row| row.quantity == Quantity::NsPerGas && row.baseline.is_some()));
    let about = record.environment.get("attack").unwrap();
    assert!(about.contains("evm384-v9 under") && about.contains("eip6690-2024 under"), "{about}");
}

/// A candidate that halts early burns its gas without working for it, so that the search would not see what is slow.
#[track_caller]
fn check_that_it_works(ground: &Ground, genome: &Genome) {
    let staged = scene_of(ground, GAS, genome).stage().unwrap();
    let Times(times) = cold(&staged, Batching::Warm).unwrap();
    assert_eq!(times.len(), genome.history.len());
    for execution in times {
        assert_eq!(execution.halt, Halt::OutOfGas, "{} {:?}: {genome:?}", ground.revision, ground.bounds);
    }
}

#[test]
fn candidates_of_every_revision_work_until_their_gas_is_used_up() {
    for &revision in Revision::ALL {
        for bounds in [Bounds::Anywhere, Bounds::Within] {
            let ground = Ground::new(revision, bounds, GAS);
            let mut random = seeded(2);
            let genomes: Vec<Genome> = (0..5).map(|_| Genome::random(&mut random, &ground)).collect();
            for pair in genomes.windows(2) {
                check_that_it_works(&ground, &pair[0]);
                check_that_it_works(&ground, &pair[0].child(&pair[1], &mut random, &ground));
            }
        }
    }
}

#[test]
fn known_attacks_and_instructions_of_every_revision_work_until_their_gas_is_used_up() {
    for &revision in Revision::ALL {
        let ground = Ground::new(revision, Bounds::Anywhere, GAS);
        for (_, genome) in first(&ground) {
            check_that_it_works(&ground, &genome);
        }
    }
}

#[test]
fn the_first_generation_is_that_of_the_seed() {
    let ground = Ground::new(Revision::Eip6690_2024, Bounds::Anywhere, 1_000_000);
    let genomes = |seed| {
        let mut random = seeded(seed);
        (0..5).map(|_| Genome::random(&mut random, &ground)).collect::<Vec<_>>()
    };
    assert_eq!(genomes(7), genomes(7));
    assert_ne!(genomes(7), genomes(8));
}

/// Counts of a history, for the parts of known attacks.
#[derive(Default)]
struct Seen {
    codes: std::collections::BTreeSet<Vec<u8>>,
    depth: usize,
    contexts: usize,
    modulus_bytes: usize,
    slots: usize,
    /// Entries by their place in the code and the place before: jumps to copied words.
    jumps: std::collections::BTreeMap<(usize, usize), usize>,
    last: Option<Step>,
}

impl Tracer for Seen {
    fn before(&mut self, view: &View<'_>) {
        self.codes.insert(view.code().to_vec());
        self.depth = self.depth.max(view.depth());
        self.contexts = self.contexts.max(view.context_count());
        self.slots = self.slots.max(view.slot_count());
        self.modulus_bytes = self.modulus_bytes.max(view.modulus().map_or(0, |modulus| modulus.len()));
        if let Some(last) = self.last.take().filter(|last| last.opcode == residue_isa::opcode::evm::JUMP) {
            *self.jumps.entry((last.pc, view.pc())).or_default() += 1;
        }
    }

    fn after(&mut self, step: &Step, _: &View<'_>) {
        self.last = Some(step.clone());
    }
}

/// Genome and counts of the known attack of this name on a revision.
fn seen(revision: Revision, name: &str, gas: u64) -> (Genome, Seen) {
    let ground = Ground::new(revision, Bounds::Anywhere, gas);
    let genome = attacks(&ground).into_iter().find(|(known, _)| *known == name).unwrap().1;
    let mut seen = Seen::default();
    scene_of(&ground, gas, &genome).stage().unwrap().trace(&mut seen).unwrap();
    (genome, seen)
}

#[test]
fn cycles_of_contracts_are_attacks_that_can_be_built() {
    for (name, contracts) in [("cycle of blocks", 60), ("cycle of jump targets", 1_400), ("cycle of noise", 2_000)] {
        let (genome, seen) = seen(Revision::Eip6690_2024, name, 6_000_000);
        assert_eq!(genome.contracts, contracts);
        // And the contract that calls them. All are reached, and end at once.
        assert_eq!((seen.codes.len(), seen.depth), (usize::from(contracts) + 1, 1));
        let called: Vec<_> = seen.codes.iter().filter(|code| code.len() == CODE_BYTES_MAX).collect();
        assert_eq!(called.len(), usize::from(contracts));
        assert!(called.iter().all(|code| code[0] == 0));
        let targets = called[0].iter().filter(|byte| **byte == residue_isa::opcode::evm::JUMPDEST).count();
        match genome.filler {
            Filler::Blocks => assert!(targets > 2_000 && targets < 4_000),
            Filler::Targets => assert!(targets > 24_000),
            _ => assert!(targets < 1_000),
        }
    }
}

#[test]
fn heads_with_a_shared_tail_are_attacks_that_can_be_built() {
    for name in ["heads and a tail of wide sums", "heads and a tail of jump targets"] {
        let (genome, seen) = seen(Revision::Eip6690_2024, name, 400_000);
        assert_eq!((genome.heads.count, genome.heads.short_entries, seen.slots), (31, 5, 100));
        // The jump at the end of a head leads to one place five times as often as to the other.
        let mut by_source: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
        for ((source, _), times) in &seen.jumps {
            by_source.entry(*source).or_default().push(*times);
        }
        let is_head = |times: &&Vec<usize>| times.len() == 2 && times[0].max(times[1]) == 5 * times[0].min(times[1]);
        let heads = by_source.values().filter(is_head).count();
        assert!(heads >= 20, "{name}: {by_source:?}");
    }
    let name = "heads and a tail in a later transaction";
    let ground = Ground::new(Revision::Eip6690_2024, Bounds::Anywhere, GAS);
    let genome = attacks(&ground).into_iter().find(|(known, _)| *known == name).unwrap().1;
    let staged = scene_of(&ground, 1_600_000, &genome).stage().unwrap();
    let jumps_of = |entry: usize| {
        let mut alone = scene_of(&ground, 1_600_000, &genome);
        alone.genome.history = vec![genome.history[entry]];
        let mut seen = Seen::default();
        alone.stage().unwrap().trace(&mut seen).unwrap();
        seen.jumps.into_keys().collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(staged.entries.len(), 7);
    assert_eq!(jumps_of(0), jumps_of(4));
    assert_ne!(jumps_of(0), jumps_of(5));
}

#[test]
fn contexts_in_nested_frames_are_an_attack_that_can_be_built() {
    let (genome, seen) = seen(Revision::Eip6690_2024, "rows of contexts in nested frames", 3_000_000);
    assert_eq!((seen.contexts, seen.slots, seen.modulus_bytes), (101, 4, 56));
    assert!(seen.depth >= 4, "{}", seen.depth);
    assert!(genome.sections.iter().any(|section| section.copies == 1_350 && !section.has_targets));
    let [code] = &seen.codes.into_iter().collect::<Vec<_>>()[..] else { panic!("it calls itself") };
    // Two sums of eight bytes in each copy.
    assert!(code.len() > 16 * 1_350 && code.len() <= CODE_BYTES_MAX);
}

#[test]
fn the_longest_modulus_is_an_attack_that_can_be_built() {
    for (revision, bytes) in [(Revision::Eip6690_2024, 96), (Revision::Eip6690_2023, 512), (Revision::Eip5843, 128)] {
        assert_eq!(seen(revision, "longest modulus", GAS).1.modulus_bytes, bytes, "{revision}");
    }
    let widths = Ground::new(Revision::Evm384V12, Bounds::Anywhere, GAS).widths();
    assert_eq!(widths.last(), Some(&48));
}

#[test]
fn what_is_found_can_be_written_and_read() {
    let ground = Ground::new(Revision::Eip6690_2024, Bounds::Within, GAS);
    let mut random = seeded(3);
    for _ in 0..20 {
        let scene = scene_of(&ground, GAS, &Genome::random(&mut random, &ground));
        let text = serde_json::to_string(&scene).unwrap();
        assert_eq!(serde_json::from_str::<Scene>(&text).unwrap(), scene);
    }
    let scene = scene_of(&ground, GAS, &Genome::random(&mut random, &ground));
    for (revision, schedule, reason) in
        [("evm999", &scene.schedule[..], "\"evm999\""), ("evm384-v7", "name = 3", "schedule")]
    {
        let wrong = Scene { revision: revision.to_owned(), schedule: schedule.to_owned(), ..scene.clone() };
        let error = wrong.stage().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn memory_of_frames_that_are_open_together_is_the_evms_own() {
    let ground = Ground::new(Revision::Eip6690_2024, Bounds::Anywhere, 3_000_000);
    let nested = attacks(&ground).into_iter().find(|(name, _)| name.contains("nested")).unwrap().1;
    let scene = scene_of(&ground, 3_000_000, &nested);
    let staged = scene.stage().unwrap();
    let mut seen = Seen::default();
    staged.trace(&mut seen).unwrap();
    // A stack of 32 KiB and the image of each frame, of which the one that halts at once has none.
    let image = staged.entries[0].0.len() as u64;
    let frames = seen.depth as u64;
    let Some((0, bytes)) = Stay::new(&scene, Counted::OfEvm).run().unwrap() else { return };
    assert!((frames * (image + 32_768)..=(frames + 1) * (image + 32_768)).contains(&bytes), "{bytes} of {frames}");
    for counted in [Counted::Resident, Counted::ResidentPlain] {
        // Other tests of the process may have left it memory enough, or give some back meanwhile: then it is measured once more.
        let mut measured = (0..8).map(|_| Stay::new(&scene, counted).run().unwrap().unwrap());
        assert!(
            measured.any(|(before, peak)| before > 0 && peak >= before),
            "the peak is never above what was there before"
        );
    }
}

#[test]
fn every_instruction_of_a_revision_is_measured_alone() {
    for revision in [Revision::Evm384V7, Revision::EvmoneBits, Revision::Evmone2025, Revision::Geth5843] {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let (found, record) = extremes(&[(revision, schedule)], 20_000, 1, &mut |_| ()).unwrap();
        let ground = Ground::new(revision, Bounds::Anywhere, GAS);
        assert_eq!(found.len(), instructions(&ground).len());
        assert_eq!(record.rows.len(), found.len());
        assert!(found.is_sorted_by(|a, b| a.ns_per_gas.median >= b.ns_per_gas.median));
        for width_bytes in ground.widths() {
            assert!(found.iter().any(|extreme| extreme.name == format!("mul/{}", 8 * width_bytes)), "{revision}");
        }
    }
}

#[test]
fn cycles_are_measured_by_content() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let small = Cycle { revision, schedule, contracts: 20, code_bytes: 2_000, turns: 2, rounds: 1 };
    let (cycled, record) = cycle(&[small], &mut |_| ()).unwrap();
    assert_eq!(cycled.iter().map(|cycled| cycled.content).collect::<Vec<_>>(), Content::ALL);
    assert!(cycled.iter().all(|cycled| cycled.first.iter().all(|spread| spread.median > 0.0)));
    assert_eq!(record.rows.len(), 6 * Content::ALL.len());
}

/// Idle copies that are called in turn take revm's own time too; whatever has field instructions does not run there.
#[test]
fn revm_as_it_is_runs_what_needs_no_field_instruction() {
    // Enough that calldata has no share in it (EIP-7623).
    let gas = 10 * GAS;
    for revision in [Revision::Evm384V7, Revision::Eip6690_2024] {
        let ground = Ground::new(revision, Bounds::Anywhere, gas);
        for (name, genome) in known::attacks(&ground) {
            let staged = scene_of(&ground, gas, &genome).stage().unwrap();
            let times = cold(&staged, Batching::Off).unwrap();
            let stock = staged.stock_ns_per_gas(&times).unwrap();
            assert_eq!(stock.is_some(), genome.is_idle, "{name}");
        }
    }
}
