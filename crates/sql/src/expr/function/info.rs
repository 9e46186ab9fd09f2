//! Functions that say something about session, server or types.

use base::{SqlError, codes};
use types::{CollationId, Value};

use super::{Args, FunctionInfo, line, nullable_uint, own_text, short_nullable_int, some, system_text};
use crate::expr::context::SessionInfo;
use crate::expr::tree::Expr;
use crate::expr::types::{ExprType, Kind};

pub(super) static TABLE: &[FunctionInfo] = &[
    line("connection_id", 0, 0, fixed_uint, |args| Ok(Value::UInt(args.ctx.session.connection_id as u64)))
        .per_execution(),
    line("user", 0, 0, name, |args| Ok(Value::str(&*args.ctx.session.user))).per_execution(),
    line("session_user", 0, 0, name, |args| Ok(Value::str(&*args.ctx.session.user))).per_execution(),
    line("system_user", 0, 0, name, |args| Ok(Value::str(&*args.ctx.session.user))).per_execution(),
    line("current_user", 0, 0, name, |args| Ok(Value::str(&*args.ctx.session.current_user))).per_execution(),
    line("current_role", 0, 0, name, current_role).per_execution(),
    line("roles_graphml", 0, 0, |_, _| system_text(GRAPH_LENGTH), |args| Ok(Value::str(args.ctx.host.roles_graph()?)))
        .per_execution(),
    line("database", 0, 0, schema, database).per_execution(),
    line("schema", 0, 0, schema, database).per_execution(),
    line(
        "version",
        0,
        0,
        |args, session| name(args, session).nullable(false),
        |args| Ok(Value::str(&*args.ctx.session.version)),
    )
    .per_execution(),
    line("last_insert_id", 0, 1, super::uint, last_insert_id).per_execution(),
    line("row_count", 0, 0, fixed_int, |args| Ok(Value::Int(args.ctx.session.row_count))).per_execution(),
    line("found_rows", 0, 0, fixed_int, |args| Ok(Value::Int(args.ctx.session.found_rows as i64))).per_execution(),
    line("charset", 1, 1, schema, |args| Ok(Value::str_static(collation_of(args).charset().name()))),
    line("collation", 1, 1, schema, |args| Ok(Value::str_static(collation_of(args).name()))),
    line(
        "coercibility",
        1,
        1,
        |_, _| ExprType { length: 10, ..ExprType::of_kind(Kind::Int) }.nullable(false),
        |args| Ok(Value::Int(args.args[0].ty.coercibility.number())),
    ),
    line("uuid", 0, 0, |_, _| system_text(36), |args| Ok(Value::str(uuid_text(&uuid(args))))).volatile(),
    line("uuid_short", 0, 0, fixed_uint, uuid_short).volatile(),
    line(
        "is_uuid",
        1,
        1,
        |_, _| ExprType::truth(true),
        |args| Ok(Value::from(parse_uuid(&some!(args.text(0)?)).is_some())),
    ),
    line("uuid_to_bin", 1, 2, |_, _| ExprType::bytes(16), uuid_to_bin),
    line("bin_to_uuid", 1, 2, |_, session| own_text(36, session), bin_to_uuid),
    line("random_bytes", 1, 1, |_, _| ExprType::bytes(1024), random_bytes).volatile(),
    line("name_const", 2, 2, |args, _| args[1].ty.clone(), |args| Ok(args.value(1)?.into_owned())),
    line("ps_current_thread_id", 0, 0, fixed_uint, |args| Ok(Value::UInt(args.ctx.session.connection_id as u64)))
        .per_execution(),
    line("load_file", 1, 1, |_, _| ExprType::bytes(super::LONG_TEXT), refuse).waiting(),
    line("get_lock", 2, 2, short_nullable_int::<2>, refuse).waiting(),
    line("release_lock", 1, 1, short_nullable_int::<2>, refuse).waiting(),
    line("release_all_locks", 0, 0, fixed_uint, refuse).waiting(),
    line("is_free_lock", 1, 1, short_nullable_int::<2>, refuse).waiting(),
    line("is_used_lock", 1, 1, nullable_uint, refuse).waiting(),
    line("wait_for_executed_gtid_set", 1, 2, super::nullable_int, refuse).waiting(),
    line("master_pos_wait", 2, 4, super::nullable_int, refuse).waiting(),
    line("source_pos_wait", 2, 4, super::nullable_int, refuse).waiting(),
    line("master_gtid_wait", 1, 2, super::nullable_int, refuse).waiting(),
    line("gtid_subset", 2, 2, super::int, gtid_subset),
    line("gtid_subtract", 2, 2, |_, session| own_text(super::LONG_TEXT, session), gtid_subtract),
    line("binlog_gtid_pos", 2, 2, |_, session| own_text(super::LONG_TEXT, session), refuse).waiting(),
];

fn fixed_uint(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::UInt).nullable(false)
}

fn fixed_int(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Int).nullable(false)
}

fn name(_: &[Expr], _: &SessionInfo) -> ExprType {
    system_text(288)
}

fn schema(_: &[Expr], _: &SessionInfo) -> ExprType {
    system_text(64)
}

/// Whether each GTID of the first set is in the second.
fn gtid_subset(args: &Args<'_>) -> Result<Value, SqlError> {
    let (a, b) = (some!(args.text(0)?), some!(args.text(1)?));
    Ok(Value::from(gtids(&a)?.is_subset_of(&gtids(&b)?)))
}

/// The GTIDs of the first set that are not in the second.
fn gtid_subtract(args: &Args<'_>) -> Result<Value, SqlError> {
    let (a, b) = (some!(args.text(0)?), some!(args.text(1)?));
    let mut left = gtids(&a)?;
    left.subtract(&gtids(&b)?);
    Ok(Value::str(left.to_string()))
}

/// 1772 if it is none.
fn gtids(text: &[u8]) -> Result<binlog::GtidSet, SqlError> {
    let text = String::from_utf8_lossy(text);
    let malformed = || format!("Malformed GTID set specification '{text}'.");
    text.parse().map_err(|_| SqlError::new(codes::MALFORMED_GTID_SET_SPECIFICATION, malformed()))
}

/// What the executor has not moved out of the expression before evaluating it.
fn refuse(_: &Args<'_>) -> Result<Value, SqlError> {
    Err(SqlError::not_supported("a function that waits, in this place"))
}

fn database(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(args.ctx.session.database.as_deref().map_or(Value::Null, Value::from))
}

fn last_insert_id(args: &Args<'_>) -> Result<Value, SqlError> {
    let session = args.ctx.session;
    if args.len() == 0 {
        return Ok(Value::UInt(session.last_insert_id));
    }
    let id = crate::expr::coerce::to_bits(&*args.value(0)?, args.ctx)?;
    *session.set_last_insert_id.lock() = Some(id.unwrap_or(0));
    Ok(id.map_or(Value::Null, Value::UInt))
}

fn collation_of(args: &Args<'_>) -> CollationId {
    let ty = &args.args[0].ty;
    match ty.kind {
        Kind::Str => ty.collation,
        Kind::Json if ty.origin.is_none() => ty.collation,
        Kind::Null | Kind::Bytes => CollationId::BINARY,
        // Numbers become text in the connection's character set, but say that they are binary.
        _ => CollationId::BINARY,
    }
}

/// Version 1: 100 ns since 1582-10-15, with a random node.
fn uuid(args: &Args<'_>) -> [u8; 16] {
    const TICKS_TO_1970: u64 = 0x01b2_1dd2_1381_4000;
    let ctx = args.ctx;
    let mut random = [0; 10];
    ctx.host.fill_random(&mut random);
    // The ten steps within a microsecond are filled at random; so are the 14 bits of the sequence.
    let ticks = ctx.host.clock_now().0 * 10 + TICKS_TO_1970 + (random[8] % 10) as u64;
    let mut uuid = [0; 16];
    uuid[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    uuid[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    uuid[6..8].copy_from_slice(&((ticks >> 48) as u16 & 0x0fff | 0x1000).to_be_bytes());
    uuid[8] = random[0] & 0x3f | 0x80;
    uuid[9..].copy_from_slice(&random[1..8]);
    // The bit that says "not the number of a network card".
    uuid[10] |= 1;
    uuid
}

fn uuid_text(uuid: &[u8; 16]) -> String {
    base::Uuid(*uuid).to_string()
}

fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    text.parse::<base::Uuid>().ok().map(|uuid| uuid.0)
}

/// A number that grows, and differs between servers as their connection ids and clocks do.
fn uuid_short(args: &Args<'_>) -> Result<Value, SqlError> {
    let micros = args.ctx.host.clock_now().0;
    Ok(Value::UInt((args.ctx.session.connection_id as u64 & 0xff) << 56 | micros & ((1 << 56) - 1)))
}

fn uuid_to_bin(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.text(0)?);
    let swap = some!(args.int_or(1, 0)?) != 0;
    let Some(uuid) = parse_uuid(&text) else {
        return Err(wrong_value(&text, "uuid_to_bin"));
    };
    Ok(Value::Bytes(bytes::Bytes::copy_from_slice(&if swap { swapped(uuid) } else { uuid })))
}

fn bin_to_uuid(args: &Args<'_>) -> Result<Value, SqlError> {
    let bytes = some!(args.text(0)?);
    let swap = some!(args.int_or(1, 0)?) != 0;
    let Ok(uuid) = <[u8; 16]>::try_from(&bytes[..]) else {
        return Err(wrong_value(&bytes, "bin_to_uuid"));
    };
    Ok(Value::str(uuid_text(&if swap { unswapped(uuid) } else { uuid })))
}

/// Time high and low exchanged, so that they sort by time.
fn swapped(uuid: [u8; 16]) -> [u8; 16] {
    let mut out = uuid;
    out[..2].copy_from_slice(&uuid[6..8]);
    out[2..4].copy_from_slice(&uuid[4..6]);
    out[4..8].copy_from_slice(&uuid[..4]);
    out
}

fn unswapped(uuid: [u8; 16]) -> [u8; 16] {
    let mut out = uuid;
    out[..4].copy_from_slice(&uuid[4..8]);
    out[4..6].copy_from_slice(&uuid[2..4]);
    out[6..8].copy_from_slice(&uuid[..2]);
    out
}

/// 1411
fn wrong_value(value: &[u8], function: &str) -> SqlError {
    let shown = crate::expr::coerce::printable(value);
    SqlError::new(codes::WRONG_VALUE_FOR_TYPE, format!("Incorrect string value: '{shown}' for function {function}"))
}

fn random_bytes(args: &Args<'_>) -> Result<Value, SqlError> {
    let length = some!(args.int(0)?);
    if !(1..=1024).contains(&length) {
        let message = "length value is out of range in 'random_bytes'";
        return Err(SqlError::new(codes::DATA_OUT_OF_RANGE, message));
    }
    let mut bytes = vec![0; length as usize];
    args.ctx.host.fill_random(&mut bytes);
    Ok(Value::Bytes(bytes.into()))
}

/// As long as MySQL says of its own.
const GRAPH_LENGTH: u32 = 16_777_215;

fn current_role(args: &Args<'_>) -> Result<Value, SqlError> {
    let roles: Vec<String> = args.ctx.session.active_roles.iter().map(|role| role.quoted()).collect();
    Ok(if roles.is_empty() { Value::str_static("NONE") } else { Value::str(roles.join(",")) })
}
