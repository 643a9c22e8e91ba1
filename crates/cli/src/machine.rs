//! The machine that a time was measured on.

use std::fs;
use std::thread::available_parallelism;

use serde_json::{Value, json};

/// CPU, its features that the kernels look for, number of cores and system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Model as the system names it.
    pub cpu: String,
    /// What it has of the instruction set extensions that matter here.
    pub features: Vec<&'static str>,
    /// Cores that this process may use.
    pub cores: usize,
    /// System and instruction set, such as `linux x86_64`.
    pub system: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self {
            cpu: cpu_model().unwrap_or_else(|| "unknown CPU".to_owned()),
            features: features(),
            cores: available_parallelism().map_or(1, |cores| cores.get()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let Self { cpu, features, cores, system } = self;
        json!({ "cpu": cpu, "features": features, "cores": cores, "system": system })
    }

    /// As a line for people.
    pub fn to_line(&self) -> String {
        let Self { cpu, features, cores, system } = self;
        let features = if features.is_empty() { String::new() } else { format!(" ({})", features.join(", ")) };
        format!("{cpu}{features}, {cores} core{}, {system}", if *cores == 1 { "" } else { "s" })
    }
}

/// The model of the first CPU, where the system has it in a file.
fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(value.trim_start_matches([' ', '\t', ':']).trim().to_owned())
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    let found = [
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("adx", std::is_x86_feature_detected!("adx")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512ifma", std::is_x86_feature_detected!("avx512ifma")),
    ];
    found.into_iter().filter(|&(_, has)| has).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}
