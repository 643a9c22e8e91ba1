//! Curves y² = x³ + b of prime order, as values: a curve is its parameters. Multiples of points are those of [`crate::glv`].

use crate::glv::Endomorphism;
use crate::glv::split::Split;
use crate::group::Affine;
use num_bigint::BigUint;
use residue_formula::Number;
use residue_ir::Machine;
use residue_modular::fields::{Bn254Fr, Pallas, Vesta};
use std::marker::PhantomData;

/// A curve y² = x³ + b over the field of `F`.
#[derive(Debug)]
pub struct ShortCurve<F> {
    /// b.
    pub b: i32,
    /// Coordinates of a generator, in decimal digits.
    pub generator: [&'static str; 2],
    /// β, the cube root of one for which (x, y) ↦ (β·x, y) is multiplication by the λ of [`Split`].
    pub beta: &'static str,
    /// a and b of the π of [`Split::by_norm`], whose norm is the number of points: of six the one whose parallelogram is least wide.
    pub pi: [&'static str; 2],
    field: PhantomData<fn() -> F>,
}

/// Grumpkin, whose fields are those of BN254 the other way round. Aztec, “Grumpkin”: y² = x³ − 17, the generator with x = 1.
pub static GRUMPKIN: ShortCurve<Bn254Fr> = ShortCurve {
    b: -17,
    generator: ["1", "17631683881184975370165255887551781615748388533673675138860"],
    beta: "4407920970296243842393367215006156084916469457145843978461",
    pi: ["147946756881789319010696353538189108491", "9931322734385697762"],
    field: PhantomData,
};

/// Pallas. The Pasta curves, zcash/pasta: y² = x³ + 5, the generator (−1, 2).
pub static PALLAS: ShortCurve<Pallas> = ShortCurve {
    b: 5,
    generator: ["28948022309329048855892746252171976963363056481941560715954676764349967630336", "2"],
    beta: "20444556541222657078399132219657928148671392403212669005631716460534733845831",
    pi: ["-98231058071100081932162823354453065728", "98231058071186745657228807397848383489"],
    field: PhantomData,
};

/// Vesta, whose fields are those of Pallas the other way round. As above.
pub static VESTA: ShortCurve<Vesta> = ShortCurve {
    b: 5,
    generator: ["28948022309329048855892746252171976963363056481941647379679742748393362948096", "2"],
    beta: "2942865608506852014473558576493638302197734138389222805617480874486368177743",
    pi: ["98231058071186745657228807397848383488", "-98231058071100081932162823354453065729"],
    field: PhantomData,
};

impl<F: Number> Endomorphism for ShortCurve<F> {
    type Number = F;

    fn order(&self) -> BigUint {
        Split::by_norm(self.pi).order()
    }

    fn generator(&self) -> Affine<BigUint> {
        let [x, y] = self.generator.map(|digits| digits.parse().expect("these are digits"));
        Affine::new(x, y)
    }

    fn b(&self) -> BigUint {
        let size = BigUint::from(self.b.unsigned_abs());
        if self.b < 0 { F::modulus() - size } else { size }
    }

    fn beta(&self) -> BigUint {
        self.beta.parse().expect("these are digits")
    }

    fn split<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
        Split::by_norm(self.pi).digits(machine, scalar, begins_with_one)
    }

    fn vectors(&self) -> Split {
        Split::by_norm(self.pi)
    }

    fn exception(&self) -> Option<usize> {
        Some(Split::by_norm(self.pi).exception())
    }
}
