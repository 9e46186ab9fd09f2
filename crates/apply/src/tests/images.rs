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
