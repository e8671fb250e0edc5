//! `ttlspec simulate`: plays a script on the clock of the specification.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use ttlspec_simulate::{Fault, Outcome, Script, Way, data, picture, read, run as play, show};

use crate::{BAD_INPUT, CLEAN};

/// What is simulated.
#[derive(clap::Args)]
pub struct Args {
    /// Whose rules
    system: System,
    /// The script, in TOML: see docs/simulate.md
    script: PathBuf,
    /// Draw it, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print data instead of text
    #[arg(long)]
    json: bool,
    /// How long to play, such as 30d, in the place of what the script says
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    until: Option<String>,
    /// Hold every document, in the place of counting them: slow, for comparison
    #[arg(long)]
    singly: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    /// TTL indexes
    Mongodb,
}

pub fn run(args: &Args) -> Result<u8> {
    let System::Mongodb = args.system;
    let file = args.script.display().to_string();
    let bytes = fs::read(&args.script).with_context(|| {
        format!("{file}: cannot be read; fix: give the path of a script in TOML")
    })?;
    let text = String::from_utf8(bytes).with_context(|| {
        format!("{file}: expected text, found bytes that are not UTF-8; fix: give a script in TOML")
    })?;
    let way = if args.singly { Way::Singly } else { Way::Counted };
    match played(&file, &text, args.until.as_deref(), way) {
        Ok((script, outcome)) => tell(args, &script, &outcome),
        Err(fault) => {
            eprintln!("error: {fault}");
            Ok(BAD_INPUT)
        }
    }
}

fn played(
    file: &str,
    text: &str,
    until: Option<&str>,
    way: Way,
) -> Result<(Script, Outcome), Fault> {
    let script = read(file, text, until)?;
    let outcome = play(&script, way)?;
    Ok((script, outcome))
}

fn tell(args: &Args, script: &Script, outcome: &Outcome) -> Result<u8> {
    if let Some(file) = &args.svg {
        let svg = picture::svg(script, outcome).map_err(anyhow::Error::msg)?;
        fs::write(file, svg).with_context(|| {
            format!(
                "{}: cannot be written; fix: give a path in a folder that is there",
                file.display()
            )
        })?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        let json = serde_json::to_string_pretty(&data::json(script, outcome))?;
        writeln!(out, "{json}")
    } else {
        show::write(script, outcome, &mut out)
    };
    match written.and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(CLEAN),
        written => Ok(written.map(|()| CLEAN)?),
    }
}
