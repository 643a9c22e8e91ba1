//! The search of `residue check engine`, without the rest of the command: it builds in two minutes.
//!
//! `cargo run --release -p residue-judge --example check -- --seconds 60 --out found`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use residue_isa::Revision;
use residue_judge::history::text;
use residue_judge::mode::Mode;
use residue_judge::panics::is_judged;
use residue_judge::search::{End, Search, Shard, Tally};
use residue_judge::verdict::judge;

#[derive(Parser)]
struct Args {
    /// How long to search.
    #[arg(long, default_value = "60")]
    seconds: u64,
    /// How many runs to do instead.
    #[arg(long)]
    runs: Option<u64>,
    /// The first seed.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Which seeds.
    #[arg(long, default_value = "0/1")]
    shard: Shard,
    /// One revision only.
    #[arg(long)]
    revision: Option<Revision>,
    /// These modes only.
    #[arg(long)]
    mode: Vec<Mode>,
    /// Threads.
    #[arg(long)]
    threads: Option<usize>,
    /// End after so many findings.
    #[arg(long, default_value = "10")]
    findings: usize,
    /// Write findings to this folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Replay these files instead.
    files: Vec<PathBuf>,
}

fn main() {
    let args = Args::parse();
    let modes = if args.mode.is_empty() { Mode::ALL.to_vec() } else { args.mode };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_judged() {
            hook(panic);
        }
    }));
    for file in &args.files {
        let text = std::fs::read_to_string(file).expect("the file can be read");
        match text::read(&text).map(|history| judge(&history, &modes)) {
            Ok(Ok(judged)) => match judged.difference {
                None => println!("{}: agrees", file.display()),
                Some(difference) => println!("{}: {}: {}", file.display(), difference.mode, difference.what),
            },
            Ok(Err(error)) => println!("{}: {error}", file.display()),
            Err(error) => println!("{}: {error}", file.display()),
        }
    }
    if !args.files.is_empty() {
        return;
    }
    let end = args.runs.map_or(End::Time(Duration::from_secs(args.seconds)), End::Runs);
    let mut search = Search::new(args.seed, end);
    (search.shard, search.revision, search.modes, search.findings_max) =
        (args.shard, args.revision, modes, args.findings);
    search.threads = args.threads.unwrap_or(search.threads);
    let begin = Instant::now();
    let mut shown = 0;
    let tally = search.run(Tally::default(), |tally| {
        for finding in &tally.findings[shown..] {
            println!(
                "{:.1} s: {} {} seed {}: {}",
                begin.elapsed().as_secs_f64(),
                finding.revision,
                finding.mode,
                finding.seed,
                finding.what
            );
            if let Some(out) = &args.out {
                std::fs::create_dir_all(out).expect("the folder can be made");
                let name = format!("{}-{}-{}.history", finding.revision, finding.mode, finding.seed);
                std::fs::write(out.join(name), &finding.text).expect("the file can be written");
            }
        }
        shown = tally.findings.len();
    });
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} histories ({} with plans), {} runs in {seconds:.1} s: {:.0} a second; {} findings",
        tally.histories,
        tally.planned,
        tally.runs,
        tally.runs as f64 / seconds,
        tally.findings.len()
    );
    println!("{:?}\n{:?}\n{:?}\n{:?}", tally.by_halt, tally.by_mode, tally.by_revision, tally.planned_by_revision);
}
