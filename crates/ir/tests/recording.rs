//! The recorder's check that a function has one body.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use num_bigint::BigUint;
use residue_ir::{Form, Machine, Program, record_as, record_checked};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// x ↦ x·c + c for `constants`, by a function that reads c from outside, or takes it.
fn text<M: Machine>(machine: &M, constants: [u64; 2], takes: bool) {
    let sums = constants.map(|constant| {
        let outside = machine.constant(&constant.into());
        let x = machine.parse(machine.small(0), 32);
        machine.function("product_and_sum", (x, outside), |_, (x, inside)| {
            let c = if takes { inside } else { outside };
            x * c + c
        })
    });
    machine.return_elements(sums[0] + sums[1], 32);
}

type Recorder = fn(&str, &BigUint, Form, &dyn Fn(&residue_ir::Recording<'_>)) -> Program;

fn recorded(by: Recorder, constants: [u64; 2], takes: bool) -> Result<Program, String> {
    let p = BigUint::from(97u8);
    let recorded =
        catch_unwind(AssertUnwindSafe(|| by("test", &p, Form::default(), &|machine| text(machine, constants, takes))));
    recorded.map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn a_body_that_reads_what_differs_is_refused() {
    let plain: Recorder = |name, p, form, text| record_as(name, p, form, text);
    let checked: Recorder = |name, p, form, text| record_checked(name, p, form, text);
    for (constants, takes) in [([5, 5], false), ([5, 7], true), ([5, 5], true)] {
        assert_eq!(recorded(checked, constants, takes), recorded(plain, constants, takes), "{constants:?} {takes}");
        assert!(recorded(checked, constants, takes).is_ok());
    }
    assert!(recorded(plain, [5, 7], false).is_ok(), "the first body is that of both calls");
    let refused = recorded(checked, [5, 7], false).unwrap_err();
    assert!(refused.contains("`product_and_sum` has another body at a later call"), "{refused}");
}
