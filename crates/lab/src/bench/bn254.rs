//! The group `bn254`: the contracts that replace the precompiles of EIP-196 and EIP-197, beside revm's precompiles on the same bytes and
//! arkworks on parsed points.
//!
//! Every answer is compared with the precompile's, before anything is timed and in every round. The sizes are those of the page
//! `docs/bn254.md` with every effort.

use ark_bn254::{Bn254, Fq, Fr, G1Affine, G2Affine};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, BigInteger, Field, PrimeField};
use residue_contracts::find;

use crate::bench::beside::{self, Call, Yardstick};
use crate::bench::effort::{Effort, Observer};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::{Run, word};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `bn254`.
pub const GROUP: Group = Group {
    name: "bn254",
    summary: "the contracts that replace the precompiles of EIP-196 and EIP-197, beside the precompiles and arkworks",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ precompile", Quantity::Time, &["precompile"]),
        Column::whole("gas", Quantity::Gas),
        Column::ratio("gas / price", Quantity::Gas, &["precompile"]),
        Column::whole("gas by time", Quantity::GasByTime),
    ],
    missing: none_missing,
    measure,
};

/// The operations: names, contracts, sizes.
pub const OPERATIONS: [(&str, &str, &[usize]); 3] =
    [("add", "bn254/add", &[1]), ("mul", "bn254/mul", &[1]), ("pairing", "bn254/pairing", &[1, 2, 4, 8, 16])];

/// Default subjects.
const SUBJECTS: [&str; 3] = ["precompile", "arkworks", "eip6690-2024"];

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for (operation, name, sizes) in OPERATIONS {
        let contract = find(name).ok_or(LabError::NoContract { name })?;
        let address = contract.precompile.ok_or(LabError::NoPrecompile { name })?;
        let layers = beside::layers(contract, &effort, observer)?;
        for &size in sizes {
            let terms = Terms::new(operation, size);
            let input = terms.encoded();
            let call = Call { name: &format!("{operation}/{size}"), input: &input, layers: &layers };
            let library: Run<'_> = Box::new(|| terms.answer());
            let precompile = Yardstick::precompile(address, &input)?;
            rows.extend(call.measure(precompile, Some(("arkworks", library)), &effort, observer)?);
        }
    }
    Ok(rows)
}

/// The points and scalars of a job, the same on every call.
enum Terms {
    Add([G1Affine; 2]),
    Mul(G1Affine, Fr),
    Pairs(Vec<(G1Affine, G2Affine)>),
}

impl Terms {
    fn new(operation: &str, size: usize) -> Self {
        // Powers of a number that has no meaning: scalars of 254 bits.
        let base = Fr::from(0x7265_7369_6475_6500_u64).square().square();
        let scalar = |number: usize| base.pow([number as u64 + 2]); // usize to u64 widens
        let point = |number| (G1Affine::generator() * scalar(number)).into_affine();
        match operation {
            "add" => Self::Add([point(0), point(1)]),
            "mul" => Self::Mul(point(0), scalar(1)),
            _ => {
                // Σ aᵢ·bᵢ = 0, so that the product is one; of one pair it is not.
                let mut sum = Fr::ZERO;
                let pair = |number| {
                    let (a, b) = (scalar(2 * number), scalar(2 * number + 1));
                    let last = number + 1 == size && size > 1;
                    let a = if last { -sum / b } else { a };
                    sum += a * b;
                    ((G1Affine::generator() * a).into_affine(), (G2Affine::generator() * b).into_affine())
                };
                Self::Pairs((0..size).map(pair).collect())
            }
        }
    }

    fn encoded(&self) -> Vec<u8> {
        match self {
            Self::Add(points) => points.iter().flat_map(encode1).collect(),
            Self::Mul(point, scalar) => [encode1(point), scalar.into_bigint().to_bytes_be()].concat(),
            Self::Pairs(pairs) => pairs.iter().flat_map(|(p, q)| [encode1(p), encode2(q)].concat()).collect(),
        }
    }

    /// By arkworks, without parsing.
    fn answer(&self) -> Vec<u8> {
        match self {
            Self::Add([a, b]) => encode1(&(*a + b).into_affine()),
            Self::Mul(point, scalar) => encode1(&(*point * scalar).into_affine()),
            Self::Pairs(pairs) => {
                let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = pairs.iter().copied().unzip();
                word(Bn254::multi_pairing(p, q).0 == <Bn254 as Pairing>::TargetField::ONE)
            }
        }
    }
}

fn element(value: Fq) -> Vec<u8> {
    value.into_bigint().to_bytes_be()
}

/// A point that is not the identity: EIP-196, “Encoding”.
fn encode1(point: &G1Affine) -> Vec<u8> {
    [element(point.x), element(point.y)].concat()
}

/// A point that is not the identity: EIP-197, “Encoding”.
fn encode2(point: &G2Affine) -> Vec<u8> {
    [point.x.c1, point.x.c0, point.y.c1, point.y.c0].map(element).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_compared_with_its_precompile_at_every_size() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        let find = |name: &str, quantity, baseline: Option<&str>| {
            let found =
                |row: &&RecordRow| row.name == name && row.quantity == quantity && row.baseline.as_deref() == baseline;
            rows.iter().find(found).unwrap_or_else(|| panic!("{name}, {quantity}, {baseline:?}")).spread.median
        };
        for (operation, _, sizes) in OPERATIONS {
            for size in sizes {
                let precompile = format!("precompile/{operation}/{size}");
                for layer in ["arkworks", "eip6690-2024:batch", "eip6690-2024:plain"] {
                    assert!(find(&format!("{layer}/{operation}/{size}"), Quantity::Time, Some(&precompile)) > 0.0);
                }
            }
        }
        // EIP-1108, “Specification”: 34 000·k + 45 000.
        assert!((find("precompile/pairing/16", Quantity::Gas, None) - 589_000.0).abs() < 0.5);
    }
}
