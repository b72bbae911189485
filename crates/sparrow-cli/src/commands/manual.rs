//! `sparrow completions` and `sparrow man`: what shells and `man` read of the command line.

use std::io::Write as _;
use std::path::Path;

use clap::Command;
use clap_mangen::Man as Page;

use crate::arguments::{Completions, Global, Man, command};
use crate::failure::Failure;
use crate::output::{Stream, write_output};

/// Prints a script for a shell.
pub(crate) fn completions(global: &Global, arguments: &Completions) -> Result<(), Failure> {
    check(global, "completions")?;
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut public(command()), "sparrow", &mut script);
    print(&script)
}

/// The command line without commands that are not for users.
fn public(command: Command) -> Command {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("sparrow").args(command.get_arguments()).subcommands(commands)
}

/// Prints the page of the command, or writes those of all its commands.
pub(crate) fn pages(global: &Global, arguments: &Man) -> Result<(), Failure> {
    check(global, "man")?;
    // As a user finds help: by --help, not by a command of each.
    let mut command = command().disable_help_subcommand(true);
    command.build();
    match &arguments.folder {
        None => print(&text(&Page::new(command))?),
        Some(folder) => {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| {
                Failure::input(format!("cannot make {}: {error}", folder.display()))
            })?;
            write(command, folder)
        }
    }
}

fn write(command: Command, folder: &Path) -> Result<(), Failure> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write(command.clone(), folder)?;
    }
    let page = Page::new(command);
    let text = text(&page)?;
    write_output(&folder.join(page.get_filename()), |sink| sink.write_all(&text))
}

fn text(page: &Page) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(text)
}

/// Refuses `--json`, which would write nothing.
fn check(global: &Global, command: &str) -> Result<(), Failure> {
    match &global.json {
        None => Ok(()),
        Some(path) => Err(Failure::input(format!(
            "--json {}: {command} has no results: leave it out",
            path.display()
        ))),
    }
}

fn print(text: &[u8]) -> Result<(), Failure> {
    Stream::Output.tell_if_closed();
    Stream::Output.write(&String::from_utf8_lossy(text))
}
