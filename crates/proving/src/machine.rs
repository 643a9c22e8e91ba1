//! The guest, built by cargo for a RISC-V, and the emulator that runs one call of it and counts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use ckb_vm::cost_model::estimate_cycles;
use ckb_vm::registers::{A0, A1, A2, A3, A7};
use ckb_vm::{
    Bytes, DefaultCoreMachine, DefaultMachineBuilder, ISA_A, ISA_IMC, Memory, Register, SupportMachine, Syscalls,
};
use num_bigint::BigUint;

pub use crate::form::Form;
use crate::memory::{Flat, MEMORY_BYTES};

/// Numbers of calls, as `guest/src/machine/emulator.rs` has them.
const READ: u64 = 0x5245;
const ANSWER: u64 = 0x5246;
const FIRST_ARITHMETIC: u64 = 0x5250;
/// Products, sums and differences of 256 bits, then of 384 bits.
const ARITHMETIC_CALLS: usize = 6;

/// The most bytes of code and calldata together, less than the guest's room for a call.
pub const CALL_BYTES_MAX: usize = 639 << 10;

/// The width of the machine's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// RV64IM.
    Bits64,
    /// RV32IM.
    Bits32,
}

impl Width {
    /// Both, as the tables have them.
    pub const ALL: [Self; 2] = [Self::Bits64, Self::Bits32];

    /// Its name in records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits64 => "rv64im",
            Self::Bits32 => "rv32im",
        }
    }

    /// The compiler's target: with atomics and short encodings, which change no count worth a word (`docs/proving.md`).
    pub fn target(self) -> &'static str {
        match self {
            Self::Bits64 => "riscv64imac-unknown-none-elf",
            Self::Bits32 => "riscv32imac-unknown-none-elf",
        }
    }
}

impl Form {
    /// True if what [`Self::Ready`] takes is no part of its counts.
    pub fn begins_ready(self) -> bool {
        matches!(self, Self::Analysis | Self::Software | Self::Calls)
    }

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Analysis => "analysis",
            Self::Native => "native",
            Self::Software => "software",
            Self::Calls => "calls",
            Self::Words => "words",
            Self::WordsByCalls => "words-by-calls",
        }
    }
}

/// Counts of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Instructions, calls among them.
    pub instructions: u64,
    /// Cycles as ckb-vm prices instructions.
    pub cycles: u64,
    /// Products, sums and differences of 256 bits, then of 384 bits, that were calls.
    pub calls: [u64; ARITHMETIC_CALLS],
}

impl Counts {
    /// The part of a run beyond another, which begins as it does.
    pub fn beyond(self, begin: Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(begin.instructions),
            cycles: self.cycles.saturating_sub(begin.cycles),
            ..self
        }
    }
}

/// A guest's program.
#[derive(Debug, Clone)]
pub struct Guest {
    width: Width,
    elf: Bytes,
}

/// True if the compiler has the target's library.
pub fn has_target(width: Width) -> bool {
    let libdir = Command::new("rustc").args(["--print", "target-libdir", "--target", width.target()]).output();
    libdir.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_dir())
}

impl Guest {
    /// Builds the guest. An error if the target is not installed or the build fails.
    pub fn build(width: Width) -> Result<Self> {
        let target = width.target();
        ensure!(has_target(width), "the compiler has no library for {target}: rustup target add {target}");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest");
        let into: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
        let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--release", "--locked", "--target", target, "--target-dir"])
            .arg(&into)
            .current_dir(&folder)
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .status()
            .context("cargo does not start")?;
        ensure!(status.success(), "the guest does not build for {target}");
        let elf = into.join(target).join("release/residue-guest");
        let elf = std::fs::read(&elf).with_context(|| elf.display().to_string())?;
        Ok(Self { width, elf: elf.into() })
    }

    /// The width that it was built for.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Runs one call: its answer and what it took. An error if the guest fails.
    pub fn run(&self, form: Form, address: u16, code: &[u8], calldata: &[u8]) -> Result<(Vec<u8>, Counts)> {
        let input = input(form, address, code, calldata)?;
        match self.width {
            Width::Bits64 => run::<u64>(&self.elf, input),
            Width::Bits32 => run::<u32>(&self.elf, input),
        }
    }
}

/// A call as the guest reads it.
pub(crate) fn input(form: Form, address: u16, code: &[u8], calldata: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(code.len())?.to_le_bytes();
    let header = [&[form as u8][..], &address.to_le_bytes(), &length].concat();
    Ok([&header, code, calldata].concat())
}

#[derive(Default)]
struct Talk {
    input: Vec<u8>,
    answer: Option<Vec<u8>>,
    calls: [u64; ARITHMETIC_CALLS],
}

/// The emulator's side of calls.
struct Host(Arc<Mutex<Talk>>);

fn run<R: Register + 'static>(elf: &Bytes, input: Vec<u8>) -> Result<(Vec<u8>, Counts)> {
    let talk = Arc::new(Mutex::new(Talk { input, ..Talk::default() }));
    let cycles = Arc::new(AtomicU64::new(0));
    let priced = Arc::clone(&cycles);
    let core = DefaultCoreMachine::<R, Flat<R>>::new_with_memory(
        ISA_IMC | ISA_A,
        ckb_vm::machine::VERSION2,
        u64::MAX,
        MEMORY_BYTES,
    );
    // The emulator's own count is of instructions; there is one thread.
    let count = move |instruction| {
        priced.store(priced.load(Ordering::Relaxed) + estimate_cycles(instruction), Ordering::Relaxed);
        1
    };
    let mut machine = DefaultMachineBuilder::new(core)
        .instruction_cycle_func(Box::new(count))
        .syscall(Box::new(Host(Arc::clone(&talk))))
        .build();
    let no_arguments: [Result<Bytes, ckb_vm::Error>; 0] = [];
    machine.load_program(elf, no_arguments.into_iter())?;
    let code = machine.run()?;
    ensure!(code == 0, "the guest ends with {code}: {}", if code == 1 { "the call failed" } else { "it panicked" });
    let instructions = machine.cycles();
    let mut talk = talk.lock().map_err(|_| anyhow::anyhow!("a call panicked"))?;
    let answer = talk.answer.take().context("the guest gave no answer")?;
    Ok((answer, Counts { instructions, cycles: cycles.load(Ordering::Relaxed), calls: talk.calls }))
}

impl Host {
    fn arithmetic<M: SupportMachine>(machine: &mut M, number: usize) -> Result<(), ckb_vm::Error> {
        let bytes = if number < ARITHMETIC_CALLS / 2 { 32 } else { 48 };
        let [out, x, y, modulus] = [A0, A1, A2, A3].map(|register| machine.registers()[register].to_u64());
        let mut read = |at| machine.memory_mut().load_bytes(at, bytes).map(|bytes| BigUint::from_bytes_le(&bytes));
        let (x, y, modulus) = (read(x)?, read(y)?, read(modulus)?);
        if modulus == BigUint::ZERO {
            return Err(ckb_vm::Error::Unexpected("a modulus of zero".to_owned()));
        }
        let result = match number % (ARITHMETIC_CALLS / 2) {
            0 => x * y % modulus,
            1 => (x + y) % modulus,
            _ => (x + &modulus - y % &modulus) % modulus,
        };
        let mut result = result.to_bytes_le();
        result.resize(usize::try_from(bytes).unwrap_or_default(), 0);
        machine.memory_mut().store_bytes(out, &result)
    }
}

impl<M: SupportMachine> Syscalls<M> for Host {
    fn initialize(&mut self, _: &mut M) -> Result<(), ckb_vm::Error> {
        Ok(())
    }

    fn ecall(&mut self, machine: &mut M) -> Result<bool, ckb_vm::Error> {
        let [number, at, length] = [A7, A0, A1].map(|register| machine.registers()[register].to_u64());
        let mut talk = self.0.lock().map_err(|_| ckb_vm::Error::Unexpected("a call panicked".to_owned()))?;
        match number {
            READ if talk.input.len() as u64 <= length => {
                machine.memory_mut().store_bytes(at, &talk.input)?;
                machine.set_register(A0, M::REG::from_u64(talk.input.len() as u64));
            }
            ANSWER => talk.answer = Some(machine.memory_mut().load_bytes(at, length)?.to_vec()),
            _ => {
                let Some(call) = number.checked_sub(FIRST_ARITHMETIC).and_then(|call| usize::try_from(call).ok())
                else {
                    return Ok(false);
                };
                let Some(count) = talk.calls.get_mut(call) else { return Ok(false) };
                *count += 1;
                Self::arithmetic(machine, call)?;
            }
        }
        Ok(true)
    }
}
