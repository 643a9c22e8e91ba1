//! Runs a program for SP1 on the bytes of standard input, and says what its executor says: the answer, instructions, the area of the trace in cells of the
//! base field, gas, and calls. `crates/proving/src/area.rs` is the other side.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use sp1_core_executor::{ExecutionReport, GasEstimatingVMEnum, MinimalExecutorEnum, Program, SP1CoreOpts};

/// Calls of the machine that are no arithmetic.
const OTHERS: [&str; 4] = ["HALT", "WRITE", "HINT_LEN", "HINT_READ"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the program's file is the argument")?;
    let program = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let program = Arc::new(Program::from(&program).map_err(|error| format!("{path}: {error}"))?);
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let options = SP1CoreOpts::default();
    let mut machine = MinimalExecutorEnum::new(Arc::clone(&program), false, Some(options.gas_trace_chunk_threshold));
    machine.with_input(&input);
    let (mut report, mut area) = (ExecutionReport::default(), 0);
    while let Some(chunk) = machine.execute_chunk() {
        let mut estimator = GasEstimatingVMEnum::new(&chunk, Arc::clone(&program), [0; 4], options.clone());
        report += estimator.execute()?;
        area += estimator.costs().1;
    }
    println!("exit {}", machine.exit_code());
    println!("instructions {}", report.total_instruction_count());
    println!("area {area}");
    println!("gas {}", report.gas().unwrap_or_default());
    for (call, count) in report.syscall_counts.iter().filter(|(_, count)| **count > 0) {
        let name = format!("{call:?}");
        if !OTHERS.contains(&name.as_str()) {
            println!("call {name} {count}");
        }
    }
    let answer: String = machine.public_values_stream().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("answer {answer}");
    Ok(())
}
