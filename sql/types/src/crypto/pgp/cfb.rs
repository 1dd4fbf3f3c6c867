//! The cipher feedback of OpenPGP (RFC 4880, section 13.9): bytes in any portions, a block of what has been encrypted before
//! each of the next ones.

use crate::crypto::cipher::Keyed;

/// A stream of bytes that is encrypted, or decrypted.
pub(super) struct Cfb {
    cipher: Keyed,
    /// The block that is being mixed in, and how much of it has been.
    mask: [u8; MAX_BLOCK],
    used: usize,
    /// The encrypted bytes behind it.
    last: [u8; MAX_BLOCK],
}

/// The largest block of a cipher, in bytes.
pub(super) const MAX_BLOCK: usize = 16;

impl Cfb {
    /// Begins with nothing but zeros before it.
    pub(super) fn new(cipher: Keyed) -> Cfb {
        let used = cipher.block();
        Cfb { cipher, mask: [0; MAX_BLOCK], used, last: [0; MAX_BLOCK] }
    }

    /// The size of a block, in bytes.
    pub(super) fn block(&self) -> usize {
        self.cipher.block()
    }

    fn run(&mut self, data: &mut [u8], encrypts: bool) {
        let size = self.block();
        for byte in data {
            if self.used == size {
                self.mask = self.last;
                self.cipher.encrypt_block(&mut self.mask[..size]);
                self.used = 0;
            }
            let given = *byte;
            *byte ^= self.mask[self.used];
            self.last[self.used] = if encrypts { *byte } else { given };
            self.used += 1;
        }
    }

    /// Encrypts where it stands.
    pub(super) fn encrypt(&mut self, data: &mut [u8]) {
        self.run(data, true);
    }

    /// Decrypts where it stands.
    pub(super) fn decrypt(&mut self, data: &mut [u8]) {
        self.run(data, false);
    }

    /// Begins a block behind these encrypted bytes, the last ones: what a packet without a modification detection code does
    /// behind its prefix.
    pub(super) fn synchronize(&mut self, last: &[u8]) {
        let size = self.block();
        self.last[..size].copy_from_slice(&last[last.len() - size..]);
        self.used = size;
    }
}
