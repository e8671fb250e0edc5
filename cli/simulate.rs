//! `ttlspec simulate`: plays a script on the clock of the specification.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use ttlspec_simulate::script::MOST_BYTES;
use ttlspec_simulate::units::{exact, plain};
use ttlspec_simulate::{
    Fault, Outcome, Script, Way, data, picture, read, run_watched as play, show,
};

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
    let text = text(&args.script)?;
    if let Some(svg) = &args.svg {
        is_apart(svg, &args.script)?;
    }
    let way = if args.singly { Way::Singly } else { Way::Counted };
    match played(&file, &text, args.until.as_deref(), way) {
        Ok((script, outcome)) => tell(args, &script, &outcome),
        Err(fault) => {
            eprintln!("error: {fault}");
            Ok(BAD_INPUT)
        }
    }
}

/// The script, of which no more is read than a script may have.
fn text(path: &Path) -> Result<String> {
    let file = plain(&path.display().to_string());
    let mut bytes = Vec::new();
    let opened = File::open(path);
    if let Err(cause) = opened.and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes)) {
        bail!("{file}: cannot be read: {cause}; fix: give the path of a script in TOML");
    }
    if bytes.len() as u64 > MOST_BYTES {
        bail!(
            "{file}: expected a script of {MOST_BYTES} bytes at most, found more; fix: give a \
             script in TOML, or leave out what does not matter"
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
        anyhow::anyhow!(
            "{file}:{line}: expected text, found a byte that is not UTF-8; fix: give a script in \
             TOML, saved as UTF-8"
        )
    })
}

/// Nothing of the user's is overwritten by drawing, and what is printed is no picture.
fn is_apart(svg: &Path, script: &Path) -> Result<()> {
    if svg == Path::new("-") {
        bail!("--svg: `-` is no file; fix: give a path, such as picture.svg");
    }
    if let (Ok(there), Ok(here)) = (fs::canonicalize(svg), fs::canonicalize(script))
        && there == here
    {
        let file = plain(&script.display().to_string());
        bail!("--svg names the script, {file}; fix: give another path, such as picture.svg");
    }
    Ok(())
}

fn played(
    file: &str,
    text: &str,
    until: Option<&str>,
    way: Way,
) -> Result<(Script, Outcome), Fault> {
    let script = read(file, text, until)?;
    let span_ms = script.end_ms - script.start_ms;
    let bar = bar(span_ms);
    let mut watch = |at_ms: i64| {
        bar.set_position((at_ms - script.start_ms).unsigned_abs());
        bar.set_message(exact((at_ms - script.start_ms) / 1_000 * 1_000));
    };
    let outcome = play(&script, way, &mut watch);
    bar.finish_and_clear();
    Ok((script, outcome?))
}

/// On a terminal only.
fn bar(span_ms: i64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>16} {wide_bar} {percent:>3} % {msg}")
        .expect("the template is right");
    ProgressBar::new(span_ms.unsigned_abs()).with_style(style).with_prefix("playing")
}

fn tell(args: &Args, script: &Script, outcome: &Outcome) -> Result<u8> {
    if let Some(file) = &args.svg {
        let svg = picture::svg(script, outcome).map_err(anyhow::Error::msg)?;
        if let Err(cause) = fs::write(file, svg) {
            let file = plain(&file.display().to_string());
            bail!("{file}: cannot be written: {cause}; fix: give a path in a folder that is there");
        }
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
