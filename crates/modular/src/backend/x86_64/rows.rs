//! Shared parts of products: one row of columns, entry and exit of a routine.

/// (low, high) += rdx × one limb. The products land in rax and rbx.
macro_rules! column {
    ($base:literal, $offset:literal, $low:literal, $high:literal) => {
        concat!("mulx rbx, rax, [", $base, " + ", $offset, "]\n", "adcx ", $low, ", rax\n", "adox ", $high, ", rbx\n",)
    };
}

/// Adds rdx × the limbs at `$base` to the accumulators: low halves through CF, high halves through OF. Both flags must be
/// clear before; afterwards CF belongs to the last accumulator and OF to the one beyond it.
macro_rules! columns {
    ($base:literal, $a0:literal, $a1:literal, $a2:literal, $a3:literal, $a4:literal) => {
        concat!(
            column!($base, "0", $a0, $a1),
            column!($base, "8", $a1, $a2),
            column!($base, "16", $a2, $a3),
            column!($base, "24", $a3, $a4),
        )
    };
    ($base:literal, $a0:literal, $a1:literal, $a2:literal, $a3:literal, $a4:literal, $a5:literal, $a6:literal) => {
        concat!(
            columns!($base, $a0, $a1, $a2, $a3, $a4),
            column!($base, "32", $a4, $a5),
            column!($base, "40", $a5, $a6),
        )
    };
}

/// (lowest, …, top, over) += rdx × the limbs at `$base`; the flags must be clear before.
macro_rules! add_row {
    ($base:literal, [] $top:literal $over:literal) => {
        concat!("mov eax, 0\nadcx ", $top, ", rax\nadox ", $over, ", rax\nadcx ", $over, ", rax\n")
    };
    ($base:literal, [$offset:literal $($offsets:literal)*] $low:literal $high:literal $($more:literal)*) => {
        concat!(column!($base, $offset, $low, $high), add_row!($base, [$($offsets)*] $high $($more)*))
    };
}

/// The accumulators to the limbs at rdx, the one after them to rax.
macro_rules! store {
    ([] $top:literal $over:literal) => {
        concat!("mov rax, ", $top, "\n")
    };
    ([$offset:literal $($offsets:literal)*] $lowest:literal $($more:literal)*) => {
        concat!("mov [rdx + ", $offset, "], ", $lowest, "\n", store!([$($offsets)*] $($more)*))
    };
}

/// Keeps the callee's registers of the System V ABI, and y in r9.
macro_rules! enter {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15\nmov r9, rdx\n"
    };
}

/// Undoes [`enter!`].
macro_rules! leave {
    () => {
        "pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret\n"
    };
}
