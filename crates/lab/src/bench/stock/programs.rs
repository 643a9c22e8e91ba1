//! Programs without field instructions: loops that transform a word, and a transaction that ends at once.

/// Turns of each loop.
pub const TURNS: u32 = 1000;

/// The contract that programs call: x ↦ 3x + 1 modulo 2²⁵⁶.
pub const CALLEE: [u8; 20] = [2; 20];
pub const CALLEE_TEXT: &str = "PUSH 0 CALLDATALOAD PUSH 3 MUL PUSH 1 ADD PUSH 0 MSTORE PUSH 32 PUSH 0 RETURN";

/// A program.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Transactions of one measurement.
    pub transactions: u32,
    /// Body of the loop: it replaces the word on top of the stack, above the number of turns left. None for a transaction that ends at once.
    body: Option<&'static str>,
}

/// All of them.
pub const PROGRAMS: &[Program] = &[
    Program { name: "stop", transactions: 500, body: None },
    looped(
        "arithmetic",
        "DUP1 PUSH 3 MUL PUSH 7 ADD XOR DUP1 PUSH 5 SHR ADD PUSH 1000003 SWAP1 MOD PUSH 987654321987654321 MUL NOT",
    ),
    looped(
        "jumps",
        "PUSH @a JUMP b: PUSH 3 ADD PUSH @c JUMP a: PUSH 1 PUSH @b JUMPI c: PUSH 0 PUSH @d JUMPI PUSH 9 ADD d: PUSH @e JUMP e:",
    ),
    looped(
        "memory",
        "DUP1 PUSH 64 MSTORE PUSH 64 MLOAD ADD DUP1 PUSH 95 MSTORE8 PUSH 80 MLOAD XOR DUP1 PUSH 128 MSTORE PUSH 112 MLOAD ADD",
    ),
    looped("keccak256", "PUSH 0 MSTORE PUSH 64 PUSH 0 KECCAK256"),
    // A function of fixed-point numbers and a square root by Newton's steps, as ray tracers have them.
    looped(
        "functions",
        "DUP2 ADD PUSH @scaled SWAP1 PUSH @scale JUMP scaled: PUSH @rooted SWAP1 PUSH @root JUMP rooted: \
         PUSH 0 MSTORE DUP1 PUSH 2654435761 MUL PUSH 0 MLOAD ADD PUSH @next JUMP \
         scale: DUP1 DUP1 MUL PUSH 1000000 SWAP1 SDIV ADD PUSH 1000003 MUL PUSH 0xffffffffffffffff AND SWAP1 JUMP \
         root: DUP1 PUSH 1 SHR PUSH 1 ADD PUSH 12 \
         step: SWAP1 DUP1 DUP4 DIV ADD PUSH 1 SHR SWAP1 PUSH 1 SWAP1 SUB DUP1 PUSH @step JUMPI \
         POP SWAP1 POP SWAP1 JUMP next:",
    ),
    looped(
        "calls",
        "PUSH 0 MSTORE PUSH 32 PUSH 0 PUSH 32 PUSH 0 PUSH 0 PUSH 0x0202020202020202020202020202020202020202 GAS CALL \
         POP PUSH 0 MLOAD",
    ),
    looped("precompile", "PUSH 0 MSTORE PUSH 32 PUSH 32 PUSH 32 PUSH 0 PUSH 4 GAS STATICCALL POP PUSH 32 MLOAD NOT"),
];

const fn looped(name: &'static str, body: &'static str) -> Program {
    Program { name, transactions: 1, body: Some(body) }
}

impl Program {
    /// Its text; it returns the word.
    pub fn text(&self) -> String {
        let Some(body) = self.body else { return "STOP".to_owned() };
        format!(
            "PUSH {TURNS} PUSH 7 top: {body}
             SWAP1 PUSH 1 SWAP1 SUB DUP1 ISZERO PUSH @end JUMPI SWAP1 PUSH @top JUMP
             end: POP PUSH 0 MSTORE PUSH 32 PUSH 0 RETURN"
        )
    }
}
