//! The server's own log: lines on standard error.

use tracing_subscriber::EnvFilter;

/// Names the levels to log, by part of the program, as in `info,engine=debug`.
const FILTER_VARIABLE: &str = "COMMUTER_LOG";

/// Begins to log; a second call does nothing.
pub fn start_logging() {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::INFO.into())
        .with_env_var(FILTER_VARIABLE)
        .from_env_lossy();
    let colors = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colors);
    let _ = subscriber.with_target(false).try_init();
}
