use residue_contracts::Source;
use residue_contracts::groth16::bn254::{Verifier, key};
use residue_engine::{Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision};

#[test]
fn scratch() {
    let text = std::fs::read_to_string("/tmp/r/groth-tmp/vk1.json").unwrap();
    for witness in [false, true] {
        let verifier = Verifier::new(key(&text).unwrap(), witness);
        let schedule = GasSchedule::default_for(Revision::Eip6690_2024).unwrap();
        for trial in residue_workbench::trials(&verifier, residue_workbench::Variant::all(), Revision::Eip6690_2024, &schedule, Default::default()).unwrap() {
            println!("{:?} {} gas, {} bytes, {} slots", trial.variant, trial.gas, trial.compiled.code.len(), trial.compiled.slots);
            let engine = Engine::new(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
            let proof = std::fs::read_to_string("/tmp/r/groth-tmp/proof1.json").unwrap();
            let proof = residue_contracts::groth16::json::proof(&proof).unwrap();
            let inputs = residue_contracts::groth16::json::inputs(&std::fs::read_to_string("/tmp/r/groth-tmp/public1.json").unwrap(), 2).unwrap();
            let mut input = verifier.calldata(&proof, &inputs);
            if witness { input.extend(verifier.witness(&input).unwrap()); }
            let counted = engine.run_counted(&trial.compiled.code, &input, 10_000_000);
            println!("{:?} {} {:?} {:?}", counted.outcome.halt, counted.outcome.gas_used, counted.gas_split, counted.outcome.output.last());
        }
    }
}
