//! Functions of all contracts have one body, whichever call is recorded.

use residue_contracts::CONTRACTS;
use residue_formula::Fp2Product;
use residue_ir::{Form, Length, record_as, record_checked};

/// A body that read what differs between calls would be recorded once, and be wrong for all calls but the first.
#[test]
fn each_call_has_the_body_of_the_first() {
    let lengths = std::iter::once(None).chain(Length::ALL.map(Some));
    let forms: Vec<Form> =
        lengths.flat_map(|length| Fp2Product::EVERY.map(|fp2_product| Form { fp2_product, length })).collect();
    std::thread::scope(|scope| {
        let halves = CONTRACTS.chunks(CONTRACTS.len().div_ceil(2));
        for half in halves {
            scope.spawn(|| half.iter().for_each(|contract| check(contract, &forms)));
        }
    });
}

fn check(contract: &residue_contracts::Contract, forms: &[Form]) {
    for &form in forms {
        let modulus = (contract.field)();
        let checked = record_checked(contract.name, &modulus, form, contract.text);
        assert!(checked == record_as(contract.name, &modulus, form, contract.text), "{}", contract.name);
    }
}
