//! The emulated machine's memory: bytes from 0 on, without protection. ckb-vm's own ends at 4 MiB, less than the engine, the longest code and a stack take.

use ckb_vm::memory::fill_page_data;
use ckb_vm::{Bytes, Error, Memory, RISCV_PAGESIZE, Register};

/// Bytes of memory.
pub const MEMORY_BYTES: usize = 16 << 20;

/// A flat memory with the flags of its pages, which nothing here reads.
#[derive(Debug)]
pub struct Flat<R> {
    bytes: Vec<u8>,
    flags: Vec<u8>,
    reserved: R,
}

impl<R: Register> Flat<R> {
    fn read<const N: usize>(&self, at: u64) -> Result<[u8; N], Error> {
        let at = usize::try_from(at).map_err(|_| Error::MemOutOfBound)?;
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        bytes.copied().ok_or(Error::MemOutOfBound)
    }

    fn place(&mut self, at: u64, length: u64) -> Result<&mut [u8], Error> {
        let end = at.checked_add(length).ok_or(Error::MemOutOfBound)?;
        let [at, end] = [at, end].map(usize::try_from);
        let (Ok(at), Ok(end)) = (at, end) else { return Err(Error::MemOutOfBound) };
        self.bytes.get_mut(at..end).ok_or(Error::MemOutOfBound)
    }

    fn flag(&mut self, page: u64) -> Result<&mut u8, Error> {
        usize::try_from(page).ok().and_then(|page| self.flags.get_mut(page)).ok_or(Error::MemOutOfBound)
    }
}

impl<R: Register> Memory for Flat<R> {
    type REG = R;

    fn new() -> Self {
        Self::new_with_memory(MEMORY_BYTES)
    }

    fn new_with_memory(memory_size: usize) -> Self {
        let flags = vec![0; memory_size.div_ceil(RISCV_PAGESIZE)];
        Self { bytes: vec![0; memory_size], flags, reserved: R::from_u64(u64::MAX) }
    }

    fn init_pages(
        &mut self,
        at: u64,
        size: u64,
        _flags: u8,
        source: Option<Bytes>,
        offset_from_addr: u64,
    ) -> Result<(), Error> {
        fill_page_data(self, at, size, source, offset_from_addr)
    }

    fn fetch_flag(&mut self, page: u64) -> Result<u8, Error> {
        self.flag(page).copied()
    }

    fn set_flag(&mut self, page: u64, flag: u8) -> Result<(), Error> {
        *self.flag(page)? |= flag;
        Ok(())
    }

    fn clear_flag(&mut self, page: u64, flag: u8) -> Result<(), Error> {
        *self.flag(page)? &= !flag;
        Ok(())
    }

    fn memory_size(&self) -> usize {
        self.bytes.len()
    }

    fn store_byte(&mut self, at: u64, size: u64, value: u8) -> Result<(), Error> {
        self.place(at, size)?.fill(value);
        Ok(())
    }

    fn store_bytes(&mut self, at: u64, value: &[u8]) -> Result<(), Error> {
        self.place(at, value.len() as u64)?.copy_from_slice(value); // usize to u64 widens.
        Ok(())
    }

    fn load_bytes(&mut self, at: u64, size: u64) -> Result<Bytes, Error> {
        Ok(self.place(at, size)?.to_vec().into())
    }

    fn execute_load16(&mut self, at: u64) -> Result<u16, Error> {
        self.read(at).map(u16::from_le_bytes)
    }

    fn execute_load32(&mut self, at: u64) -> Result<u32, Error> {
        self.read(at).map(u32::from_le_bytes)
    }

    fn load8(&mut self, at: &R) -> Result<R, Error> {
        self.read(at.to_u64()).map(|bytes| R::from_u8(u8::from_le_bytes(bytes)))
    }

    fn load16(&mut self, at: &R) -> Result<R, Error> {
        self.read(at.to_u64()).map(|bytes| R::from_u16(u16::from_le_bytes(bytes)))
    }

    fn load32(&mut self, at: &R) -> Result<R, Error> {
        self.read(at.to_u64()).map(|bytes| R::from_u32(u32::from_le_bytes(bytes)))
    }

    fn load64(&mut self, at: &R) -> Result<R, Error> {
        self.read(at.to_u64()).map(|bytes| R::from_u64(u64::from_le_bytes(bytes)))
    }

    fn store8(&mut self, at: &R, value: &R) -> Result<(), Error> {
        self.store_bytes(at.to_u64(), &value.to_u8().to_le_bytes())
    }

    fn store16(&mut self, at: &R, value: &R) -> Result<(), Error> {
        self.store_bytes(at.to_u64(), &value.to_u16().to_le_bytes())
    }

    fn store32(&mut self, at: &R, value: &R) -> Result<(), Error> {
        self.store_bytes(at.to_u64(), &value.to_u32().to_le_bytes())
    }

    fn store64(&mut self, at: &R, value: &R) -> Result<(), Error> {
        self.store_bytes(at.to_u64(), &value.to_u64().to_le_bytes())
    }

    fn lr(&self) -> &R {
        &self.reserved
    }

    fn set_lr(&mut self, value: &R) {
        self.reserved = value.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_as_stored_and_none_beyond_the_end() {
        let mut memory = Flat::<u64>::new();
        memory.store64(&8, &0x0102_0304_0506_0708).unwrap();
        assert_eq!(memory.load32(&10).unwrap(), 0x0304_0506);
        assert_eq!(memory.load_bytes(7, 3).unwrap()[..], [0, 8, 7]);
        memory.store_byte(9, 2, 0xff).unwrap();
        assert_eq!((memory.load16(&8).unwrap(), memory.load8(&11).unwrap()), (0xff08, 5));
        let end = MEMORY_BYTES as u64;
        assert!(memory.load64(&(end - 8)).is_ok() && memory.load64(&(end - 7)).is_err());
        assert!(memory.store32(&(end - 3), &0).is_err() && memory.load8(&u64::MAX).is_err());
        assert!(memory.load_bytes(u64::MAX, 2).is_err() && memory.fetch_flag(end).is_err());
    }
}
