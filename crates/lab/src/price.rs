//! `lab price`: from times to gas schedules, by the published models, with the residuals of each.

mod fit;
mod model;
mod program;
mod runtimes;
mod sensitivity;

pub use fit::{Fit, fit};
pub use model::{Model, Priced, Residual};
pub use program::{exact_gas_under, gas_under};
pub use runtimes::{Pivot, Runtime, Runtimes};
pub use sensitivity::{Sensitivity, sensitivity};

/// Nanoseconds that a gas stands for, unless said otherwise: 100 million gas a second (EIP-7904).
pub const ANCHOR_NS: f64 = 10.0;
/// Anchors that stand beside it: those of EVMMAX in 2022 and 2024, and 30 million gas a second (EIP-2537).
pub const ANCHORS_NS: [f64; 4] = [10.0, 25.0, 27.0, 33.3];
