//! Chains of sums of affine points over one denominator, on y² = x³ + a·x + b with any a: Meloni 2007, “New point addition formulae for ECC
//! applications”, §3.

use crate::group::Affine;
use residue_formula::Fe;

/// Sum, and its operand over the sum's denominator.
#[derive(Debug, Clone, Copy)]
pub struct Sum<F> {
    /// P ± Q over the new denominator.
    pub sum: Affine<F>,
    /// Q over the new denominator.
    pub addend: Affine<F>,
    /// The new denominator, over the one before.
    pub factor: F,
}

/// (P, Q) ↦ P ± Q, for points over the same denominator that are not the same or opposites.
pub fn add<F: Fe>(point: Affine<F>, addend: Affine<F>, is_negated: bool) -> Sum<F> {
    let run = point.x - addend.x; //                                                         X₂ − X₁
    let rise = if is_negated { point.y + addend.y } else { point.y - addend.y }; //          Y₂ ∓ Y₁
    let a = run.square(); //                                                                 A = (X₂ − X₁)²
    let b = addend.x * a; //                                                                 B = X₁·A
    let c = point.x * a; //                                                                  C = X₂·A
    let d = rise.square(); //                                                                D = (Y₂ ∓ Y₁)²
    let x = d - b - c; //                                                                    X₃ = D − B − C
    let e = addend.y * (c - b); //                                                           E = Y₁·(C − B)
    let lower = rise * (b - x);
    let y = if is_negated { lower + e } else { lower - e }; //                               Y₃ = (Y₂ ∓ Y₁)(B − X₃) ∓ E
    Sum { sum: Affine::new(x, y), addend: Affine::new(b, e), factor: run } //                Z₃ = Z·(X₂ − X₁)
}

/// P ↦ (2P, P) over the denominator y, for an affine P and L = (3x² + a)/2.
pub fn double<F: Fe>(point: Affine<F>, slope: F) -> (Affine<F>, Affine<F>) {
    let Affine { x, y } = point;
    let yy = y.square();
    let once = Affine::new(x * yy, yy.square()); //     (x·y², y⁴)
    let twice_x = slope.square() - (once.x + once.x);
    (Affine::new(twice_x, (once.x - twice_x) * slope - once.y), once)
}

/// Brings points to the denominator of the last of them: the denominator of each is that of the one before it times its factor. Returns the
/// product of the factors, if there are any.
pub fn to_last<F: Fe>(points: &mut [Affine<F>], factors: &[F]) -> Option<F> {
    let mut factor: Option<F> = None;
    for (point, next) in points.iter_mut().zip(factors).rev() {
        let all = factor.map_or(*next, |factor| factor * *next);
        let square = all.square();
        *point = Affine::new(point.x * square, point.y * (square * all));
        factor = Some(all);
    }
    factor
}
