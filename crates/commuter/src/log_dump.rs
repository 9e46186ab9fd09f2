//! `commuter log dump`: events of log files, for people or as JSON.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use binlog::dump::{DumpFormat, DumpOptions, dump_file};

use crate::cli::{self, CommandResult, LogDump};

pub(crate) fn run(arguments: &LogDump) -> CommandResult {
    let options = DumpOptions {
        format: match arguments.format {
            cli::OutputFormat::Text => DumpFormat::Text,
            cli::OutputFormat::Json => DumpFormat::Json,
        },
        verify_checksum: arguments.verify_checksum,
        start_position: arguments.start_position,
        stop_position: arguments.stop_position.unwrap_or(u64::MAX),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    // Whoever reads our output may have seen enough (`| head`): that is no error.
    let mut enough = false;
    let runtime = server::runtime(1)?;
    let dumped = runtime.block_on(async {
        let env = io::os::environment("/".into(), io::os::Offload::Threads(1), tokio::runtime::Handle::current())?;
        for path in &arguments.files {
            check_file(path)?;
            let path = std::path::absolute(path)?;
            let path = path.to_str().ok_or("the file's name is not UTF-8")?;
            let write = |text: &str| {
                let written = out.write_all(text.as_bytes());
                enough = written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
                written
            };
            dump_file(&env, path, options, write).await?;
        }
        out.flush()?;
        Ok::<(), Box<dyn std::error::Error>>(())
    });
    match dumped {
        Err(error) if !enough => Err(error),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Says what is wrong with a name before anything is printed.
fn check_file(path: &Path) -> Result<(), String> {
    let cannot = |error| format!("cannot read {}: {error}", path.display());
    let metadata = std::fs::File::open(path).and_then(|file| file.metadata()).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(format!("{} is a folder; name its log files, as in {0}/binlog.000001", path.display()));
    }
    Ok(())
}
