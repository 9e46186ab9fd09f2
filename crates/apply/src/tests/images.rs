//! Minimal row images.

use engine::RowImage;

use super::*;

#[test]
fn minimal_images_are_completed_from_what_is_there() {
    let machine = machine(5);
    machine
        .run(async {
            // No checkpoint comes in between.
            let (engine, _) =
                open(machine.env(), EngineOptions { memtable_bytes: 1 << 20, ..options() }).await.unwrap();
            engine.start_commits(CommitSettings::default()).unwrap();
            make_tables(&engine).await.unwrap();
            for id in 1..=50 {
                let row_image = if id % 3 == 0 { RowImage::Full } else { RowImage::Minimal };
                let minimal = TxnOptions { row_image, ..TxnOptions::new(SessionHandle::internal()) };
                count_up_in(engine.begin(minimal), &engine, id, "kept").await.unwrap();
            }
            // Twice the same row in one transaction, and a row that goes.
            let marks = table(&engine, "marks");
            let minimal = TxnOptions { row_image: RowImage::Minimal, ..TxnOptions::new(SessionHandle::internal()) };
            let mut txn = engine.begin(minimal);
            let extra = row(&marks, 1000, 1000, "first");
            txn.insert(&marks, extra.clone()).await.unwrap();
            let changed = row(&marks, 1000, 1001, "first");
            txn.start_statement();
            txn.update(&marks, &extra, changed.clone()).await.unwrap();
            txn.start_statement();
            txn.delete(&marks, &changed).await.unwrap();
            txn.commit().await.unwrap();
        })
        .unwrap();
    machine.kill();
    machine
        .run(async {
            let (engine, recovered) = open(machine.env(), options()).await.unwrap();
            assert!(recovered.transactions >= 51, "{recovered:?}");
            assert_eq!(check(&engine).await, 50);
            let marks = table(&engine, "marks");
            let mut txn = begin(&engine);
            let row_7 = txn.get(&marks, &key(&marks, 7), ReadMode::Consistent).await.unwrap();
            assert_eq!(row_7, Some(row(&marks, 7, 7, "kept")));
        })
        .unwrap();
}

/// `d.behind (n BIGINT NOT NULL, id BIGINT PRIMARY KEY, note …)`: where the key is depends on a column that minimal images lack.
fn key_behind_another() -> String {
    let text = table_sql("behind");
    let mut def: types::TableDef = serde_json::from_str(text.strip_prefix("table ").unwrap()).unwrap();
    def.columns.swap(0, 1);
    def.columns[0].nullable = false;
    def.indexes[0].parts[0].column = 1;
    def.indexes[1].parts[0].column = 0;
    format!("table {}", serde_json::to_string(&def).unwrap())
}

#[test]
fn minimal_images_of_a_key_behind_other_columns() {
    let machine = machine(6);
    let behind_row = |table: &Table, n: i64, id: i64| {
        let values = [Value::Int(n), Value::Int(id), Value::Str(Bytes::from_static(b"note"))];
        types::RowLayout::new(&table.def).encode(&values).unwrap()
    };
    machine
        .run(async {
            let (engine, _) = open_source(machine.env()).await.unwrap();
            make_tables(&engine).await.unwrap();
            ddl(&engine, &key_behind_another()).await.unwrap();
            let behind = table(&engine, "behind");
            let minimal = TxnOptions { row_image: RowImage::Minimal, ..TxnOptions::new(SessionHandle::internal()) };
            let mut txn = engine.begin(minimal.clone());
            for id in [1, 2] {
                txn.insert(&behind, behind_row(&behind, 10 * id, id)).await.unwrap();
            }
            txn.commit().await.unwrap();
            let mut txn = engine.begin(minimal);
            txn.update(&behind, &behind_row(&behind, 10, 1), behind_row(&behind, 11, 1)).await.unwrap();
            txn.delete(&behind, &behind_row(&behind, 20, 2)).await.unwrap();
            txn.commit().await.unwrap();
        })
        .unwrap();
    machine.kill();
    machine
        .run(async {
            let (engine, _) = open(machine.env(), options()).await.unwrap();
            let behind = table(&engine, "behind");
            let rows = entries(&mut begin(&engine), &behind, 0).await;
            let rows: Vec<Bytes> = rows.into_iter().map(|(_, row)| row).collect();
            assert_eq!(rows, [behind_row(&behind, 11, 1)]);
        })
        .unwrap();
}
