//! Processes, ports and folders.

use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::Result;

/// The folder of the workspace's `Cargo.toml`.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Ports below those that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere): a server may take seconds until it binds the
/// one that was chosen for it, and no connection is to have it then.
const SERVER_PORTS: Range<u16> = 10_240..32_768;

/// A TCP port on loopback on which no process listens now, and that this process has not given out before.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(SERVER_PORTS.end - SERVER_PORTS.start);
    // Processes side by side begin at places of their own.
    let first = std::process::id().wrapping_mul(997);
    let mut ports = (0..count).map(|_| {
        let place = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % count;
        SERVER_PORTS.start + place as u16
    });
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("loopback has free ports")
}

/// Resident memory of a process, in KiB.
pub fn resident_kib(pid: u32) -> Result<u64> {
    status_number(pid, "VmRSS:")
}

/// The same at its highest.
pub fn peak_kib(pid: u32) -> Result<u64> {
    status_number(pid, "VmHWM:")
}

/// What was the highest does not count any more.
pub fn forget_peak(pid: u32) -> Result<()> {
    let path = format!("/proc/{pid}/clear_refs");
    std::fs::write(&path, "5").map_err(|error| format!("{path}: {error}"))
}

/// Threads of a process.
pub fn thread_count(pid: u32) -> Result<u64> {
    status_number(pid, "Threads:")
}

fn status_number(pid: u32, label: &str) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(label));
    let number = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("{path}: no {label}"))
}

/// Runs a command to its end; its output, or an error that shows it.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    checked(command, &output)
}

pub(crate) fn checked(command: &Command, output: &Output) -> Result<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    Err(format!(
        "{program} {}: {}\n{}{}",
        arguments.join(" "),
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    ))
}

/// Waits until something is so.
///
/// # Panics
/// When it is not after three minutes: machines that are busy with other tests are slow.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(180), "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs `work` on a thread of its own beside `what`, and gives what both gave. The flag tells `work` to end: `what` has ended, or failed.
///
/// # Panics
/// When either does.
pub fn beside<W: Send, T>(work: impl FnOnce(&AtomicBool) -> W + Send, what: impl FnOnce() -> T) -> (W, T) {
    struct Raised<'a>(&'a AtomicBool);
    impl Drop for Raised<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&is_over));
        let given = {
            let _raised = Raised(&is_over);
            what()
        };
        (worker.join().expect("what runs beside goes well"), given)
    })
}

/// Sends a signal to a process.
pub(crate) fn signal(child: &Child, signal: libc::c_int) {
    signal_pid(child.id(), signal);
}

#[expect(unsafe_code, reason = "kill has no wrapper in std")]
pub(crate) fn signal_pid(pid: u32, signal: libc::c_int) {
    // SAFETY: no memory is involved; the process is a child of ours that has not been waited for.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Waits until a process has ended; kills it after `patience`.
pub(crate) fn wait_for_end(child: &mut Child, patience: Duration) -> Result<std::process::ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("process {} did not end within {patience:?} and was killed", child.id()))
}
