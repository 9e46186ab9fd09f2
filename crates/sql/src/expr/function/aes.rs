//! AES_ENCRYPT and AES_DECRYPT: the key that is made of what the statement gives as one, and the initialization vector. The ciphers are in
//! [`super::cipher`].
//!
//! Without a method the key's bytes are laid over one another until they fill the cipher's key; `hkdf` and `pbkdf2_hmac`, with SHA-512, make a
//! key of any text. Which cipher it is says `block_encryption_mode`, when the statement is executed.

use base::{SqlError, codes};
use bytes::Bytes;
use hkdf::Hkdf;
use pbkdf2::pbkdf2_hmac;
use sha2::Sha512;
use types::Value;

use super::cipher::{self, BLOCK, CipherMode};
use super::{Args, FunctionInfo, line, some};
use crate::expr::types::ExprType;

pub(super) static TABLE: &[FunctionInfo] = &[
    line(
        "aes_encrypt",
        2,
        6,
        |args, session| {
            let length = session.block_encryption_mode.encrypted_length(args[0].ty.byte_length().into());
            ExprType::bytes(u32::try_from(length).unwrap_or(u32::MAX))
        },
        encrypt,
    )
    .per_execution(),
    line("aes_decrypt", 2, 6, |args, _| ExprType::bytes(args[0].ty.text_length()), decrypt).per_execution(),
];

fn encrypt(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, given) = (some!(args.bytes(0)?), some!(args.bytes(1)?));
    let mode = args.ctx.session.block_encryption_mode;
    let vector = vector(args, mode)?;
    let key = key(args, mode, &given)?;
    if args.len() <= METHOD && given.len() > mode.key_bytes() {
        let bytes = mode.key_bytes();
        let message = format!(
            "AES key size should be {bytes} bytes length or secure KDF methods hkdf or pbkdf2_hmac should be used, please provide exact AES \
             key size or use KDF methods for better security."
        );
        args.ctx.warn(codes::WARN_AES_KEY_SIZE, message);
    }
    if let Some(null) = args.too_long(mode.encrypted_length(text.len() as u64))? {
        return Ok(null);
    }
    let encrypted = cipher::encrypt(mode, &key, &vector, &text, &|steps| args.ctx.worked(steps))?;
    Ok(Value::Bytes(encrypted.into()))
}

fn decrypt(args: &Args<'_>) -> Result<Value, SqlError> {
    let (encrypted, given) = (some!(args.bytes(0)?), some!(args.bytes(1)?));
    let mode = args.ctx.session.block_encryption_mode;
    let vector = vector(args, mode)?;
    let key = key(args, mode, &given)?;
    if let Some(null) = args.too_long(encrypted.len() as u64)? {
        return Ok(null);
    }
    let text = cipher::decrypt(mode, &key, &vector, &encrypted, &|steps| args.ctx.worked(steps))?;
    Ok(text.map_or(Value::Null, |text| Value::Bytes(text.into())))
}

/// Places of the arguments.
const VECTOR: usize = 2;
const METHOD: usize = 3;
const SALT: usize = 4;
const OPTION: usize = 5;

/// The initialization vector: 1882 if it is too short, 1582 if there is none where there has to be one.
fn vector(args: &Args<'_>, mode: CipherMode) -> Result<[u8; BLOCK], SqlError> {
    if !mode.needs_vector() {
        if args.len() == METHOD {
            args.ctx.warn(codes::WARN_OPTION_IGNORED, "<IV> option ignored");
        }
        return Ok([0; BLOCK]);
    }
    if args.len() <= VECTOR {
        let message = format!("Incorrect parameter count in the call to native function '{}'", args.name);
        return Err(SqlError::new(codes::WRONG_PARAMCOUNT_TO_NATIVE_FCT, message));
    }
    let given = args.bytes(VECTOR)?;
    given.as_deref().and_then(|vector| vector.first_chunk().copied()).ok_or_else(|| {
        let name = args.name;
        let message =
            format!("The initialization vector supplied to {name} is too short. Must be at least {BLOCK} bytes long");
        SqlError::new(codes::AES_INVALID_IV, message)
    })
}

/// The cipher's key.
fn key(args: &Args<'_>, mode: CipherMode, given: &[u8]) -> Result<Vec<u8>, SqlError> {
    let mut key = vec![0; mode.key_bytes()];
    if args.len() <= METHOD {
        let places = (0..key.len()).cycle();
        given.iter().zip(places).for_each(|(byte, place)| key[place] ^= byte);
        return Ok(key);
    }
    let method = option(args, METHOD, TEXT_MAX)?;
    let is_hkdf = match &method[..] {
        b"hkdf" => true,
        b"pbkdf2_hmac" => false,
        _ => {
            let message = "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name";
            return Err(SqlError::new(codes::AES_INVALID_KDF_NAME, message));
        }
    };
    let salt = if args.len() > SALT { option(args, SALT, TEXT_MAX)? } else { Bytes::new() };
    if is_hkdf {
        let info = if args.len() > OPTION { option(args, OPTION, TEXT_MAX)? } else { Bytes::new() };
        let expanded = Hkdf::<Sha512>::new(Some(&salt), given).expand(&info, &mut key);
        expanded.map_err(SqlError::unknown)?;
    } else {
        let iterations = if args.len() > OPTION { iterations(args)? } else { ITERATIONS_MIN };
        args.ctx.worked(u64::from(iterations) * ITERATION_STEPS)?;
        pbkdf2_hmac::<Sha512>(given, &salt, iterations, &mut key);
    }
    Ok(key)
}

/// Texts that a key is derived with are shorter, in bytes, and so is the number of iterations as text.
const TEXT_MAX: usize = 256;
const NUMBER_MAX: usize = 6;

const ITERATIONS_MIN: u32 = 1000;
const ITERATIONS_MAX: u32 = 65535;
const ITERATION_STEPS: u64 = 256;

/// 3238 if it is NULL or too long.
fn option(args: &Args<'_>, at: usize, max: usize) -> Result<Bytes, SqlError> {
    args.bytes(at)?.filter(|option| option.len() < max).ok_or_else(|| {
        let message = format!("KDF option size is invalid, please provide valid size < {max} bytes and not NULL");
        SqlError::new(codes::AES_INVALID_KDF_OPTION_SIZE, message)
    })
}

/// The number that the text begins with: 3236 if it is none that there may be.
fn iterations(args: &Args<'_>) -> Result<u32, SqlError> {
    let text = option(args, OPTION, NUMBER_MAX)?;
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.iter().map_while(|byte| (*byte as char).to_digit(10));
    let number = digits.fold(0u32, |number, digit| number.saturating_mul(10).saturating_add(digit));
    if (ITERATIONS_MIN..=ITERATIONS_MAX).contains(&number) {
        return Ok(number);
    }
    let message = "For KDF method pbkdf2_hmac iterations value less than 1000 or more than 65535 is not allowed due to security reasons. \
                   Please provide iterations >= 1000 and iterations < 65535";
    Err(SqlError::new(codes::AES_INVALID_KDF_ITERATIONS, message))
}
