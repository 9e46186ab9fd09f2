//! Writes a log to the real disk for other programs to read, if asked; and measures placing.

use std::time::Instant;

use super::*;

/// `COMMUTER_SAMPLE_DIR=dir cargo test -p binlog write_sample_files` leaves the sample files there.
#[test]
fn write_sample_files() {
    if let Some(dir) = std::env::var_os("COMMUTER_SAMPLE_DIR") {
        for (name, bytes) in sample_files() {
            std::fs::write(std::path::Path::new(&dir).join(name), bytes).unwrap();
        }
    }
}

/// `cargo test --release -p binlog -- --ignored --nocapture placing_is_cheap`
#[test]
#[ignore = "a measurement"]
fn placing_is_cheap() {
    let machine = SimMachine::new(1);
    let run = async {
        let options = LogOptions { fill_ahead: 256 << 20, ..options() };
        let opened = BinaryLog::open(machine.env(), options, OpenAs::Source, LogPosition::default()).await?;
        let mut writer = opened.writer;
        let log = writer.log().clone();
        let transaction = EncodedTransaction { events: small_update(), ..Default::default() };
        const COUNT: u64 = 50_000;
        for round in 0..5 {
            let mut reservations = Vec::new();
            for _ in 0..COUNT {
                reservations.push(log.reserve(transaction.max_size()).await?);
            }
            let mut placing = std::time::Duration::ZERO;
            let mut numbers = (1 + round * COUNT..).zip(reservations);
            loop {
                let group: Vec<_> = numbers.by_ref().take(64).collect();
                if group.is_empty() {
                    break;
                }
                let start = Instant::now();
                for (number, reservation) in group {
                    let stamp = PlaceStamp {
                        commit_number: CommitNumber(number),
                        last_committed: CommitNumber(number - 1),
                        commit_time: UnixMicros(number),
                    };
                    writer.place(&transaction, &stamp, reservation);
                }
                placing += start.elapsed();
                while let Some(group) = writer.take_group() {
                    writer.recycle(group);
                }
            }
            println!("{} bytes: {:?} each", transaction.events.len(), placing / COUNT as u32);
        }
        Ok::<_, BinlogError>(())
    };
    machine.run(run).unwrap().unwrap();
}

/// The events of a single-row update of about 600 bytes.
fn small_update() -> Vec<u8> {
    let mut definition = table();
    definition.columns.truncate(16);
    let values = |name: &str| {
        let mut values = vec![Value::Null; 16];
        (values[0], values[8]) = (Value::UInt(1), Value::str(name));
        values[14] = Value::str("t".repeat(150));
        RowLayout::new(&definition).encode(&values).unwrap()
    };
    let table = Arc::new(TableEncoder::new(&definition));
    let mut encoder = TransactionEncoder::begin(EncoderOptions::default(), context());
    encoder.update(&table, &values("a"), &values("b")).unwrap();
    encoder.finish().unwrap().events
}
