//! Contracts for beacons of drand.

pub mod verify;
