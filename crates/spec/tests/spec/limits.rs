//! Gas cut at every limit: below the cost of a run it ends out of gas, from there on its result does not change.

use super::execute_with;

#[test]
fn gas_is_a_threshold() {
    for (name, text, used) in [
        ("evm384-v7", "11 0 MSTORE8 9 64 MSTORE8 0xa000000040000000400000000000 ADDMOD384 32 160 RETURN", None),
        ("evm384-v7", "1 2 3 LOGF 0 MULMODMONT384 GAS POP", None),
        ("evm384-v7", "0xff 2 EXP 0 MSTORE 32 0 KECCAK256 0 MSTORE 40 3 90 CALLDATACOPY 32 0 RETURN", None),
        (
            "eip6690-2024",
            "11 0 MSTORE8 8 1 0 0 SETMODX 1 0 0 LOADX 1 0 7 STOREX MULMODX .00010001000108 96 MLOAD 8 0 REVERT",
            Some(
                (3 + 2 + 3 + 3)
                    + (3 + 3 + 2 + 2 + 1 + 6 + 23)
                    + 2 * (3 + 2 + 1 + 1)
                    + 2
                    + 3
                    + 8
                    + (3 + 3 + 9)
                    + (3 + 2),
            ),
        ),
    ] {
        let whole = execute_with(name, text, &[7; 50], 1_000_000);
        assert!(!whole.halt.is_exceptional(), "{text}: {}", whole.halt);
        if let Some(used) = used {
            assert_eq!(whole.gas_used, used, "{text}");
        }
        for gas in 0..whole.gas_used + 20 {
            let outcome = execute_with(name, text, &[7; 50], gas);
            if gas < whole.gas_used {
                assert_eq!((outcome.halt.name(), outcome.gas_used), ("out_of_gas", gas), "{text} with {gas} gas");
                assert!(outcome.output.is_empty());
            } else {
                assert_eq!((outcome.halt, outcome.gas_used), (whole.halt, whole.gas_used), "{text} with {gas} gas");
                assert_eq!((&outcome.output, &outcome.memory), (&whole.output, &whole.memory), "{text} with {gas} gas");
                assert_eq!(outcome.gas_left, gas - whole.gas_used);
            }
        }
    }
}
