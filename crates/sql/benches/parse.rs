//! How long it takes to parse what sysbench and clients send.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use sql::parse::{ParseContext, parse_one};

const STATEMENTS: &[(&str, &str)] = &[
    ("point select", "SELECT c FROM sbtest1 WHERE id=5021"),
    ("range", "SELECT DISTINCT c FROM sbtest12 WHERE id BETWEEN 5021 AND 5120 ORDER BY c"),
    ("update index", "UPDATE sbtest7 SET k=k+1 WHERE id=49893"),
    (
        "insert",
        "INSERT INTO sbtest3 (id, k, c, pad) VALUES (5018, 5042, \
         '53854831393-86465013486-02376513217-38475638293-93847564738-12938475638-29384756382-91029384756-38291029384-75638291029', \
         '83746573829-10293847563-82910293847-56382910293-84756382910')",
    ),
    ("begin", "BEGIN"),
    ("set", "SET @@session.autocommit = 1"),
];

fn parse(bench: &mut Criterion) {
    for (name, text) in STATEMENTS {
        bench.bench_function(name, |bench| {
            bench.iter(|| parse_one(black_box(text), &ParseContext::default()).expect("it parses"));
        });
    }
}

criterion_group!(benches, parse);
criterion_main!(benches);
