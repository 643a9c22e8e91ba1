//! Towers with any n and k: their formulas are those of polynomials modulo u² + n, or u² − u − 1, and w⁶ − k − u; with c too, modulo
//! s² − k − u and w³ − c.

use super::judges::{N, Seeded, fp, numbers};
use num_bigint::BigUint;
use residue_curves::group::Coordinate;
use residue_curves::tower::cyclotomic::compressed::{Compressed, is_compressible};
use residue_curves::tower::cyclotomic::{
    cyclotomic_square, cyclotomic_square_tripled, shifted_trace, shifted_trace_of_square, trace_of_square,
};
use residue_curves::tower::fp12::{Sparse013, Sparse023};
use residue_curves::tower::{Fp2, Fp4, Fp12, Tower};
use residue_formula::Number;
use residue_ir::{Bundle, Machine};

/// A tower over Fp of BLS12-381; n = 0 stands for the golden ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Of<const SMALL_N: u32, const SMALL_K: u32, const SMALL_C: u32 = 0>;

impl<const SMALL_N: u32, const SMALL_K: u32, const SMALL_C: u32> Tower for Of<SMALL_N, SMALL_K, SMALL_C> {
    const N: u32 = SMALL_N;
    const IS_GOLDEN: bool = SMALL_N == 0;
    const K: u32 = SMALL_K;
    const CUBE: Option<u32> = if SMALL_C > 0 { Some(SMALL_C) } else { None };
}

fn small(value: u32) -> N {
    N::from_u64(value.into())
}

fn fp2<T: Tower>(seeded: &mut Seeded) -> Fp2<N, T> {
    Fp2::new(fp(seeded.fq()), fp(seeded.fq()))
}

fn fp12<T: Tower>(seeded: &mut Seeded) -> Fp12<N, T> {
    Fp12::from_coefficients([(); 6].map(|()| fp2(seeded)))
}

/// a·b by the schoolbook.
fn product2<T: Tower>(a: Fp2<N, T>, b: Fp2<N, T>) -> Fp2<N, T> {
    let mixed = a.c0 * b.c1 + a.c1 * b.c0;
    if T::IS_GOLDEN {
        return Fp2::new(a.c0 * b.c0 + a.c1 * b.c1, mixed + a.c1 * b.c1);
    }
    Fp2::new(a.c0 * b.c0 - small(T::N) * a.c1 * b.c1, mixed)
}

/// f·g as polynomials in w, or in w and s.
fn product12<T: Tower>(f: Fp12<N, T>, g: Fp12<N, T>) -> Fp12<N, T> {
    if let Some(c) = T::CUBE {
        return product_in_two(f, g, c);
    }
    let zero = Fp2::new(N::ZERO, N::ZERO);
    let xi = Fp2::new(small(T::K), N::ONE);
    let mut sums = [zero; 6];
    for (i, a) in f.coefficients().into_iter().enumerate() {
        for (j, b) in g.coefficients().into_iter().enumerate() {
            let term = product2(a, b);
            sums[(i + j) % 6] = sums[(i + j) % 6] + if i + j < 6 { term } else { product2(term, xi) };
        }
    }
    Fp12::from_coefficients(sums)
}

fn product_in_two<T: Tower>(f: Fp12<N, T>, g: Fp12<N, T>, c: u32) -> Fp12<N, T> {
    let zero = Fp2::new(N::ZERO, N::ZERO);
    let xi = Fp2::new(small(T::K), N::ONE);
    let mut sums = [zero; 6];
    for (i, a) in f.coefficients().into_iter().enumerate() {
        for (j, b) in g.coefficients().into_iter().enumerate() {
            let (of_w, of_s) = (i % 3 + j % 3, i / 3 + j / 3);
            let mut term = product2(a, b);
            term = if of_w < 3 { term } else { term.scale(small(c)) };
            term = if of_s < 2 { term } else { product2(term, xi) };
            let at = of_w % 3 + 3 * (of_s % 2);
            sums[at] = sums[at] + term;
        }
    }
    Fp12::from_coefficients(sums)
}

fn invert(a: N) -> N {
    a.inverse().unwrap()
}

fn formulas_are_those_of_polynomials<T: Tower>() {
    let mut seeded = Seeded(50);
    let xi = Fp2::<N, T>::new(small(T::K), N::ONE);
    let zero = Fp2::new(N::ZERO, N::ZERO);
    for _ in 0..10 {
        let (a, b): (Fp2<N, T>, _) = (fp2(&mut seeded), fp2(&mut seeded));
        assert_eq!(a * b, product2(a, b));
        assert_eq!(a.square(), product2(a, a));
        assert_eq!(a.mul_by_nonresidue(), product2(a, xi));
        assert_eq!(a * b.multiplicand().mul_by_nonresidue(), product2(product2(a, b), xi));
        assert_eq!(a.conjugate_mul(b), product2(a.conjugate(), b));
        assert_eq!(a.conjugate_times(b.multiplicand()), product2(a.conjugate(), b));
        assert_eq!(a * b.multiplicand().conjugate(), product2(a, b.conjugate()));
        assert_eq!(a.add_times_nonresidue(b, a + b), a + product2(b, xi));
        assert_eq!(a.add_times_u(b), a + product2(b, Fp2::new(N::ZERO, N::ONE)));
        assert_eq!(product2(a, a.inverse_with(invert)), Fp2::ONE);
        assert_eq!(Fp2::new(a.norm(), N::ZERO), product2(a, a.conjugate()));
        let k = fp(seeded.fq());
        assert_eq!(a.real_part_of_parallel_product(a.scale(k)), product2(a, a.scale(k)).c0);
        assert_eq!(
            a.three_halves_squared(small(3) * invert(small(2))),
            product2(a, a).scale(small(3) * invert(small(2)))
        );
        assert_eq!(a.squared_minus_twice(b), product2(a, a) - b.double());
        let (c, n) = a.ratio(b);
        assert_eq!(product2(c, b), a.scale(n));

        let (f, g): (Fp12<N, T>, _) = (fp12(&mut seeded), fp12(&mut seeded));
        assert_eq!(f * g, product12(f, g));
        assert_eq!(f.square(), product12(f, f));
        assert_eq!(f.mul_c0(g), product12(f, g).c0);
        assert_eq!(product12(f, f.inverse_with(invert)), Fp12::one(N::ZERO, N::ONE));
        let unitary = f.conjugate_over_self(invert);
        assert_eq!(product12(unitary, f), f.conjugate());
        let part: Fp4<N, T> = f.c1;
        assert_eq!(part.square(), part * part);
        let l = g.coefficients();
        let with = |l| product12(f, Fp12::from_coefficients(l));
        assert_eq!(
            f.mul_by_013(Sparse013 { l0: l[0], l1: l[1], l3: l[3] }),
            with([l[0], l[1], zero, l[3], zero, zero])
        );
        assert_eq!(
            f.mul_by_023(Sparse023 { l0: l[0], l2: l[2], l3: l[3] }),
            with([l[0], zero, l[2], l[3], zero, zero])
        );
    }
}

/// For fields, where w ↦ wᵖ has a meaning.
fn cyclotomic_squares_are_squares<T: Tower>() {
    let p = N::modulus();
    let xi = Fp2::<N, T>::new(small(T::K), N::ONE);
    let square = if T::IS_GOLDEN { small(5) } else { -small(T::N) };
    assert_eq!(square.pow(&((&p - 1u32) / 2u32)), -N::ONE, "−n, or 5, is no square");
    let order = p.pow(2) - 1u32;
    let cube = T::CUBE.map_or(xi, |c| Fp2::new(small(c), N::ZERO));
    assert_ne!(xi.pow(&(&order / 2u32)), Fp2::ONE, "ξ is no square");
    assert_ne!(cube.pow(&(&order / 3u32)), Fp2::ONE, "ξ or c is no cube");
    let f: Fp12<N, T> = fp12(&mut Seeded(51));
    // (p² − 1)-th powers of w and s.
    let of_w = if T::CUBE.is_some() { cube.pow(&(order / 3u32)) } else { xi.pow(&(order / 6u32)) };
    let of_w: BigUint = of_w.c0.to_canonical();
    let delta = [(0u32, 1), (1, 1), (2, 1), (0, -1), (1, -1), (2, -1)].map(|(i, sign)| {
        let power = numbers().constant(&of_w.modpow(&i.into(), &p));
        if sign > 0 { power } else { -power }
    });
    let unitary = f.conjugate_over_self(invert);
    let g = unitary * unitary.frobenius_squared(&delta);
    let square = product12(g, g);
    assert_eq!(cyclotomic_square(g), square);
    let tripled = g.double() + g;
    assert_eq!(cyclotomic_square_tripled(tripled), square.double() + square);
    assert_eq!(trace_of_square(tripled.c0), (square.double() + square).c0);
    assert_eq!(Fp12::<N, T>::from_list(g.to_list()), g);
    if let Some(shifted) = shifted_trace(tripled.c0, || N::ONE) {
        let expected = shifted_trace(trace_of_square(tripled.c0), || N::ONE).unwrap();
        assert_eq!(shifted_trace_of_square(shifted, small(2), small(4)), expected);
    }
    if is_compressible::<T>() {
        compressed_squares_are_squares(tripled);
    }
}

/// Given three times an element of the cyclotomic subgroup.
fn compressed_squares_are_squares<T: Tower>(tripled: Fp12<N, T>) {
    let decompressed =
        |element: Compressed<N, T>| element.decompress(invert(small(4) * element.norm()), invert(small(3)), small(3));
    let (mut whole, mut compressed) = (tripled, Compressed::new(tripled));
    for _ in 0..5 {
        assert_eq!(decompressed(compressed), whole);
        whole = cyclotomic_square_tripled(whole);
        compressed = compressed.square();
        assert_eq!((compressed.b, compressed.c), (whole.c1, whole.c2));
    }
}

#[test]
fn every_tower_has_the_same_formulas() {
    formulas_are_those_of_polynomials::<Of<1, 1>>();
    formulas_are_those_of_polynomials::<Of<1, 9>>();
    formulas_are_those_of_polynomials::<Of<5, 0>>();
    formulas_are_those_of_polynomials::<Of<2, 3>>();
    formulas_are_those_of_polynomials::<Of<0, 2>>();
    formulas_are_those_of_polynomials::<Of<1, 2, 3>>();
    formulas_are_those_of_polynomials::<Of<3, 4, 5>>();
    cyclotomic_squares_are_squares::<Of<1, 2, 3>>();
    cyclotomic_squares_are_squares::<Of<1, 1>>();
    cyclotomic_squares_are_squares::<Of<1, 6>>();
    cyclotomic_squares_are_squares::<Of<4, 9>>();
    cyclotomic_squares_are_squares::<Of<7, 2>>();
}
