//! temp
use base::CommitNumber;
use binlog::EventType;
use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap};
use bytes::Bytes;
use engine::{DdlText, Engine, PublishPoint, RowChange};
use std::collections::BTreeMap;
use std::sync::Arc;
pub(crate) async fn recover(engine: &Arc<Engine>) -> Result<(), String> {
    let (number, position) = engine.checkpoint_at_open();
    let mut n = number.0;
    let position =
        if position.file == 0 { base::LogPosition::new(engine.log().files()[0].number, 4) } else { position };
    let mut reader = engine.log().reader(position);
    while let Some(t) = reader.next_transaction().await.map_err(|e| e.to_string())? {
        n += 1;
        let mut maps: BTreeMap<u64, TableMap> = BTreeMap::new();
        let mut changes = Vec::new();
        for event in t.events() {
            let event = event.map_err(|e| e.to_string())?;
            let ty = event.header.event_type;
            if ty == EventType::TABLE_MAP {
                let m = TableMap::decode(event.body()).map_err(|e| e.to_string())?;
                maps.insert(m.table_id, m);
            } else if RowsKind::of(ty).is_some() {
                let rows = RowsEvent::decode(ty, event.body()).map_err(|e| e.to_string())?;
                let map = &maps[&rows.table_id];
                let table = engine.catalog().table(&map.schema, &map.table).cloned().ok_or("no table")?;
                for i in rows.images(map) {
                    let (b, a) = i.map_err(|e| e.to_string())?;
                    let f = |x: &[u8]| (!x.is_empty()).then(|| Bytes::copy_from_slice(x));
                    changes.push(RowChange { table: table.clone(), before: f(b), after: f(a) });
                }
            } else if ty == EventType::QUERY {
                let q = QueryEvent::decode(event.body()).map_err(|e| e.to_string())?;
                if !q.begins_transaction() {
                    let mut text = DdlText { sql: String::from_utf8_lossy(q.sql).into_owned(), ..DdlText::default() };
                    text.context.schema = crate::tables::SCHEMA.to_owned();
                    engine.install_ddl(CommitNumber(n), &text).await.map_err(|e| e.to_string())?;
                }
            }
        }
        engine.install(CommitNumber(n), &changes).await.map_err(|e| e.to_string())?;
        engine.publish(&[PublishPoint { commit_number: CommitNumber(n), end: t.end, gtid: t.gtid() }]);
    }
    Ok(())
}
