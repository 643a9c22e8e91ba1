//! The steps of the Miller loop of the optimal ate pairing, and the lines that they give.
//!
//! Steps are homogeneous projective: Costello, Lange and Naehrig 2010 (2009/615), §5; Aranha et al. 2011 (2010/526), §4.
//! They are not complete, and need not be: Z₃ is a multiple of Z₁ in both steps, and 0 where an addition meets T = ±Q, so
//! Z = 0 is absorbing. Lines are multiplied by elements of Fp2, and by w³ where the twist is of type M: the final exponentiation
//! removes them.

use super::Twist;
use crate::group::{Affine, Projective};
use crate::tower::fp12::{Sparse013, Sparse023};
use crate::tower::{Fp2, Fp12, Tower};
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};

/// P of a pair in the form that line evaluation wants.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPoint<F> {
    /// −3x.
    pub minus_3x: F,
    /// −6x.
    pub minus_6x: F,
    /// y, or y/2 for [`doubling_step_in_sums`].
    pub y: F,
}

bundle!(EvaluationPoint { minus_3x: F, minus_6x: F, y: F });

/// A line evaluated at P: its coefficients where P's coordinates stand, and where none does.
#[derive(Clone, Copy, Debug)]
pub struct Line<F, T> {
    /// Without P: of w³ for a twist of type D, of 1 for one of type M.
    pub constant: Fp2<F, T>,
    /// With xP: of w for type D, of w² for type M.
    pub of_x: Fp2<F, T>,
    /// With yP: of 1 for type D, of w³ for type M.
    pub of_y: Fp2<F, T>,
}

impl<F: Fe, T: Tower> Line<F, T> {
    /// f ↦ f·line.
    #[must_use]
    pub fn times(self, f: Fp12<F, T>, twist: Twist) -> Fp12<F, T> {
        let Self { constant, of_x, of_y } = self;
        match twist {
            // See [`super::Scale::Twist`].
            Twist::D if T::CUBE.is_some() => {
                f.mul_by_013(Sparse013 { l0: constant.mul_by_conjugate_of_nonresidue(), l1: of_x, l3: of_y })
            }
            Twist::D => f.mul_by_013(Sparse013 { l0: of_y, l1: of_x, l3: constant }),
            Twist::M => f.mul_by_023(Sparse023 { l0: constant, l2: of_x, l3: of_y }),
        }
    }
}

/// (T, P) ↦ (2T, tangent at T evaluated at P), where `times_3b` multiplies by 3b of the twist. Aranha et al. 2011, §4, with X₃, Y₃
/// and Z₃ times 4. The line is Y² − 3b·Z², −3X²·xP and 2YZ·yP.
pub fn doubling_step<F: Fe, T: Tower>(
    t: Projective<Fp2<F, T>>,
    p: EvaluationPoint<F>,
    times_3b: impl FnOnce(Fp2<F, T>) -> Fp2<F, T>,
) -> (Projective<Fp2<F, T>>, Line<F, T>) {
    let _scope = enter("doubling_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let a = (x1 * y1).double(); //                             A = 2·X₁·Y₁
    let b = y1.square(); //                                    B = Y₁²
    let e = times_3b(z1.square()); //                          E = 3b·Z₁²
    let e2 = e.double(); //                                    2E
    let f = e + e2; //                                         F = 3E
    let g = b + f; //                                          G = B + F
    let h = (y1 * z1).double(); //                             H = 2·Y₁·Z₁
    let j = x1.real_part_of_square(); //                       J = Re(X₁²)
    let j2 = x1.c0 * x1.c1; //                                 J₂ = Im(X₁²)/2
    let k = e2.real_part_of_parallel_product(f); //            K = Re(2E·F) = Re(6E²): F is a multiple of E
    let k2 = e2.c0 * f.c1; //                                  K₂ = Im(6E²)/2
    let x3 = a * (b - f); //                                   X₃ = A·(B − F)
    let re = g.real_part_of_square() - k - k; //               Re(Y₃) = Re(G²) − 2K
    let im = (g.c0 * g.c1 - k2 - k2).double(); //              Im(Y₃) = 2(Im(G²)/2 − 2K₂)
    let y3 = Fp2::new(re, im); //                              Y₃ = G² − 12E²
    let z3 = (b * h).double().double(); //                     Z₃ = 4·B·H
    let line = Line { constant: b - e, of_x: Fp2::new(j * p.minus_3x, j2 * p.minus_6x), of_y: h.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// The same as sums of products in Fp, given 4/3 and P with y/2 for y, for a twist with 9b = ξ: F = ξ·Z₁², 12E² = (4/3)·F², and
/// B − E = G − (4/3)·F.
pub fn doubling_step_in_sums<F: Fe, T: Tower>(
    t: Projective<Fp2<F, T>>,
    p: EvaluationPoint<F>,
    four_thirds: F,
) -> (Projective<Fp2<F, T>>, Line<F, T>) {
    let _scope = enter("doubling_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let y2 = y1.double(); //                                   2·Y₁
    let a = x1 * y2; //                                        A = 2·X₁·Y₁
    let z2 = z1.double(); //                                   2·Z₁
    let h2 = z2 * y2; //                                       2H = 4·Y₁·Z₁
    let b = Fp2::new(y1.real_part_of_square(), y2.c0 * y1.c1); // B = Y₁²
    let zz = Fp2::new(z1.real_part_of_square(), z2.c0 * z1.c1);
    let f = zz.mul_by_nonresidue(); //                         F = ξ·Z₁²
    let f4 = f.scale(four_thirds); //                          4E = (4/3)·F
    let g = b + f; //                                          G = B + F
    let x3 = a * (b - f); //                                   X₃ = A·(B − F)
    let re = (g.c0.square() - g.c1.square()) - (f4.c0 * f.c0 - f4.c1 * f.c1);
    let im = (g.c0 * g.c1 - f4.c0 * f.c1).double();
    let y3 = Fp2::new(re, im); //                              Y₃ = G² − 4E·F
    let z3 = b.double() * h2; //                               Z₃ = 4·B·H
    let (j, j2) = (x1.real_part_of_square(), x1.c0 * x1.c1); // Re(X₁²), Im(X₁²)/2
    let line = Line { constant: g - f4, of_x: Fp2::new(j * p.minus_3x, j2 * p.minus_6x), of_y: h2.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// The same where √12 is in Fp, so that G² − 12E² is a product: for towers where that costs less than two squares.
pub fn doubling_step_by_root<F: Fe, T: Tower>(
    t: Projective<Fp2<F, T>>,
    p: EvaluationPoint<F>,
    times_3b: impl FnOnce(Fp2<F, T>) -> Fp2<F, T>,
    root_of_12: F,
) -> (Projective<Fp2<F, T>>, Line<F, T>) {
    let _scope = enter("doubling_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let a = (x1 * y1).double(); //                             A = 2·X₁·Y₁
    let b = y1.square(); //                                    B = Y₁²
    let e = times_3b(z1.square()); //                          E = 3b·Z₁²
    let f = e + e.double(); //                                 F = 3E
    let g = b + f; //                                          G = B + F
    let r = e.scale(root_of_12); //                            R = √12·E
    let h = (y1 * z1).double(); //                             H = 2·Y₁·Z₁
    let x3 = a * (b - f); //                                   X₃ = A·(B − F)
    let y3 = (g - r) * (g + r); //                             Y₃ = (G − R)(G + R)
    let z3 = (b * h).double().double(); //                     Z₃ = 4·B·H
    let line = Line { constant: b - e, of_x: x1.square().scale(p.minus_3x), of_y: h.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}

/// (T, Q, P, 1/3) ↦ (T + Q, line through T and Q evaluated at P). Aranha et al. 2011, §4.
/// The line is θ·xQ − λ·yQ, −θ·xP and λ·yP.
pub fn addition_step<F: Fe, T: Tower>(
    t: Projective<Fp2<F, T>>,
    q: Affine<Fp2<F, T>>,
    p: EvaluationPoint<F>,
    third: F,
) -> (Projective<Fp2<F, T>>, Line<F, T>) {
    let _scope = enter("addition_step");
    let Projective { x: x1, y: y1, z: z1 } = t;
    let theta = y1 - z1 * q.y; //                              θ = Y₁ − yQ·Z₁
    let lambda = x1 - z1 * q.x; //                             λ = X₁ − xQ·Z₁
    let c = theta.square(); //                                 C = θ²
    let d = lambda.square(); //                                D = λ²
    let e = lambda * d; //                                     E = λ³
    let f = z1 * c; //                                         F = Z₁·C
    let g = x1 * d; //                                         G = X₁·D
    let h = e + f - g.double(); //                             H = E + F − 2G
    let x3 = lambda * h; //                                    X₃ = λ·H
    let y3 = theta * (g - h) - y1 * e; //                      Y₃ = θ·(G − H) − Y₁·E
    let z3 = z1 * e; //                                        Z₃ = Z₁·E
    let j = theta * q.x - lambda * q.y; //                     J = θ·xQ − λ·yQ
    let line = Line { constant: j, of_x: theta.scale(p.minus_3x * third), of_y: lambda.scale(p.y) };
    (Projective { x: x3, y: y3, z: z3 }, line)
}
