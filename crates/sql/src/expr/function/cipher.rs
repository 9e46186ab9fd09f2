//! AES in the modes of `block_encryption_mode`, over the library's cipher of one block.
//!
//! | mode | what is XORed with the text | padding |
//! |---|---|---|
//! | ecb | nothing: each block by itself | PKCS #7 |
//! | cbc | the block is encrypted after the one before it was added | PKCS #7 |
//! | cfb1, cfb8, cfb128 | the first bit, byte, block of the encrypted register, into which the ciphertext is shifted | none |
//! | ofb | the encrypted register, which is the next register | none |
//!
//! Invariants: a mode whose name is in [`MODES`] has the place of its name there, as MySQL numbers them. What takes long says its steps to
//! a caller, who may end it.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use base::SqlError;

/// The values of `block_encryption_mode`, in MySQL's order: the length of the key changes fastest.
pub(crate) const MODES: &[&str] = &[
    "aes-128-ecb",
    "aes-192-ecb",
    "aes-256-ecb",
    "aes-128-cbc",
    "aes-192-cbc",
    "aes-256-cbc",
    "aes-128-cfb1",
    "aes-192-cfb1",
    "aes-256-cfb1",
    "aes-128-cfb8",
    "aes-192-cfb8",
    "aes-256-cfb8",
    "aes-128-cfb128",
    "aes-192-cfb128",
    "aes-256-cfb128",
    "aes-128-ofb",
    "aes-192-ofb",
    "aes-256-ofb",
];

/// Bytes of a block, and of an initialization vector.
pub(crate) const BLOCK: usize = 16;

type Block = [u8; BLOCK];

/// How blocks are chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// The length of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyBits {
    K128,
    K192,
    K256,
}

/// A value of `block_encryption_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherMode {
    chain: Chain,
    key: KeyBits,
}

impl Default for CipherMode {
    fn default() -> Self {
        CipherMode { chain: Chain::Ecb, key: KeyBits::K128 }
    }
}

impl CipherMode {
    /// The mode of a name of [`MODES`].
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        const CHAINS: [Chain; 6] = [Chain::Ecb, Chain::Cbc, Chain::Cfb1, Chain::Cfb8, Chain::Cfb128, Chain::Ofb];
        const KEYS: [KeyBits; 3] = [KeyBits::K128, KeyBits::K192, KeyBits::K256];
        let place = MODES.iter().position(|known| *known == name)?;
        Some(CipherMode { chain: CHAINS[place / KEYS.len()], key: KEYS[place % KEYS.len()] })
    }

    /// Bytes of the key.
    pub(crate) fn key_bytes(self) -> usize {
        match self.key {
            KeyBits::K128 => 16,
            KeyBits::K192 => 24,
            KeyBits::K256 => 32,
        }
    }

    /// Whether there has to be an initialization vector.
    pub(crate) fn needs_vector(self) -> bool {
        self.chain != Chain::Ecb
    }

    /// Whether the text is padded to whole blocks, at least by a byte.
    pub(crate) fn pads(self) -> bool {
        matches!(self.chain, Chain::Ecb | Chain::Cbc)
    }

    /// Bytes of the ciphertext of so many.
    pub(crate) fn encrypted_length(self, bytes: u64) -> u64 {
        if self.pads() { (bytes / BLOCK as u64 + 1).saturating_mul(BLOCK as u64) } else { bytes }
    }
}

/// What counts steps and may end the work.
pub(crate) type Worked<'a> = &'a dyn Fn(u64) -> Result<(), SqlError>;

/// Steps of the cipher for a block.
const BLOCK_STEPS: u64 = 16;
/// So many bytes are worked on between two looks.
const LOOK: usize = 64 << 10;

/// A cipher under a key.
enum Cipher {
    K128(Box<Aes128>),
    K192(Box<Aes192>),
    K256(Box<Aes256>),
}

impl Cipher {
    /// The key has as many bytes as the mode wants.
    fn new(mode: CipherMode, key: &[u8]) -> Result<Self, SqlError> {
        let none = |_| SqlError::unknown("a key of a wrong length");
        Ok(match mode.key {
            KeyBits::K128 => Cipher::K128(Box::new(Aes128::new_from_slice(key).map_err(none)?)),
            KeyBits::K192 => Cipher::K192(Box::new(Aes192::new_from_slice(key).map_err(none)?)),
            KeyBits::K256 => Cipher::K256(Box::new(Aes256::new_from_slice(key).map_err(none)?)),
        })
    }

    fn encrypt(&self, block: &mut Block) {
        let block = Array::cast_from_core_mut(block);
        match self {
            Cipher::K128(cipher) => cipher.encrypt_block(block),
            Cipher::K192(cipher) => cipher.encrypt_block(block),
            Cipher::K256(cipher) => cipher.encrypt_block(block),
        }
    }

    fn decrypt(&self, block: &mut Block) {
        let block = Array::cast_from_core_mut(block);
        match self {
            Cipher::K128(cipher) => cipher.decrypt_block(block),
            Cipher::K192(cipher) => cipher.decrypt_block(block),
            Cipher::K256(cipher) => cipher.decrypt_block(block),
        }
    }
}

fn add(block: &mut Block, other: &Block) {
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
}

/// The ciphertext.
pub(crate) fn encrypt(
    mode: CipherMode,
    key: &[u8],
    vector: &Block,
    text: &[u8],
    worked: Worked<'_>,
) -> Result<Vec<u8>, SqlError> {
    let cipher = Cipher::new(mode, key)?;
    let mut data = Vec::with_capacity(mode.encrypted_length(text.len() as u64) as usize);
    data.extend_from_slice(text);
    if mode.pads() {
        let padding = BLOCK - text.len() % BLOCK;
        data.resize(text.len() + padding, padding as u8);
    }
    let mut register = *vector;
    for part in data.chunks_mut(LOOK) {
        worked(steps(mode, part.len()))?;
        match mode.chain {
            Chain::Ecb => part.as_chunks_mut().0.iter_mut().for_each(|block| cipher.encrypt(block)),
            Chain::Cbc => {
                for block in part.as_chunks_mut().0 {
                    add(block, &register);
                    cipher.encrypt(block);
                    register = *block;
                }
            }
            _ => stream(mode.chain, &cipher, &mut register, part, Direction::Encrypt),
        }
    }
    Ok(data)
}

/// The text; `None` if it is none that was encrypted so.
pub(crate) fn decrypt(
    mode: CipherMode,
    key: &[u8],
    vector: &Block,
    encrypted: &[u8],
    worked: Worked<'_>,
) -> Result<Option<Vec<u8>>, SqlError> {
    if mode.pads() && !encrypted.len().is_multiple_of(BLOCK) {
        return Ok(None);
    }
    let cipher = Cipher::new(mode, key)?;
    let mut data = encrypted.to_vec();
    let mut register = *vector;
    for part in data.chunks_mut(LOOK) {
        worked(steps(mode, part.len()))?;
        match mode.chain {
            Chain::Ecb => part.as_chunks_mut().0.iter_mut().for_each(|block| cipher.decrypt(block)),
            Chain::Cbc => {
                for block in part.as_chunks_mut().0 {
                    let next = *block;
                    cipher.decrypt(block);
                    add(block, &register);
                    register = next;
                }
            }
            _ => stream(mode.chain, &cipher, &mut register, part, Direction::Decrypt),
        }
    }
    Ok(if mode.pads() { unpadded(data) } else { Some(data) })
}

/// The text in front of its padding; `None` if that is none.
fn unpadded(mut data: Vec<u8>) -> Option<Vec<u8>> {
    let padding = usize::from(*data.last()?);
    let length = data.len().checked_sub(padding).filter(|_| (1..=BLOCK).contains(&padding))?;
    if data[length..].iter().any(|byte| usize::from(*byte) != padding) {
        return None;
    }
    data.truncate(length);
    Some(data)
}

fn steps(mode: CipherMode, bytes: usize) -> u64 {
    let blocks = match mode.chain {
        Chain::Cfb1 => 8 * bytes,
        Chain::Cfb8 => bytes,
        _ => bytes.div_ceil(BLOCK),
    };
    blocks as u64 * BLOCK_STEPS
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Encrypt,
    Decrypt,
}

/// A part of a text in a mode without padding. All parts but the last are whole blocks.
fn stream(chain: Chain, cipher: &Cipher, register: &mut Block, part: &mut [u8], direction: Direction) {
    match chain {
        Chain::Cfb1 => part.iter_mut().for_each(|byte| *byte = bits(cipher, register, *byte, direction)),
        Chain::Cfb8 => {
            for byte in part {
                let mut key = *register;
                cipher.encrypt(&mut key);
                let given = *byte;
                *byte ^= key[0];
                register.rotate_left(1);
                register[BLOCK - 1] = if direction == Direction::Encrypt { *byte } else { given };
            }
        }
        _ => {
            for block in part.chunks_mut(BLOCK) {
                cipher.encrypt(register);
                for (key, byte) in register.iter_mut().zip(block) {
                    let given = *byte;
                    *byte ^= *key;
                    if chain == Chain::Cfb128 {
                        *key = if direction == Direction::Encrypt { *byte } else { given };
                    }
                }
            }
        }
    }
}

/// A byte in cfb1, the highest bit first.
fn bits(cipher: &Cipher, register: &mut Block, given: u8, direction: Direction) -> u8 {
    let mut out = 0;
    for bit in (0..8).rev() {
        let mut key = *register;
        cipher.encrypt(&mut key);
        let given = given >> bit & 1;
        let made = given ^ key[0] >> 7;
        out |= made << bit;
        let encrypted = if direction == Direction::Encrypt { made } else { given };
        let shifted = u128::from_be_bytes(*register) << 1 | u128::from(encrypted);
        *register = shifted.to_be_bytes();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_is_decrypted() {
        let key: Vec<u8> = (1..=32).collect();
        let (vector, worked) = ([9; BLOCK], |_| Ok(()));
        for name in MODES {
            let mode = CipherMode::by_name(name).unwrap();
            let key = &key[..mode.key_bytes()];
            for length in [0, 1, 15, 16, 17, LOOK, LOOK + 1, 2 * LOOK + 31] {
                let text: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
                let encrypted = encrypt(mode, key, &vector, &text, &worked).unwrap();
                assert_eq!(encrypted.len() as u64, mode.encrypted_length(length as u64), "{name} {length}");
                assert_eq!(decrypt(mode, key, &vector, &encrypted, &worked).unwrap(), Some(text), "{name} {length}");
            }
        }
    }
}
