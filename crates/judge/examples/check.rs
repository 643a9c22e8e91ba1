//! Search for a while: check SECONDS SEED [REVISION]
use residue_judge::{history::text, invent, mode::Mode, verdict::judge};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() == 1 {
        let history = text::read(&std::fs::read_to_string(&args[0]).unwrap()).unwrap();
        println!("{:?}", judge(&history, &Mode::ALL).unwrap());
        return;
    }
    let seconds: f64 = args[0].parse().unwrap();
    let mut seed: u64 = args[1].parse().unwrap();
    let revision = args.get(2).map(|r| r.parse().unwrap());
    let start = std::time::Instant::now();
    let (mut runs, mut histories, mut planned, mut found) = ([0u64; 4], 0, 0, 0);
    while start.elapsed().as_secs_f64() < seconds {
        let history = invent::history(seed, revision);
        let t = std::time::Instant::now();
        match judge(&history, &Mode::ALL) {
            Err(e) => println!("seed {seed} {}: {e}", history.revision),
            Ok(judged) => {
                (0..4).for_each(|i| runs[i] += judged.runs[i]);
                planned += u64::from(judged.blocks_made > 0);
                if let Some(d) = judged.difference {
                    found += 1;
                    println!(
                        "seed {seed} at {:.1}s {} {}: run {} time {} of {}: {}",
                        start.elapsed().as_secs_f64(),
                        history.revision,
                        d.mode,
                        d.run,
                        d.time,
                        history.runs.len(),
                        d.what
                    );
                    if found < 20 {
                        std::fs::write(format!("/tmp/r/found-{seed}.history"), text::write(&history)).unwrap();
                    }
                }
            }
        }
        if t.elapsed().as_millis() > 300 {
            println!("seed {seed} slow {:?} {} runs {}", t.elapsed(), history.revision, history.run_count());
        }
        histories += 1;
        seed += 1;
    }
    println!(
        "{histories} histories, runs {runs:?}, planned {planned}, found {found}, {:.0} runs/s",
        runs.iter().sum::<u64>() as f64 / seconds
    );
}
