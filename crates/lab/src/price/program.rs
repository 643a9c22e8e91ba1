//! Gas of a program under another schedule, from its opcode counts under one: no second run.

use residue_engine::{Counts, Engine};
use residue_isa::{FieldOp, GasSchedule};

/// Gas under the schedule of `to` of a run that used `gas_used` under that of `from`, given what was executed. Both engines
/// are of one revision and fork. Exact if no price is a fraction, all moduli are odd, and the program takes the same way
/// whatever gas is left.
pub fn gas_under(counts: &Counts, gas_used: u64, from: &Engine, to: &Engine) -> u64 {
    let unpriced = gas_used.saturating_sub(priced(counts, from));
    unpriced + priced(counts, to)
}

/// Thousandths of gas under the schedule of `to`, as [`gas_under`], where its prices may be fractions. For revisions without
/// prices by width.
pub fn exact_gas_under(counts: &Counts, gas_used: u64, from: &Engine, to: &Engine) -> u64 {
    let schedule = &to.config().schedule;
    let revision = to.config().revision;
    let too_much = |opcode: u8| {
        let own = revision.opcodes().iter().find(|row| row.byte == opcode);
        let price = match own {
            Some(row) => schedule.base(row.mnemonic),
            None => schedule.evm_overrides().find(|(overridden, _)| *overridden == opcode).map(|(_, price)| price),
        };
        price.map_or(0, |price| 1000 * price.whole() - price.0) * counts.of(opcode)
    };
    1000 * gas_under(counts, gas_used, from, to) - (0..=u8::MAX).map(too_much).sum::<u64>()
}

/// Gas of all that schedules have prices for, or may have.
fn priced(counts: &Counts, engine: &Engine) -> u64 {
    let schedule = &engine.config().schedule;
    let executed = (0..=u8::MAX).filter(|&opcode| counts.of(opcode) > 0);
    let base: u64 = executed.map(|opcode| counts.of(opcode) * engine.base_gas(opcode)).sum();
    if engine.config().revision.evm384().is_some() {
        return base;
    }
    base + lanes(counts, schedule) + moved(counts, schedule)
}

fn lanes(counts: &Counts, schedule: &GasSchedule) -> u64 {
    let of = |(width_limbs, operation): (usize, FieldOp)| {
        let squares = if operation == FieldOp::Mul { counts.priced_squares(width_limbs) } else { 0 };
        let others = counts.lanes(operation, width_limbs) - squares;
        others * schedule.arithmetic(operation, width_limbs).whole()
            + squares * schedule.at_width(width_limbs).square.whole()
    };
    let widths = counts.widths_limbs();
    widths.into_iter().flat_map(|width| FieldOp::ALL.map(|operation| (width, operation))).map(of).sum()
}

fn moved(counts: &Counts, schedule: &GasSchedule) -> u64 {
    let moved = counts.moved();
    let loaded = moved
        .loaded
        .iter()
        .chain(&moved.compared)
        .map(|(&width, &values)| values * schedule.at_width(width).load.whole());
    let stored = moved.stored.iter().map(|(&width, &values)| values * schedule.at_width(width).store.whole());
    let moduli = moved.moduli.iter().map(|(&width, &moduli)| moduli * schedule.set_modulus(width).whole());
    loaded.chain(stored).chain(moduli).sum()
}

#[cfg(test)]
mod tests {
    use residue_engine::EngineConfig;
    use residue_isa::{PerOp, Price, Revision};

    use super::*;

    #[test]
    fn pricing_counts_equals_running_under_every_schedule_of_whole_gas() {
        let mut compared = 0;
        for name in ["bls12_381/pairing", "bls12_381/fp2_mul"] {
            let contract = residue_contracts::find(name).unwrap();
            for &revision in Revision::ALL {
                let own = GasSchedule::default_for(revision).unwrap();
                let program = contract.program();
                let Ok(compiled) = residue_compiler::compile(&program, revision, &own) else { continue };
                // Prices that no other schedule has, all different, and some of the EVM's own.
                let odd = own
                    .repriced(
                        "odd",
                        "for a test",
                        revision,
                        |mnemonic, price| price + Price::from_gas(mnemonic.len() as u64),
                        |width, mut prices| {
                            let width = width as u64;
                            prices.arithmetic = PerOp([7 + width, 11 + 2 * width, 13 + 3 * width]).map(Price::from_gas);
                            if revision.prices_squares() {
                                prices.square = Price::from_gas(5 + width);
                            }
                            prices.set_modulus = Price::from_gas(1000 + width);
                            (prices.load, prices.store) = (Price::from_gas(17 + width), Price::from_gas(17 + width));
                            prices
                        },
                    )
                    .with_evm([(0x60, Price::from_gas(9)), (0x90, Price::from_gas(5)), (0x5b, Price::from_gas(4))]);
                let named = GasSchedule::names(revision).into_iter();
                let named = named.map(|name| GasSchedule::named(&name, revision).unwrap());
                let schedules: Vec<GasSchedule> = named.filter(GasSchedule::is_whole).chain([odd]).collect();
                let engine =
                    |schedule: &GasSchedule| Engine::new(EngineConfig::new(revision, schedule.clone())).unwrap();
                let from = engine(&schedules[0]);
                let input = (contract.example)();
                let run = from.run_counted(&compiled.code, &input, 1 << 40);
                assert!(run.outcome.is_success(), "{name} {revision}");
                for schedule in &schedules {
                    let to = engine(schedule);
                    let expected = to.run_code(&compiled.code, &input, 1 << 40).gas_used;
                    let priced = gas_under(&run.counts, run.outcome.gas_used, &from, &to);
                    assert_eq!(priced, expected, "{name} {revision} {}", schedule.name());
                    compared += 1;
                }
            }
        }
        assert!(compared > 60, "{compared}");
    }
}
