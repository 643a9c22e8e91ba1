//! Certificates: compiled code proved to end as its program does, for all calldata.
//!
//! A [`Certificate`] is text with the program as it was recorded, the bytes of the code, and a [`Witness`], which is not believed.
//! [`check()`] shows from program, bytes and witness that the code ends as the program does, with the bytes that it returns or
//! exceptionally, whatever calldata is, if it has so much gas. [`coq::theorem`] writes the same as a theorem that Coq's kernel checks,
//! with a checker that is proved sound (folder `coq`); [`check()`] follows that one. Programs are [`Straight`], requirements of
//! calldata's size, parses, blocks and one return, or have branches, calls, several ends and a loop: [`Flow`].
//!
//! Neither the compiler nor its passes are used here: a mistake there cannot be made here once more. docs/certificates.md has the format,
//! and says what is to be trusted.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod bytes;
pub mod certificate;
pub mod check;
pub mod coq;
pub mod flow;
pub mod label;
mod looped;
pub mod semantics;
pub mod source;
pub mod straight;
mod sum;
mod tables;
pub mod witness;
pub mod words;

pub use bytes::Bytes;
pub use certificate::{Certificate, CertificateError, Unproved};
pub use check::{Refused, check};
pub use flow::Flow;
pub use semantics::{NoSemantics, Semantics};
pub use source::{Gas, Source};
pub use straight::{Straight, Unsupported};
pub use witness::{Witness, witness};
