//! The language of MariaDB's test files, as far as it is about statements: a text becomes a list of commands with blocks.

/// One step of a file, and the line where it begins.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) action: Action,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum Action {
    /// A statement for the server.
    Statement(String),
    /// A command of the language, in small letters, and the rest of its line.
    Command(String, String),
    /// Steps that are repeated while a condition holds.
    While(String, Vec<Step>),
    /// Steps that are done if a condition holds.
    If(String, Vec<Step>),
}

/// All words that begin a command; another word begins a statement.
const COMMANDS: &str = " append_file cat_file change_user character_set chmod connect connection copy_file copy_files_wildcard dec delimiter die diff_files \
    dirty_close disable_abort_on_error disable_cursor_protocol disable_info disable_metadata disable_non_blocking_api \
    disable_parsing disable_prepare_warnings disable_ps2_protocol disable_ps_protocol disable_query_log disable_reconnect \
    disable_result_log disable_service_connection disable_session_track_info disable_view_protocol disable_warnings \
    disable_column_names disconnect echo enable_abort_on_error enable_column_names enable_cursor_protocol enable_info \
    enable_metadata enable_non_blocking_api enable_parsing enable_prepare_warnings enable_ps2_protocol enable_ps_protocol \
    enable_query_log enable_reconnect enable_result_log enable_service_connection enable_session_track_info \
    enable_view_protocol enable_warnings end_timer error eval evalp exec exec_in_background execw exit file_exists \
    horizontal_results if inc let list_files list_files_append_file list_files_write_file lowercase_result mkdir \
    move_file optimizer_trace output perl ping query query_attributes query_horizontal query_vertical real_sleep reap \
    remove_file remove_files_wildcard replace_column replace_regex replace_result require reset_connection \
    result_format rmdir save_master_pos send send_eval send_quit send_shutdown shutdown_server skip sleep \
    sorted_result partially_sorted_result source start_timer sync_slave_with_master sync_with_master system \
    vertical_results wait_for_slave_to_stop while write_file ";

/// Commands behind which text follows that is not of the language, up to a line that says its end.
const WITH_TEXT: [&str; 3] = ["append_file", "perl", "write_file"];

/// Makes steps of a file's text.
pub(crate) fn parse(text: &str) -> Vec<Step> {
    let mut parser = Parser { text, at: 0, delimiter: ";".into() };
    let steps = parser.block();
    debug_assert!(parser.at <= text.len(), "a parser stays within its text");
    steps
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    delimiter: String,
}

impl<'a> Parser<'a> {
    /// Steps up to the end of a block or of the text.
    fn block(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            self.skip_blank();
            let rest = self.rest();
            if rest.is_empty() {
                return steps;
            }
            if rest.starts_with('}') {
                self.at += 1;
                return steps;
            }
            let line = self.text[..self.at].matches('\n').count() + 1;
            if rest.starts_with('#') {
                self.line();
            } else if let Some(command) = rest.strip_prefix("--") {
                let command = command.split('\n').next().unwrap_or_default().trim().to_owned();
                let (word, _) = first_word(&command);
                // A block can begin on such a line too, with the brace on one of the next.
                if word == "if" || word == "while" {
                    self.at += 2;
                    steps.extend(self.conditional(line));
                } else {
                    self.line();
                    self.command(line, &command, false, &mut steps);
                }
            } else if ["if", "while"].iter().any(|word| begins_block(rest, word)) {
                steps.extend(self.conditional(line));
            } else {
                let text = self.until_delimiter();
                self.command(line, &text, true, &mut steps);
            }
        }
    }

    fn command(&mut self, line: usize, text: &str, is_statement: bool, steps: &mut Vec<Step>) {
        let (word, rest) = first_word(text);
        if !COMMANDS.contains(&format!(" {word} ")) {
            if is_statement && !text.is_empty() {
                steps.push(Step { line, action: Action::Statement(text.to_owned()) });
            }
            return;
        }
        if word == "delimiter" {
            let wanted = rest.split_whitespace().next().unwrap_or(";");
            // `delimiter |;` sets `|`; the semicolon ended this command where it was the old one.
            let wanted = if is_statement || wanted == ";" { wanted } else { wanted.trim_end_matches(';') };
            self.delimiter = if wanted.is_empty() { ";".into() } else { wanted.to_owned() };
            return;
        }
        if WITH_TEXT.contains(&word.as_str()) {
            if is_statement {
                self.line();
            }
            self.skip_text(rest, word == "perl");
        }
        steps.push(Step { line, action: Action::Command(word, rest.to_owned()) });
    }

    /// `if (…) {…}` or `while (…) {…}`.
    fn conditional(&mut self, line: usize) -> Option<Step> {
        let open = self.rest().find('(')?;
        let is_while = self.rest()[..open].trim().eq_ignore_ascii_case("while");
        self.at += open + 1;
        let (mut depth, mut quote) = (1, None);
        let mut end = None;
        for (at, c) in self.rest().char_indices() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"' | '`') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = Some(at);
                break;
            }
        }
        let Some(end) = end else {
            self.at = self.text.len();
            return None;
        };
        let condition = self.rest()[..end].trim().to_owned();
        self.at += end + 1;
        let Some(brace) = self.rest().find('{') else {
            self.at = self.text.len();
            return None;
        };
        self.at += brace + 1;
        let steps = self.block();
        let action = if is_while { Action::While(condition, steps) } else { Action::If(condition, steps) };
        Some(Step { line, action })
    }

    /// A statement or a command that the delimiter ends, outside quotes and comments.
    fn until_delimiter(&mut self) -> String {
        let rest = self.rest();
        let (mut quote, mut previous) = (None, '\n');
        let mut comment: Option<&str> = None;
        let mut at = 0;
        while let Some(c) = rest[at..].chars().next() {
            let here = &rest[at..];
            if let Some(end) = comment {
                if here.starts_with(end) {
                    comment = None;
                }
            } else if let Some(open) = quote {
                if c == '\\' && open != '`' {
                    at += 1 + here[1..].chars().next().map_or(0, char::len_utf8);
                    continue;
                }
                if c == open {
                    quote = None;
                }
            } else if here.starts_with(&self.delimiter) {
                self.at += at + self.delimiter.len();
                return rest[..at].trim().to_owned();
            } else if here.starts_with("/*") {
                comment = Some("*/");
            } else if previous == '\n' && c == '#' {
                comment = Some("\n");
            } else if matches!(c, '\'' | '"' | '`') {
                quote = Some(c);
            }
            previous = if previous == '\n' && c.is_whitespace() { previous } else { c };
            at += c.len_utf8();
        }
        self.at = self.text.len();
        rest.trim().to_owned()
    }

    /// Text of a file or of a program, whose end is a line with a word.
    fn skip_text(&mut self, arguments: &str, is_program: bool) {
        let word = arguments.split_whitespace().nth(usize::from(!is_program));
        let end = word.unwrap_or("EOF").trim_end_matches(';').to_owned();
        while self.at < self.text.len() {
            if self.line().trim_end_matches('\r') == end {
                return;
            }
        }
    }

    fn skip_blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn line(&mut self) -> &'a str {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.at = (self.at + line.len() + 1).min(self.text.len());
        line
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

fn begins_block(text: &str, word: &str) -> bool {
    let Some(start) = text.get(..word.len()) else { return false };
    start.eq_ignore_ascii_case(word) && text[word.len()..].trim_start().starts_with('(')
}

/// The word that a command begins with, in small letters, and what is behind it.
fn first_word(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (text[..end].to_ascii_lowercase(), text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        parse(text).iter().map(|step| format!("{}: {:?}\n", step.line, step.action)).collect()
    }

    #[test]
    fn statements_end_at_the_delimiter() {
        let text = "select ';',\n 1;\n# a comment;\ndelimiter |;\nbegin; select 1; end|\ndelimiter ;|\nselect 2;\n";
        assert_eq!(
            shown(text),
            "1: Statement(\"select ';',\\n 1\")\n5: Statement(\"begin; select 1; end\")\n7: Statement(\"select 2\")\n"
        );
    }

    #[test]
    fn blocks_nest_and_texts_are_no_commands() {
        let text = "--let $i= 2\nwhile ($i)\n{\n  if ($i == 1) {\n    select 1;\n  }\n  dec $i;\n}\n--write_file x END\nselect 3;\nEND\n--error 1\nselect 4;";
        let steps = parse(text);
        assert_eq!(steps.len(), 5, "{steps:?}");
        let Action::While(condition, body) = &steps[1].action else { panic!("{steps:?}") };
        assert_eq!((condition.as_str(), body.len()), ("$i", 2));
        assert_eq!(steps[4].line, 13);
    }
}
