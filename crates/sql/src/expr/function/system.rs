//! Functions about statements, sizes, times and passwords as servers show them: STATEMENT_DIGEST, FORMAT_BYTES and the like.

use base::{SqlError, codes};
use sha2::{Digest, Sha256};
use types::Value;

use super::encoding::hex_text;
use super::{Args, FunctionInfo, LONG_TEXT, line, own_text, short_nullable_int, some, text_of};

pub(super) static TABLE: &[FunctionInfo] = &[
    line(
        "statement_digest",
        1,
        1,
        |_, session| own_text(64, session),
        |args| {
            let text = some!(digest_text(args)?);
            Ok(Value::str(hex_text(&Sha256::digest(text))))
        },
    )
    .per_execution(),
    line(
        "statement_digest_text",
        1,
        1,
        |args, session| text_of(args, |_| LONG_TEXT, session),
        |args| Ok(Value::from(some!(digest_text(args)?))),
    )
    .per_execution(),
    line(
        "format_bytes",
        1,
        1,
        |_, session| own_text(SHOWN, session),
        |args| Ok(Value::from(shown(some!(args.double(0)?), &BYTES))),
    ),
    line(
        "format_pico_time",
        1,
        1,
        |_, session| own_text(SHOWN, session),
        |args| Ok(Value::from(shown(some!(args.double(0)?), &PICOSECONDS))),
    ),
    // As in a MySQL without the component that knows what a strong password is.
    line("validate_password_strength", 1, 1, short_nullable_int::<10>, |args| {
        some!(args.text(0)?);
        Ok(Value::Int(0))
    }),
];

/// The normal form of a statement: 3676 if it is none, 3987 if it is a binary string.
fn digest_text(args: &Args<'_>) -> Result<Option<String>, SqlError> {
    /// `max_digest_length`, which cannot be set here.
    const BYTES_MAX: usize = 1024;
    const STEPS: u64 = 16;
    if args.is_binary(0) {
        let name = args.name;
        let message = format!("The function {name} does not support the character set 'binary'.");
        return Err(SqlError::new(codes::FUNCTION_DOES_NOT_SUPPORT_CHARACTER_SET, message));
    }
    let Some(text) = args.text(0)? else { return Ok(None) };
    args.ctx.worked(text.len() as u64 * STEPS)?;
    let context =
        crate::parse::ParseContext { sql_mode: args.ctx.session.sql_mode, ..crate::parse::ParseContext::default() };
    // Its tree may be deep.
    let digest =
        base::on_large_stack(|| syntax::digest::digest_text(&String::from_utf8_lossy(&text), &context, BYTES_MAX));
    digest.map(Some).map_err(|error| match error.code {
        code if code == codes::PARSE_ERROR.0 || code == codes::EMPTY_QUERY.0 => {
            let message = format!("Could not parse argument to digest function: \"{}\".", error.message);
            SqlError::new(codes::PARSE_ERROR_IN_DIGEST_FN, message)
        }
        _ => error,
    })
}

/// As long as the longest.
const SHOWN: u32 = 11;

/// Units, the smallest first, each with the number of the first one in it. Of the first no parts are shown.
struct Units {
    width: usize,
    units: &'static [(f64, &'static str)],
}

const BYTES: Units = Units {
    width: 4,
    units: &[
        (1.0, "bytes"),
        (1024.0, "KiB"),
        (1_048_576.0, "MiB"),
        (1_073_741_824.0, "GiB"),
        (1_099_511_627_776.0, "TiB"),
        (1_125_899_906_842_624.0, "PiB"),
        (1_152_921_504_606_846_976.0, "EiB"),
    ],
};

const PICOSECONDS: Units = Units {
    width: 3,
    units: &[
        (1.0, "ps"),
        (1e3, "ns"),
        (1e6, "us"),
        (1e9, "ms"),
        (1e12, "s"),
        (60e12, "min"),
        (3600e12, "h"),
        (86_400e12, "d"),
    ],
};

fn shown(number: f64, units: &Units) -> String {
    let fits = |unit: &&(f64, &str)| number.abs() >= unit.0;
    match units.units.iter().skip(1).rev().find(fits) {
        None => format!("{:width$} {}", number.trunc() as i64, units.units[0].1, width = units.width),
        Some((size, unit)) => {
            const WHOLE_MAX: f64 = 100_000.0;
            let number = number / size;
            match number.abs() >= WHOLE_MAX {
                false => format!("{number:4.2} {unit}"),
                true => {
                    // C's form: the exponent has a sign and two digits.
                    let text = format!("{number:.2e}");
                    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                    format!("{digits}e+{exponent:0>2} {unit}")
                }
            }
        }
    }
}
