//! Memory of idle connections: opened by a few Python processes, so that no client runs out of files.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use interop::{Result, Server, ServerOptions, python_path, resident_kib, thread_count};

use super::works::Work;

const PER_PROCESS: u32 = 2_500;

/// Connects, runs one statement on each connection, says so, and waits for its end. One TLS context for all of them: by itself
/// PyMySQL makes one for each, which takes it longer than anything else.
const SCRIPT: &str = "
import sys, resource, ssl, pymysql
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
how = {'ssl': context} if sys.argv[3] == 'tls' else {'ssl_disabled': True}
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
connections = []
for n in range(int(sys.argv[2])):
    connection = pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='root', connect_timeout=60, **how)
    connection.query('SELECT 1')
    connections.append(connection)
print('ready', flush=True)
sys.stdin.read()
";

pub(crate) fn run(work: &Work, connections: u32, tls: bool) -> Result<()> {
    let maximum = format!("max_connections={}", connections + 100);
    let server = Server::start("bench-idle", ServerOptions::with_settings([maximum]))?;
    let before = resident_kib(server.pid())?;
    let mut clients = Vec::new();
    for _ in 0..connections.div_ceil(PER_PROCESS) {
        clients.push(start_client(server.port(), tls)?);
    }
    let after = resident_kib(server.pid())?;
    let threads = thread_count(server.pid())?;
    for client in &mut clients {
        let _ = client.kill();
        let _ = client.wait();
    }
    let each = (after - before) as f64 / f64::from(connections);
    println!(
        "{} | {} MB resident, {} MB before the first; {each:.1} KB each; {threads} threads",
        work.name,
        after / 1024,
        before / 1024
    );
    Ok(())
}

fn start_client(port: u16, tls: bool) -> Result<Child> {
    let how = if tls { "tls" } else { "plain" };
    let mut client = Command::new(python_path())
        .args(["-c", SCRIPT, &port.to_string(), &PER_PROCESS.to_string(), how])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("python: {error}"))?;
    let output = client.stdout.take().ok_or("no output of python")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
    if line.trim() == "ready" { Ok(client) } else { Err("a client could not open its connections".to_owned()) }
}
