//! `commuter settings`: the table of settings, as a page for people or as JSON for programs.

use std::process::ExitCode;

use serde_json::json;
use sql::settings::{self, Scope};

use crate::cli::{CommandResult, OutputFormat};
use crate::print;

pub(crate) fn run(format: OutputFormat) -> CommandResult {
    if format == OutputFormat::Text {
        print::text(settings::manual())?;
        return Ok(ExitCode::SUCCESS);
    }
    for setting in settings::all() {
        let scope = match setting.scope {
            Scope::Global => "global",
            Scope::Both => "both",
            Scope::Session => "session",
        };
        print::line(json!({
            "name": setting.name,
            "aliases": setting.aliases,
            "values": settings::values_of(setting),
            "default": setting.default,
            "scope": scope,
            "dynamic": setting.dynamic,
            "effective": setting.effective,
            "doc": setting.doc,
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}
