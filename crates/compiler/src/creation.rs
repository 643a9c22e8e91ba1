//! Creation code: code executed by a transaction or CREATE that returns the code of the new account.

use residue_isa::assembly::{AssembleError, Assembly};
use residue_isa::opcode::evm;
use residue_isa::{Fork, Revision};

/// Code that returns `code`, with the opcodes of `fork`: it copies the bytes after it.
pub fn creation(code: &[u8], revision: Revision, fork: Fork) -> Result<Vec<u8>, AssembleError> {
    let mut assembly = Assembly::for_fork(fork);
    let data = assembly.new_label();
    assembly.push(code.len());
    assembly.op(evm::DUP1);
    assembly.push_label(data);
    assembly.push(0u8);
    assembly.op(evm::CODECOPY);
    assembly.push(0u8);
    assembly.op(evm::RETURN);
    assembly.mark(data);
    assembly.data(code);
    Ok(assembly.assemble(revision)?.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_takes_as_many_bytes_as_it_needs_and_a_zero_what_the_fork_has() {
        let front = |bytes: usize, fork| {
            let mut made = creation(&vec![0xab; bytes], Revision::Evm384V7, fork).unwrap();
            assert_eq!(made.split_off(made.len() - bytes), vec![0xab; bytes]);
            made
        };
        assert_eq!(front(1, Fork::Osaka), [0x60, 1, 0x80, 0x60, 9, 0x5f, 0x39, 0x5f, 0xf3]);
        assert_eq!(front(1, Fork::London), [0x60, 1, 0x80, 0x60, 11, 0x60, 0, 0x39, 0x60, 0, 0xf3]);
        assert_eq!(front(0x102, Fork::Osaka), [0x61, 1, 2, 0x80, 0x60, 10, 0x5f, 0x39, 0x5f, 0xf3]);
        assert_eq!(front(0, Fork::Osaka), [0x5f, 0x80, 0x60, 8, 0x5f, 0x39, 0x5f, 0xf3]);
    }
}
