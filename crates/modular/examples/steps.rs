//! Steps of a scalar trace, to be counted from outside: `steps OPERATION LIMBS COUNT` makes a context with a modulus of so many limbs and takes so
//! many steps of one kind. What one more step adds to the instructions of the program is what a step takes; `.ci/aarch64 count` shows it.

use std::hint::black_box;

use residue_modular::{FieldContext, Modulus, SlotStep};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let operation = arguments.next().unwrap_or_else(|| "mul".to_owned());
    let mut number = |usual| arguments.next().map_or(usual, |text| text.parse().expect("a number"));
    let (limbs, count) = (number(6), number(1));
    // 2^(64·limbs − 3) − 1: odd, with the spare bits of the curves' primes.
    let mut modulus = vec![0xff; 8 * limbs];
    modulus[0] = 0x1f;
    let mut context = FieldContext::new(Modulus::from_be_bytes(&modulus).expect("an odd modulus"), 3);
    modulus[8 * limbs - 1] = 0x55;
    for slot in 0..3 {
        context.store(slot, &modulus).expect("below the modulus");
    }
    let step = match operation.as_str() {
        "add" => SlotStep::Add { out: 0, x: 1, y: 2 },
        "sub" => SlotStep::Sub { out: 0, x: 1, y: 2 },
        "mul" => SlotStep::Mul { out: 0, x: 1, y: 2 },
        "square" => SlotStep::Square { out: 0, x: 1, count: 1 },
        "sum" => {
            (0..count).for_each(|_| context.sum_products(0, 0b10, &[[1, 2], [2, 1]]));
            black_box(context.slot(0));
            return;
        }
        other => panic!("no operation {other}"),
    };
    context.run_steps(black_box(&vec![step; count]));
    black_box(context.slot(0));
}
