//! Whatever a body says, written and read it says it again.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::event::*;

/// All bytes, again and again; bodies borrow from it.
static BYTES: [u8; 1024] = {
    let mut bytes = [0; 1024];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = (i * 7 % 256) as u8;
        i += 1;
    }
    bytes
};

fn slice(max: usize) -> impl Strategy<Value = &'static [u8]> {
    (0..BYTES.len() - max, 0..=max).prop_map(|(at, len)| &BYTES[at..at + len])
}

/// Without NULs.
fn name(max: usize) -> impl Strategy<Value = &'static [u8]> {
    slice(max).prop_map(|bytes| bytes.split(|&b| b == 0).max_by_key(|part| part.len()).unwrap_or_default())
}

fn file() -> impl Strategy<Value = String> {
    "[a-z.0-9]{1,20}"
}

fn query() -> impl Strategy<Value = QueryEvent<'static>> {
    (any::<(u32, u32, u16)>(), slice(200), slice(200), slice(300)).prop_map(|(numbers, status, schema, sql)| {
        let (thread_id, exec_time, error_code) = numbers;
        QueryEvent { thread_id, exec_time, error_code, status, schema, sql }
    })
}

fn rows(kind: RowsKind, version: RowsVersion) -> impl Strategy<Value = RowsEvent<'static>> {
    let ids = (0u64..1 << 48, any::<u16>(), 0usize..90);
    (ids, slice(40), slice(16), slice(16), slice(200)).prop_map(move |(ids, extra, present, after, rows)| {
        let (table_id, flags, column_count) = ids;
        let column_count = column_count.min(present.len() * 8).min(after.len() * 8);
        let size = column_count.div_ceil(8);
        let present = &present[..size];
        let present_after = if kind == RowsKind::Update { &after[..size] } else { present };
        let extra = if version == RowsVersion::V2 { extra } else { &[] };
        RowsEvent { kind, version, table_id, flags, extra, column_count, present, present_after, rows }
    })
}

fn any_rows() -> impl Strategy<Value = RowsEvent<'static>> {
    let kinds = prop::sample::select(vec![RowsKind::Write, RowsKind::Update, RowsKind::Delete]);
    let versions = prop::sample::select(vec![RowsVersion::V1, RowsVersion::V2]);
    (kinds, versions).prop_flat_map(|(kind, version)| rows(kind, version))
}

fn old_load() -> impl Strategy<Value = OldLoad<'static>> {
    let types = prop::sample::select(vec![EventType::LOAD, EventType::NEW_LOAD, EventType::CREATE_FILE]);
    let names = (vec(name(20), 0..4), name(60), name(60), name(60));
    (
        types,
        any::<(u32, u32, u32, u8)>(),
        [slice(5), slice(5), slice(5), slice(5), slice(5)],
        names,
        any::<u32>(),
        slice(90),
    )
        .prop_map(|(event_type, numbers, mut separators, names, file_id, block)| {
            if event_type == EventType::LOAD {
                separators.iter_mut().for_each(|separator| *separator = &separator[..separator.len().min(1)]);
            }
            let (thread_id, exec_time, skipped_lines, options) = numbers;
            let (fields, table, schema, file) = names;
            let block = (event_type == EventType::CREATE_FILE).then_some((file_id, block));
            OldLoad {
                event_type,
                thread_id,
                exec_time,
                skipped_lines,
                separators,
                options,
                fields,
                table,
                schema,
                file,
                block,
            }
        })
}

fn user_var() -> impl Strategy<Value = UserVar<'static>> {
    let data = prop_oneof![
        slice(100).prop_map(UserData::String),
        any::<f64>().prop_map(UserData::Real),
        any::<i64>().prop_map(UserData::Int),
        slice(100).prop_map(UserData::Row),
        (any::<(u8, u8)>(), slice(30)).prop_map(|((precision, scale), bytes)| UserData::Decimal {
            precision,
            scale,
            bytes
        }),
    ];
    let value = (data, any::<u32>(), option::of(any::<u8>()), slice(9)).prop_map(|(data, collation, flags, more)| {
        // Without flags there is nothing behind them.
        UserValue { data, collation, flags, more: if flags.is_some() { more } else { &[] } }
    });
    (slice(64), option::of(value)).prop_map(|(name, value)| UserVar { name, value })
}

fn metadata() -> impl Strategy<Value = MetadataField<'static>> {
    let charset = || {
        (any::<u32>(), vec(any::<(u64, u32)>(), 0..4)).prop_map(|(default, others)| DefaultCharset { default, others })
    };
    let members = || vec(vec(slice(20), 0..4), 0..4);
    prop_oneof![
        slice(20).prop_map(MetadataField::Signedness),
        charset().prop_map(MetadataField::DefaultCharset),
        vec(any::<u32>(), 0..9).prop_map(MetadataField::ColumnCharset),
        vec(slice(64), 0..9).prop_map(MetadataField::ColumnNames),
        members().prop_map(MetadataField::SetMembers),
        members().prop_map(MetadataField::EnumMembers),
        vec(any::<u64>(), 0..9).prop_map(MetadataField::GeometryTypes),
        vec(any::<u64>(), 0..9).prop_map(MetadataField::PrimaryKey),
        vec(any::<(u64, u64)>(), 0..9).prop_map(MetadataField::PrimaryKeyWithPrefix),
        charset().prop_map(MetadataField::EnumAndSetDefaultCharset),
        vec(any::<u32>(), 0..9).prop_map(MetadataField::EnumAndSetColumnCharset),
        slice(20).prop_map(MetadataField::Visibility),
        vec(any::<u64>(), 0..9).prop_map(MetadataField::VectorDimensions),
        (14u8.., slice(20)).prop_map(|(kind, data)| MetadataField::Unknown { kind, data }),
    ]
}

fn table_map() -> impl Strategy<Value = TableMapEvent<'static>> {
    let names = (slice(64), slice(255));
    let columns = (slice(300), slice(300), slice(40));
    (0u64..1 << 48, any::<u16>(), names, columns, vec(metadata(), 0..6)).prop_map(
        |(table_id, flags, (schema, table), (types, metadata, nullable), optional)| {
            let types = &types[..types.len().min(nullable.len() * 8)];
            let nullable = &nullable[..types.len().div_ceil(8)];
            TableMapEvent { table_id, flags, schema, table, types, metadata, nullable, optional }
        },
    )
}

fn gtid() -> impl Strategy<Value = GtidEvent> {
    let identity = option::of((any::<[u8; 16]>(), 1u64..=crate::GNO_MAX, "[a-z_]{0,32}"));
    let micros = || 0u64..1 << 55;
    let times = (micros(), option::of(micros()));
    let versions = (0u32..1 << 31, option::of(0u32..1 << 31));
    let others = (option::of(any::<u64>()), option::of(proptest::array::uniform16(1u8..)));
    (identity, any::<(bool, i64, i64, u64)>(), times, versions, others).prop_map(
        |(identity, numbers, (time, original_time), (version, original_version), (commit_group_ticket, local_to))| {
            let gtid = identity.map(|(uuid, gno, tag)| base::Gtid { uuid: Uuid(uuid), tag: tag.parse().unwrap(), gno });
            let (may_have_statements, last_committed, sequence_number, transaction_length) = numbers;
            GtidEvent {
                gtid,
                local_to: local_to.map(Uuid).filter(|_| gtid.is_none()),
                may_have_statements,
                last_committed,
                sequence_number,
                immediate_commit_time: UnixMicros(time),
                original_commit_time: UnixMicros(original_time.unwrap_or(time)),
                transaction_length,
                immediate_server_version: version,
                original_server_version: original_version.unwrap_or(version),
                commit_group_ticket,
            }
        },
    )
}

fn gtid_set() -> impl Strategy<Value = GtidSet> {
    let source = (any::<[u8; 16]>(), "(:[a-z]{1,8})?", 1u64..1000, 0u64..1000);
    vec(source, 0..6).prop_map(|sources| {
        let part = |(uuid, tag, first, more): &([u8; 16], String, u64, u64)| {
            format!("{}{tag}:{first}-{}", Uuid(*uuid), first + more)
        };
        sources.iter().map(part).collect::<Vec<_>>().join(",").parse().unwrap()
    })
}

fn xid() -> impl Strategy<Value = Xid> {
    (any::<u32>(), slice(64), slice(64)).prop_map(|(format_id, gtrid, bqual)| Xid {
        format_id,
        gtrid: gtrid.to_vec(),
        bqual: bqual.to_vec(),
    })
}

fn maria_gtid() -> impl Strategy<Value = MariaGtid> {
    let alter = prop_oneof![
        Just(AlterPhase::Start),
        any::<u64>().prop_map(AlterPhase::Commit),
        any::<u64>().prop_map(AlterPhase::Rollback),
    ];
    let extra = (option::of(any::<u8>()), option::of(alter), option::of(any::<u32>()))
        .prop_map(|(engines, alter, thread_id)| MariaGtidExtra { engines, alter, thread_id });
    (any::<(u64, u32, u8, bool)>(), option::of(any::<u64>()), option::of(xid()), extra).prop_map(
        |((seq_no, domain_id, flags, prepared), commit_id, xid, extra)| {
            // The bits that say what follows are those of what follows.
            let xa = xid.as_ref().map_or(0, |_| if prepared { 64 } else { 128 });
            let flags = flags & !(2 | 64 | 128) | commit_id.map_or(0, |_| 2) | xa;
            MariaGtid { seq_no, domain_id, flags, commit_id, xid, extra }
        },
    )
}

/// A compressed block; the few bytes are never freed.
fn block() -> impl Strategy<Value = CompressedBlock<'static>> {
    slice(900).prop_map(|plain| {
        let mut bytes = Vec::new();
        CompressedBlock::compress(plain, &mut bytes).unwrap();
        let block = CompressedBlock::decode(bytes.leak()).unwrap();
        assert_eq!(block.inflate(900).as_deref(), Ok(plain));
        block
    })
}

fn payload() -> impl Strategy<Value = TransactionPayload<'static>> {
    let compression = prop_oneof![Just(PayloadCompression::Zstd), Just(PayloadCompression::None)];
    (compression, option::of(any::<u64>()), slice(300)).prop_map(|(compression, uncompressed_size, payload)| {
        TransactionPayload { compression, uncompressed_size, payload }
    })
}

fn statements() -> impl Strategy<Value = EventBody<'static>> {
    prop_oneof![
        query().prop_map(EventBody::Query),
        Just(EventBody::Stop),
        (any::<u64>(), file()).prop_map(|(position, file)| EventBody::Rotate(Rotate { position, file })),
        any::<(u8, u64)>().prop_map(|(kind, value)| EventBody::IntVar(IntVar { kind, value })),
        any::<[u64; 2]>().prop_map(|seeds| EventBody::Rand(RandSeeds { seeds })),
        user_var().prop_map(EventBody::UserVar),
        (any::<u32>(), slice(300)).prop_map(|(id, block)| EventBody::AppendBlock(FileBlock { file_id: id, block })),
        (any::<u32>(), slice(300)).prop_map(|(id, block)| EventBody::BeginLoadQuery(FileBlock { file_id: id, block })),
        any::<u32>().prop_map(EventBody::DeleteFile),
        (query(), any::<(u32, u32, u32, u8)>()).prop_map(|(query, (file_id, name_start, name_end, duplicates))| {
            EventBody::ExecuteLoadQuery(ExecuteLoadQuery { query, file_id, name_start, name_end, duplicates })
        }),
        (any::<u16>(), slice(255)).prop_map(|(incident, message)| EventBody::Incident(Incident { incident, message })),
        any::<u64>().prop_map(EventBody::Xid),
        (any::<bool>(), xid()).prop_map(|(one_phase, xid)| EventBody::XaPrepare(XaPrepare { one_phase, xid })),
        (file(), any::<u64>())
            .prop_map(|(file, position)| { EventBody::Heartbeat(Heartbeat { file, position }, HeartbeatForm::Fields) }),
    ]
}

fn obsolete() -> impl Strategy<Value = EventBody<'static>> {
    prop_oneof![
        (any::<u16>(), "[0-9.a-z]{0,50}", any::<u32>()).prop_map(|(binlog_version, server_version, created)| {
            EventBody::StartV3(StartV3 { binlog_version, server_version, created })
        }),
        old_load().prop_map(EventBody::OldLoad),
        (any::<(u64, u16)>(), name(60), name(60)).prop_map(|((position, port), host, log)| {
            EventBody::SlavePosition(SlavePosition { position, port, host, log })
        }),
        any::<u32>().prop_map(EventBody::ExecLoad),
    ]
}

fn mysql() -> impl Strategy<Value = EventBody<'static>> {
    let hashes = || vec(slice(30), 0..5);
    prop_oneof![
        table_map().prop_map(EventBody::TableMap),
        any_rows().prop_map(EventBody::Rows),
        rows(RowsKind::Update, RowsVersion::V2)
            .prop_map(|update| EventBody::PartialUpdateRows(PartialUpdateRows { update })),
        slice(100).prop_map(EventBody::Ignorable),
        (any::<u8>(), slice(300))
            .prop_map(|(stored_length, sql)| EventBody::RowsQuery(RowsQuery { stored_length, sql })),
        gtid().prop_map(EventBody::Gtid),
        gtid_set().prop_map(EventBody::PreviousGtids),
        (slice(36), any::<(u32, bool)>(), slice(80), hashes(), hashes()).prop_map(
            |(server_uuid, (thread_id, gtid_specified), snapshot, write_set, read_set)| {
                EventBody::TransactionContext(TransactionContext {
                    server_uuid,
                    thread_id,
                    gtid_specified,
                    snapshot,
                    write_set,
                    read_set,
                })
            }
        ),
        (name(40), any::<u64>(), vec((slice(30), slice(80)), 0..5)).prop_map(
            |(view_id, sequence_number, certification_info)| {
                EventBody::ViewChange(ViewChange { view_id, sequence_number, certification_info })
            }
        ),
        payload().prop_map(EventBody::TransactionPayload),
        (any::<(u64, u8)>(), 0usize..50).prop_map(|((end_offset, end_type), padding)| {
            let end_type = EventType(end_type);
            EventBody::LargeTransactionHeader(LargeTransactionHeader { end_offset, end_type, padding })
        }),
        (44u8..159, slice(50)).prop_map(|(event_type, bytes)| EventBody::Unknown(EventType(event_type), bytes)),
    ]
}

fn maria() -> impl Strategy<Value = EventBody<'static>> {
    prop_oneof![
        slice(300).prop_map(EventBody::MariaAnnotateRows),
        file().prop_map(EventBody::MariaBinlogCheckpoint),
        maria_gtid().prop_map(EventBody::MariaGtid),
        (0u8..16, vec(any::<(u32, u32, u64)>(), 0..5))
            .prop_map(|(flags, gtids)| EventBody::MariaGtidList(MariaGtidList { flags, gtids })),
        any::<(u8, u32, [u8; 12])>().prop_map(|(scheme, key_version, nonce)| {
            EventBody::MariaStartEncryption(StartEncryption { scheme, key_version, nonce })
        }),
        (query(), block()).prop_map(|(head, block)| {
            EventBody::MariaCompressedQuery(CompressedQuery { head: QueryEvent { sql: &[], ..head }, block })
        }),
        (any_rows(), block()).prop_map(|(head, block)| {
            EventBody::MariaCompressedRows(CompressedRows { head: RowsEvent { rows: &[], ..head }, block })
        }),
        (any::<(u32, u32)>(), option::of(any::<u64>()), slice(200)).prop_map(|((total, number), whole_size, piece)| {
            EventBody::MariaPartialRowData(PartialRowData { total, number, whole_size, piece })
        }),
    ]
}

fn status_var() -> impl Strategy<Value = StatusVar<'static>> {
    prop_oneof![
        any::<u32>().prop_map(StatusVar::Flags2),
        any::<u64>().prop_map(StatusVar::SqlMode),
        slice(255).prop_map(StatusVar::CatalogNul),
        any::<(u16, u16)>().prop_map(|(increment, offset)| StatusVar::AutoIncrement(increment, offset)),
        any::<[u16; 3]>().prop_map(StatusVar::Charsets),
        slice(255).prop_map(StatusVar::TimeZone),
        slice(255).prop_map(StatusVar::Catalog),
        any::<u16>().prop_map(StatusVar::LcTimeNames),
        any::<u16>().prop_map(StatusVar::CharsetDatabase),
        any::<u64>().prop_map(StatusVar::TableMapForUpdate),
        any::<u32>().prop_map(StatusVar::SourceDataWritten),
        (slice(96), slice(255)).prop_map(|(user, host)| StatusVar::Invoker { user, host }),
        option::of(vec(name(64), 0..9)).prop_map(StatusVar::UpdatedSchemas),
        (0u32..1 << 24).prop_map(StatusVar::Microseconds),
        any::<u64>().prop_map(StatusVar::CommitTimestamp),
        any::<u64>().prop_map(StatusVar::CommitTimestamp2),
        any::<bool>().prop_map(StatusVar::ExplicitDefaultsForTimestamp),
        any::<u64>().prop_map(StatusVar::DdlXid),
        any::<u16>().prop_map(StatusVar::DefaultCollationForUtf8mb4),
        any::<u8>().prop_map(StatusVar::RequirePrimaryKey),
        any::<u8>().prop_map(StatusVar::DefaultTableEncryption),
        any::<u8>().prop_map(StatusVar::EnableCascadeTriggers),
        (0u32..1 << 24).prop_map(StatusVar::MariaMicroseconds),
        any::<u64>().prop_map(StatusVar::MariaXid),
        any::<(u8, u64)>().prop_map(|(flags, seq_no)| StatusVar::MariaAlter {
            flags,
            start_seq_no: (flags & 0x0c != 0).then_some(seq_no)
        }),
        vec(any::<(u16, u16)>(), 0..9).prop_map(StatusVar::CharacterSetCollations),
    ]
}

fn json_diff() -> impl Strategy<Value = JsonDiff<'static>> {
    prop_oneof![
        (slice(50), slice(300)).prop_map(|(path, value)| JsonDiff::Replace { path, value }),
        (slice(50), slice(300)).prop_map(|(path, value)| JsonDiff::Insert { path, value }),
        slice(300).prop_map(|path| JsonDiff::Remove { path }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn bodies(body in prop_oneof![statements(), obsolete(), mysql(), maria()], offset in any::<u32>()) {
        let frame = event::Frame { timestamp: 1, server_id: 2, flags: 0 };
        let bytes = body.to_event(frame, offset.into());
        let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        event.verify().unwrap();
        let is_maria = event.header.event_type >= EventType::MARIA_ANNOTATE_ROWS;
        let format = FormatDescription::new(if is_maria { "11.8.9-MariaDB" } else { "9.7.4" }, 0);
        prop_assert_eq!(EventBody::decode(&event, &format), Ok(body));
    }

    #[test]
    fn format_descriptions(
        server_version in "9[.][0-9a-zA-Z.-]{0,48}",
        created in any::<u32>(),
        post_header_lengths in vec(any::<u8>(), 0..200),
        is_on in any::<bool>(),
    ) {
        let checksum = if is_on { ChecksumAlgorithm::Crc32 } else { ChecksumAlgorithm::Off };
        let body = FormatDescription { server_version, created, post_header_lengths, checksum };
        let bytes = EventBody::FormatDescription(body.clone()).to_event(event::Frame { timestamp: 1, server_id: 2, flags: 0 }, 4);
        let event = RawEvent::first_of(&bytes, checksum).unwrap();
        prop_assert_eq!(FormatDescription::decode(&event), Ok(body));
    }

    #[test]
    fn status_variables(vars in vec(status_var(), 0..6)) {
        let mut bytes = Vec::new();
        vars.iter().for_each(|var| var.encode(&mut bytes));
        prop_assert_eq!(StatusVar::decode_all(&bytes), vars);
    }

    /// In every form, wherever the position is.
    #[test]
    fn heartbeats(file in file(), low in any::<u32>(), high in any::<u16>(), with_checksum in any::<bool>()) {
        let checksum = if with_checksum { ChecksumAlgorithm::Crc32 } else { ChecksumAlgorithm::Off };
        for position in [low.into(), u64::from(high) << 32 | u64::from(low)] {
            let at = Heartbeat { file: file.clone(), position };
            let maria = encode_maria_heartbeat(&at, 1, with_checksum);
            let version_2 = encode_heartbeat(&at, 1, true, with_checksum);
            for bytes in [maria, version_2] {
                let event = RawEvent::first_of(&bytes, checksum).unwrap();
                event.verify().unwrap();
                prop_assert_eq!(Heartbeat::decode(&event), Ok(at.clone()));
            }
        }
    }

    #[test]
    fn extra_row_info(id in any::<u16>(), source in any::<u16>(), format in any::<u8>(), data in slice(253)) {
        for (kind, source) in [(RowsKind::Write, None), (RowsKind::Update, Some(source))] {
            let parts = [ExtraRowInfo::Ndb { format, data }, ExtraRowInfo::Partition { id, source }];
            let mut bytes = Vec::new();
            parts.iter().for_each(|part| part.encode(&mut bytes));
            prop_assert_eq!(ExtraRowInfo::decode_all(kind, &bytes), Ok(parts.to_vec()));
        }
    }

    #[test]
    fn json_diffs(diffs in vec(json_diff(), 0..6)) {
        let mut bytes = Vec::new();
        diffs.iter().for_each(|diff| diff.encode(&mut bytes));
        prop_assert_eq!(JsonDiff::decode_all(&bytes), Ok(diffs));
    }
}
