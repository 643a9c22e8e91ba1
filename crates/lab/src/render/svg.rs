//! Drawings as SVG text, whose colours follow the reader's light or dark theme.

pub mod bars;
pub mod panels;
pub mod points;
