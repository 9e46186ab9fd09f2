//! Real loads without an error of ours: every oltp script of sysbench, TPC-C with its consistency conditions.

use interop::{Server, ServerOptions, Sysbench, python, workspace_root};

#[test]
fn sysbench_scripts_from_1_to_256_threads() {
    let server = Server::start("load-sysbench", ServerOptions::default()).unwrap();
    server.client().query("CREATE DATABASE sbtest").unwrap();
    let sysbench = |script: &str, threads| Sysbench {
        script: script.to_owned(),
        port: server.port(),
        threads,
        seconds: 1,
        tables: 2,
        table_size: 10_000,
        more: Vec::new(),
    };
    let scripts = [
        "oltp_read_write",
        "oltp_read_only",
        "oltp_write_only",
        "oltp_point_select",
        "oltp_update_index",
        "oltp_update_non_index",
        "oltp_insert",
        "oltp_delete",
    ];
    for script in scripts {
        sysbench(script, 4).prepare().unwrap();
        for threads in [1, 16, 256] {
            let report = sysbench(script, threads).run().unwrap_or_else(|error| panic!("{script}, {threads}: {error}"));
            assert!(report.transactions > 0.0, "{script}, {threads} threads: {report:?}");
        }
        let text_protocol = Sysbench { more: vec!["--db-ps-mode=disable".to_owned()], ..sysbench(script, 8) };
        text_protocol.run().unwrap_or_else(|error| panic!("{script} as text: {error}"));
        sysbench(script, 1).cleanup().unwrap();
    }
}

#[test]
fn tpcc_keeps_its_consistency_conditions() {
    let mut server = Server::start("load-tpcc", ServerOptions::default()).unwrap();
    let script = std::fs::read_to_string(workspace_root().join("interop/python/tpcc.py")).unwrap();
    let port = server.port().to_string();
    let tpcc = |action: &str| python(&script, &[&port, action, "2", "8", "8"]);
    tpcc("load").unwrap();
    tpcc("check").unwrap();
    println!("{}", tpcc("run").unwrap());
    tpcc("check").unwrap();
    server.kill();
    server.restart().unwrap();
    tpcc("check").unwrap();
}
