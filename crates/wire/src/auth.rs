//! The maths of `mysql_native_password` and `caching_sha2_password`.
//!
//! In both the server sends 20 random bytes (the *nonce*), and the client proves with them that it knows the
//! password without sending it:
//!
//! - native: the server keeps `SHA1(SHA1(password))`; the client sends `SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))`.
//! - caching_sha2: the client sends `SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)`. To check it the server needs
//!   `SHA256(SHA256(password))`, which it only remembers of clients that logged in before (*fast path*). What it keeps for
//!   good is a salted SHA-256 crypt of 5000 or more rounds, so at first the client sends the password itself (*full path*):
//!   over TLS or a local socket as it is, else encrypted with the server's RSA key, after XOR with the nonce.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 20;
/// Plugin name of the SHA-1 method.
pub const NATIVE: &str = "mysql_native_password";
/// Plugin name of the SHA-256 method, the default.
pub const CACHING_SHA2: &str = "caching_sha2_password";
/// Plugin name of the password as it is, over a protected stream only.
pub const CLEAR: &str = "mysql_clear_password";

/// In `AuthMoreData`: the fast path was enough, OK follows.
pub const FAST_AUTH_OK: u8 = 3;
/// In `AuthMoreData`: the password itself is needed.
pub const FULL_AUTH_NEEDED: u8 = 4;
/// From the client: the server's RSA key, please.
pub const PUBLIC_KEY_REQUEST: u8 = 2;

/// A password longer than this is refused by MySQL's full path; it also bounds the work per attempt.
pub const PASSWORD_BYTES_MAX: usize = 256;

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn xor<const N: usize>(mut a: [u8; N], b: [u8; N]) -> [u8; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// Compares without telling by the time taken where the first difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

/// Random bytes as a nonce: without NUL and `$`, which would end it early for some clients.
pub fn nonce_from(random: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    random.map(|byte| match byte & 0x7f {
        0 => 1,
        b'$' => b'%',
        other => other,
    })
}

/// What a `mysql_native_password` account keeps: `*` and 40 hexadecimal digits; empty for an empty password.
pub fn native_hash(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let twice = sha1(&[&sha1(&[password])]);
    twice.iter().fold(String::from("*"), |text, byte| text + &format!("{byte:02X}"))
}

/// What a client with this password answers to the nonce; empty for an empty password.
pub fn native_answer(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha1(&[password]);
    xor(once, sha1(&[nonce, &sha1(&[&once])])).to_vec()
}

/// Whether an answer was made with the password of which this is the [`native_hash`].
pub fn native_check(stored: &str, nonce: &[u8], answer: &[u8]) -> bool {
    if stored.is_empty() || answer.is_empty() {
        return stored.is_empty() && answer.is_empty();
    }
    let (Some(twice), Ok(answer)) = (unhex(stored), <[u8; 20]>::try_from(answer)) else {
        return false;
    };
    let once = xor(answer, sha1(&[nonce, &twice]));
    same(&sha1(&[&once]), &twice)
}

fn unhex(stored: &str) -> Option<[u8; 20]> {
    let digits = stored.strip_prefix('*')?.as_bytes();
    let mut bytes = [0; 20];
    if digits.len() != 40 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let nibble = |digit: u8| (digit as char).to_digit(16);
        *byte = (nibble(pair[0])? << 4 | nibble(pair[1])?) as u8;
    }
    Some(bytes)
}

/// What a client with this password answers to the nonce; empty for an empty password.
pub fn sha2_answer(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha256(&[password]);
    xor(once, sha256(&[&sha256(&[&once]), nonce])).to_vec()
}

/// `SHA256(SHA256(password))`: what a server remembers for the fast path.
pub fn sha2_digest(password: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[password])])
}

/// The fast path: whether an answer was made with the password of which this is the [`sha2_digest`].
pub fn sha2_check(digest: &[u8; 32], nonce: &[u8], answer: &[u8]) -> bool {
    let Ok(answer) = <[u8; 32]>::try_from(answer) else {
        return false;
    };
    let once = xor(answer, sha256(&[digest, nonce]));
    same(&sha256(&[&once]), digest)
}

/// Salt of a stored hash, in bytes.
pub const SALT_BYTES: usize = 20;
/// Rounds of SHA-256 crypt are stored in thousands, as three hexadecimal digits.
const ROUNDS_UNIT: usize = 1000;
const ROUNDS_DEFAULT: usize = 5;

/// What a `caching_sha2_password` account keeps: `$A$005$`, 20 bytes of salt, 43 characters; empty for an empty
/// password. The salt must be valid UTF-8 without NUL and `$`; [`nonce_from`] makes such bytes.
pub fn sha2_hash(password: &[u8], salt: &[u8; SALT_BYTES]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let crypt = sha256_crypt(password, salt, ROUNDS_DEFAULT * ROUNDS_UNIT);
    format!("$A${ROUNDS_DEFAULT:03X}${}{crypt}", String::from_utf8_lossy(salt))
}

/// The full path: whether this is the password of which `stored` is the [`sha2_hash`]. Takes about a millisecond.
pub fn sha2_verify(stored: &str, password: &[u8]) -> bool {
    if stored.is_empty() || password.is_empty() {
        return stored.is_empty() && password.is_empty();
    }
    let Some((rounds, salt, crypt)) = parse_sha2_hash(stored) else {
        return false;
    };
    password.len() <= PASSWORD_BYTES_MAX && same(sha256_crypt(password, salt, rounds).as_bytes(), crypt)
}

/// Whether a string may be kept for an account of this plugin (`IDENTIFIED WITH … AS '…'`).
pub fn is_valid_hash(plugin: &str, stored: &str) -> bool {
    match plugin {
        NATIVE => stored.is_empty() || unhex(stored).is_some(),
        CACHING_SHA2 => stored.is_empty() || parse_sha2_hash(stored).is_some(),
        _ => false,
    }
}

fn parse_sha2_hash(stored: &str) -> Option<(usize, &[u8], &[u8])> {
    let rest = stored.as_bytes().strip_prefix(b"$A$")?;
    let (rounds, rest) = rest.split_at_checked(3)?;
    let (salt, crypt) = rest.strip_prefix(b"$")?.split_at_checked(SALT_BYTES)?;
    let thousands = usize::from_str_radix(std::str::from_utf8(rounds).ok()?, 16).ok()?;
    // The upper bound is MySQL's; it bounds what one attempt to log in costs.
    if crypt.len() != 43 || !(ROUNDS_DEFAULT..=0xfff).contains(&thousands) {
        return None;
    }
    Some((thousands * ROUNDS_UNIT, salt, crypt))
}

/// Drepper's SHA-256 crypt, without its 16-byte bound on the salt (MySQL uses 20), giving the 43 characters only.
fn sha256_crypt(password: &[u8], salt: &[u8], rounds: usize) -> String {
    let repeat = |block: &[u8; 32], len: usize| block.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let b = sha256(&[password, salt, password]);
    let mut hash = Sha256::new();
    hash.update(password);
    hash.update(salt);
    hash.update(repeat(&b, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            hash.update(b)
        } else {
            hash.update(password)
        }
        bits >>= 1;
    }
    let mut a: [u8; 32] = hash.finalize().into();

    let mut hash = Sha256::new();
    (0..password.len()).for_each(|_| hash.update(password));
    let p = repeat(&hash.finalize().into(), password.len());
    let mut hash = Sha256::new();
    (0..16 + usize::from(a[0])).for_each(|_| hash.update(salt));
    let s = repeat(&hash.finalize().into(), salt.len());

    for round in 0..rounds {
        let mut hash = Sha256::new();
        if round % 2 == 1 {
            hash.update(&p)
        } else {
            hash.update(a)
        }
        if round % 3 != 0 {
            hash.update(&s);
        }
        if round % 7 != 0 {
            hash.update(&p);
        }
        if round % 2 == 1 {
            hash.update(a)
        } else {
            hash.update(&p)
        }
        a = hash.finalize().into();
    }
    crypt_text(&a)
}

/// The odd base 64 of crypt: three bytes in a fixed order become four characters, low bits first.
fn crypt_text(hash: &[u8; 32]) -> String {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = String::with_capacity(43);
    let mut put = |bytes: [u8; 3], characters: usize| {
        let mut bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for _ in 0..characters {
            text.push(ALPHABET[(bits & 63) as usize] as char);
            bits >>= 6;
        }
    };
    let (mut x, mut y, mut z) = (0, 10, 20);
    for _ in 0..10 {
        put([hash[x], hash[y], hash[z]], 4);
        (x, y, z) = (z + 1, x + 1, y + 1);
    }
    put([0, hash[31], hash[30]], 3);
    text
}

/// XOR of a password and its NUL with the nonce, over and over: what is encrypted with the server's RSA key, and how
/// the server gets the password back (with the NUL still there).
pub fn xor_with_nonce(bytes: &[u8], nonce: &[u8]) -> Vec<u8> {
    bytes.iter().zip(nonce.iter().cycle()).map(|(byte, nonce)| byte ^ nonce).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: [u8; 20] = *b"abcdefghijklmnopqrst";

    #[test]
    fn native_hash_is_the_known_one() {
        assert_eq!(native_hash(b"password"), "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
        assert_eq!(native_hash(b""), "");
    }

    #[test]
    fn native_answers() {
        let stored = native_hash(b"secret");
        assert!(native_check(&stored, &NONCE, &native_answer(b"secret", &NONCE)));
        assert!(!native_check(&stored, &NONCE, &native_answer(b"Secret", &NONCE)));
        assert!(!native_check(&stored, &NONCE, b""));
        assert!(!native_check(&stored, &NONCE, b"short"));
        assert!(!native_check("", &NONCE, &native_answer(b"secret", &NONCE)));
        assert!(native_check("", &NONCE, b""));
        assert!(!native_check("*nonsense", &NONCE, &native_answer(b"secret", &NONCE)));
    }

    #[test]
    fn sha256_crypt_gives_the_known_results() {
        let cases: [(&[u8], &[u8], &str); 3] = [
            (b"Hello world!", b"saltstring", "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
            (b"This is just a test", b"toolongsaltstrin", "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5"),
            (&[b'x'; 70], b"abcdef", "ejzuDEZQf/KSLoBOLgpLbAGesqqU9tOpI/DsXiWn.U2"),
        ];
        for (password, salt, crypt) in cases {
            assert_eq!(sha256_crypt(password, salt, 5000), crypt);
        }
    }

    #[test]
    fn sha2_full_path() {
        let stored = sha2_hash(b"secret", &NONCE);
        assert!(stored.starts_with("$A$005$abcdefghijklmnopqrst"), "{stored}");
        assert_eq!(stored.len(), 70);
        assert!(sha2_verify(&stored, b"secret"));
        assert!(!sha2_verify(&stored, b"secre"));
        assert!(!sha2_verify(&stored, b""));
        assert!(!sha2_verify("$A$", b"secret"));
        assert!(sha2_verify("", b""));
        assert!(is_valid_hash(CACHING_SHA2, &stored) && !is_valid_hash(NATIVE, &stored));
    }

    #[test]
    fn sha2_fast_path() {
        let digest = sha2_digest(b"secret");
        assert!(sha2_check(&digest, &NONCE, &sha2_answer(b"secret", &NONCE)));
        assert!(!sha2_check(&digest, &NONCE, &sha2_answer(b"other", &NONCE)));
        assert!(!sha2_check(&digest, &NONCE, b""));
    }

    #[test]
    fn nonces_have_no_nul() {
        let nonce = nonce_from(std::array::from_fn(|i| [0, 128, b'$', 255, 7][i % 5]));
        assert!(nonce.iter().all(|&byte| byte != 0 && byte != b'$' && byte < 128));
    }

    #[test]
    fn xor_goes_both_ways() {
        let password = b"a password that is longer than the nonce\0";
        assert_eq!(xor_with_nonce(&xor_with_nonce(password, &NONCE), &NONCE), password);
    }
}
