//! The machine that a time was measured on.

use std::fs;
use std::num::NonZero;
use std::thread::available_parallelism;

use serde::Serialize;
use serde_json::{Value, json};

/// CPU, its features that kernels look for, number of cores and system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Model as the system names it.
    pub cpu: String,
    /// Relevant instruction set extensions of the CPU.
    pub features: Vec<&'static str>,
    /// Cores that the system runs on, or where it does not tell, those that this thread may use.
    pub cores: usize,
    /// System and instruction set, such as `linux x86_64`.
    pub system: String,
    /// The generation of cores where the model does not tell it, such as `zen4`.
    pub generation: Option<&'static str>,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cpu: field(&cpuinfo, "model name").unwrap_or("unknown CPU").to_owned(),
            features: features(),
            cores: cores(&cpuinfo),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            generation: generation(&cpuinfo),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let Self { cpu, features, cores, system, generation: _ } = self;
        json!({ "cpu": cpu, "features": features, "cores": cores, "system": system })
    }

    /// As a line for people.
    pub fn to_line(&self) -> String {
        let Self { cpu, features, cores, system, generation: _ } = self;
        let features = if features.is_empty() { String::new() } else { format!(" ({})", features.join(", ")) };
        format!("{cpu}{features}, {cores} core{}, {system}", if *cores == 1 { "" } else { "s" })
    }

    /// A short name of such machines for paths, such as `amd-epyc-zen4-2c`: lower-case letters, digits and dashes.
    pub fn slug(&self) -> String {
        let model = self.cpu.split('@').next().unwrap_or_default().to_lowercase();
        let model = model.replace("(r)", " ").replace("(tm)", " ");
        let words = model.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let telling = words.filter(|word| !["cpu", "processor", "core"].contains(word)).map(str::to_owned);
        let after = self.generation.map(str::to_owned).into_iter().chain([format!("{}c", self.cores)]);
        telling.chain(after).collect::<Vec<_>>().join("-")
    }
}

/// A field of the first CPU in the text of `/proc/cpuinfo`.
fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(key, value)| (key.trim(), value.trim())).find_map(|(key, value)| (key == name).then_some(value))
}

fn cores(cpuinfo: &str) -> usize {
    match cpuinfo.lines().filter(|line| line.starts_with("processor")).count() {
        0 => available_parallelism().map_or(1, NonZero::get),
        listed => listed,
    }
}

/// AMD's family and model tell the generation, which virtual machines leave out of the model's name.
/// The table of `arch/x86/kernel/cpu/amd.c` in Linux 6.12, `bsp_init_amd`.
fn generation(cpuinfo: &str) -> Option<&'static str> {
    if field(cpuinfo, "vendor_id")? != "AuthenticAMD" {
        return None;
    }
    let family: u32 = field(cpuinfo, "cpu family")?.parse().ok()?;
    let model: u32 = field(cpuinfo, "model")?.parse().ok()?;
    match (family, model) {
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => Some("zen"),
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf) => Some("zen2"),
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => Some("zen3"),
        (0x19, 0x10..=0x1f | 0x60..=0xaf) => Some("zen4"),
        (0x1a, 0x00..=0x2f | 0x40..=0x4f | 0x60..=0x7f) => Some("zen5"),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cpuinfo: &str, cores: usize, slug: &str) {
        let cpu = field(cpuinfo, "model name").unwrap().to_owned();
        let system = "linux x86_64".to_owned();
        let machine = Machine { cpu, features: vec![], cores, system, generation: generation(cpuinfo) };
        assert_eq!(machine.slug(), slug);
    }

    #[test]
    fn a_slug_is_short_and_fit_for_a_path() {
        let epyc = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        check(epyc, 2, "amd-epyc-zen4-2c");
        let ryzen =
            "vendor_id : AuthenticAMD\ncpu family : 26\nmodel : 68\nmodel name : AMD Ryzen 9 9950X 16-Core Processor";
        check(ryzen, 32, "amd-ryzen-9-9950x-16-zen5-32c");
        let xeon = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nmodel name : Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz";
        check(xeon, 1, "intel-xeon-platinum-8488c-1c");
    }

    #[test]
    fn a_thread_that_is_tied_to_a_core_sees_the_same_machine() {
        assert_eq!(crate::harness::on_one_core(|_| Machine::this()).slug(), Machine::this().slug());
    }

    #[test]
    fn this_machine_has_a_line_and_a_slug() {
        let machine = Machine::this();
        assert!(machine.to_line().contains(&machine.cpu));
        assert!(machine.slug().bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit()));
        assert_eq!(machine.to_json()["cores"], machine.cores);
    }
}
