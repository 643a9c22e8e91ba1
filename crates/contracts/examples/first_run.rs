//! scratch
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let revision: Revision = args.get(1).map_or("eip6690-2024", |s| s).parse().unwrap();
    let name = args.get(2).map_or("bls12_381/pairing", |s| s);
    let contract = residue_contracts::find(name).unwrap();
    let schedule = GasSchedule::default_for(revision).unwrap();
    let code = residue_compiler::compile(&(contract.program)(), revision, &schedule).unwrap().code;
    let input = (contract.example)();
    let native = |input: &[u8]| { let t = Instant::now(); let r = residue_engine::native::precompile(residue_engine::Fork::default(), 0x0f, input, 1 << 40); std::hint::black_box(&r); t.elapsed().as_nanos() as f64 };
    let med = |mut v: Vec<f64>| { v.sort_by(f64::total_cmp); v[v.len() / 2] };
    let config = EngineConfig::new(revision, schedule.clone());
    let mut cold = vec![]; let mut ahead = vec![]; let mut nat = vec![]; let mut warm = vec![]; let mut plain = vec![]; let mut second=vec![]; let mut fifth=vec![]; let mut chains=vec![];
    let mut gas_used = 0;
    for _ in 0..15 {
        let engine = Engine::unshared(config.clone()).unwrap();
        let mut p = engine.prepare(&code);
        let mut times = vec![];
        for _ in 0..40 { let t = Instant::now(); let o = p.run_without_memory(&input, 1 << 40); times.push(t.elapsed().as_nanos() as f64); gas_used = o.gas_used; }
        cold.push(times[0]); second.push(times[1]); fifth.push(times[4]); warm.push(med(times[30..].to_vec()));
        let engine = Engine::unshared(config.clone()).unwrap();
        engine.plan_ahead(&code, &input, 1 << 40);
        let mut p = engine.prepare(&code);
        let t = Instant::now(); p.run_without_memory(&input, 1 << 40); ahead.push(t.elapsed().as_nanos() as f64);
        let engine = Engine::unshared(EngineConfig { batching: Batching::Off, ..config.clone() }).unwrap();
        let mut p = engine.prepare(&code); p.run_without_memory(&input, 1 << 40);
        let t = Instant::now(); p.run_without_memory(&input, 1 << 40); plain.push(t.elapsed().as_nanos() as f64);
        let engine = Engine::unshared(EngineConfig { batching: Batching::Chains, ..config.clone() }).unwrap();
        let mut p = engine.prepare(&code); p.run_without_memory(&input, 1 << 40);
        let t = Instant::now(); p.run_without_memory(&input, 1 << 40); chains.push(t.elapsed().as_nanos() as f64);
        nat.push(native(&input));
    }
    let n = med(nat);
    println!("{revision} {name} gas {gas_used} native {:.0} us; /native: cold {:.2} second {:.2} fifth {:.2} warm {:.3} ahead {:.2} chains {:.2} plain {:.2}; cold ns/gas {:.2}", n / 1e3, med(cold.clone()) / n, med(second)/n, med(fifth)/n, med(warm) / n, med(ahead) / n, med(chains)/n, med(plain) / n, med(cold)/gas_used as f64);
}
