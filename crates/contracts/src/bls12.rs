//! Texts of contracts that are one for curves of the family BLS12.

pub(crate) mod pairing;
