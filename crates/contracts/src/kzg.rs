//! Contracts for polynomial commitments as Ethereum's blobs have them (EIP-4844).

pub mod point_evaluation;
