//! `ttlspec explain`: what has expired in this dump, what will, what never, and why?

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::ValueEnum;
use ttlspec_inspect::dump::{self, Dump};
use ttlspec_inspect::fault::Fault;
use ttlspec_inspect::report::{Id, Pick, Question, Report, report};
use ttlspec_inspect::rule_on::Standing;
use ttlspec_inspect::{indexes, instant, json, show, source};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::version::Version;
use ttlspec_model::mongodb::words::Via;

const GOOD: u8 = 0;
const BAD_INPUT: u8 = 2;

/// What `explain` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A folder of mongodump, one `.bson` with its metadata beside it, or Extended JSON (gzip too)
    path: PathBuf,
    /// The server that the data stands on now, such as 7.0.14 [default: the one that was dumped]
    #[arg(long, value_name = "VERSION")]
    server: Option<String>,
    /// The instant of the ruling: RFC 3339, or milliseconds since 1970 [default: now]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    at: Option<String>,
    /// How the indexes came to the server [default: restored; created with --index; upgraded with
    /// --indexes]
    #[arg(long, value_enum)]
    via: Option<Way>,
    /// The server that the data was taken from [default: the prelude's, or --server]
    #[arg(long, value_name = "VERSION")]
    from: Option<String>,
    /// Rule on the document with this _id: Extended JSON, ObjectId(…), or a plain string
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: Vec<String>,
    /// Rule on each document
    #[arg(long)]
    each: bool,
    /// List what can keep an expired document in its place, and what to ask the server about it
    #[arg(long)]
    checks: bool,
    /// Print data instead of text
    #[arg(long)]
    json: bool,
    /// An index, such as '{"key": {"createdAt": 1}, "expireAfterSeconds": 3600}'; may be repeated
    #[arg(long, value_name = "SPEC")]
    index: Vec<String>,
    /// A file with indexes, as getIndexes() prints them
    #[arg(long, value_name = "FILE")]
    indexes: Option<PathBuf>,
    /// Only this collection of the dump; of a single file, its name
    #[arg(long, value_name = "DB.COLL")]
    collection: Option<String>,
    /// How many of the next instants to show
    #[arg(long, value_name = "N", default_value_t = 3)]
    next: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    /// Made there by createIndexes
    Created,
    /// The binaries were replaced by newer ones
    Upgraded,
    /// The binaries were replaced by older ones
    Downgraded,
    /// The member joined by initial sync
    Synced,
    /// mongorestore made them from a dump
    Restored,
}

impl From<Way> for Via {
    fn from(way: Way) -> Via {
        match way {
            Way::Created => Via::Created,
            Way::Upgraded => Via::Upgraded,
            Way::Downgraded => Via::Downgraded,
            Way::Synced => Via::Synced,
            Way::Restored => Via::Restored,
        }
    }
}

/// Explains, and answers the exit code: 0, or 2 for bad input.
///
/// # Errors
/// What printing fails with.
pub fn run(args: Args) -> Result<u8> {
    let asked = ask(&args);
    let (report, notes) = match asked {
        Ok(asked) => asked,
        Err(fault) => {
            eprintln!("error: {fault}");
            return Ok(BAD_INPUT);
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        json::write(&report, &notes, &mut out)
    } else {
        show::write(&report, &notes, &mut out)
    };
    let missing = match written.and_then(|missing| out.flush().map(|()| missing)) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Vec::new(),
        missing => missing?,
    };
    for fault in &report.faults {
        eprintln!("error: {fault}");
    }
    for id in &missing {
        eprintln!(
            "error: --id: expected the _id of a document that is ruled on, found {id}; fix: write it \
             as `--each` shows it, as Extended JSON or plain text"
        );
    }
    Ok(if report.faults.is_empty() && missing.is_empty() { GOOD } else { BAD_INPUT })
}

/// Puts the question together and counts.
fn ask(args: &Args) -> Result<(Report, Vec<String>), Fault> {
    let mut notes = Vec::new();
    let mut given = Vec::new();
    for spec in &args.index {
        given.push(indexes::specification(spec)?);
    }
    if let Some(file) = &args.indexes {
        let bytes = source::read_small(file)?;
        given.extend(indexes::listing(&file.display().to_string(), &bytes)?);
    }
    let at = instant_of(args.at.as_deref())?;
    let dump = find(&args.path, !given.is_empty(), &mut notes)?;
    let standing = standing(args, &dump, at, &mut notes)?;
    let pick = if args.each {
        Pick::Each
    } else {
        Pick::Ids(args.id.iter().map(|id| Id::read(id)).collect())
    };
    let question = Question {
        standing,
        collection: args.collection.clone(),
        indexes: (!given.is_empty()).then_some(given),
        next: args.next,
        pick,
        checks: args.checks,
    };
    Ok((report(dump, question)?, notes))
}

/// `--at`, or now.
pub fn instant_of(at: Option<&str>) -> Result<Millis, Fault> {
    let Some(text) = at else { return Ok(Millis(now())) };
    instant::read(text).map(Millis).ok_or_else(|| {
        let what = format!(
            "expected an instant such as `2026-01-01T00:00:00Z` or milliseconds, found `{text}`"
        );
        Fault::whole("--at", what, "write it as RFC 3339 with an offset, or in milliseconds")
    })
}

/// What lies under the path, with its remarks.
pub fn find(path: &Path, has_indexes: bool, notes: &mut Vec<String>) -> Result<Dump, Fault> {
    let dump = dump::find(path)?;
    notes.extend(dump.notes.iter().cloned());
    if has_indexes {
        let unused = dump.metadata_faults.iter();
        notes.extend(unused.map(|fault| format!("metadata not used: {fault}")));
    }
    Ok(dump)
}

/// A version, as it was given with `name`.
pub fn version(name: &str, text: &str, notes: &mut Vec<String>) -> Result<Version, Fault> {
    let (version, remarks) = Version::parse(text).map_err(|bad| {
        Fault::whole(name, bad.to_string(), "write three numbers, such as 7.0.14")
    })?;
    notes.extend(remarks.into_iter().map(|remark| format!("{name}: {remark}")));
    Ok(version)
}

/// Where the data stands and how it came there, with a note on all that was assumed.
fn standing(
    args: &Args,
    dump: &Dump,
    at: Millis,
    notes: &mut Vec<String>,
) -> Result<Standing, Fault> {
    let mut read = |name: &str, text: &str| version(name, text, notes);
    let dumped = dump.server.as_deref();
    let server = match (&args.server, dumped) {
        (Some(given), _) => read("--server", given)?,
        (None, Some(dumped)) => read("prelude.json", dumped)?,
        (None, None) => {
            if let Some(broken) = dump.faults.first() {
                return Err(broken.clone());
            }
            let what = "expected the version of a server, found none given and no prelude.json";
            let fix = "say where the data stands with `--server VERSION`, such as 7.0.14";
            return Err(Fault::whole("--server", what, fix));
        }
    };
    let taken = match (&args.from, dumped) {
        (Some(given), _) => Some(read("--from", given)?),
        (None, Some(dumped)) => Some(read("prelude.json", dumped)?),
        (None, None) => None,
    };
    let via = match args.via {
        Some(way) => way.into(),
        None if !args.index.is_empty() => Via::Created,
        None if args.indexes.is_some() => Via::Upgraded,
        None => Via::Restored,
    };
    if args.server.is_none() {
        notes.push(format!("--server was not given: taken as {server}, which was dumped"));
    }
    if args.via.is_none() && args.indexes.is_some() && args.index.is_empty() {
        notes.push("the indexes of --indexes are taken as standing in the catalog".to_owned());
    }
    if taken.is_none() && via != Via::Created {
        notes.push(format!(
            "where the data was taken from is not known: taken as {server}; `--from VERSION` says it"
        ));
    }
    Ok(Standing { server, from: taken.unwrap_or(server), via, at })
}

/// The system's clock, in milliseconds since 1970.
fn now() -> i64 {
    let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    }
}
