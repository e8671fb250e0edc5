//! `ttlspec diff`: which documents of this dump would a change delete that are not deleted now?

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use ttlspec_inspect::diff::{self, Change, Diff, Question, diff};
use ttlspec_inspect::dump::Dump;
use ttlspec_inspect::fault::Fault;
use ttlspec_inspect::{indexes, source, text};
use ttlspec_model::mongodb::Value;
use ttlspec_model::mongodb::version::Version;

use crate::explain::{find, instant_of, version};
use crate::{BAD_INPUT, CLEAN, FINDING};

/// What `diff` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A folder of mongodump, one `.bson` with its metadata beside it, or Extended JSON (gzip too)
    path: PathBuf,
    /// The server that the data stands on now [default: the one that was dumped]
    #[arg(long, value_name = "VERSION")]
    from: Option<String>,
    /// The server that it is to stand on: the binaries are replaced, unless --sync or --restore
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
    /// Members of --to join by initial sync from a source of --from
    #[arg(long)]
    sync: bool,
    /// The version of the primary, where a member of --from is only the source of the sync
    #[arg(long, value_name = "VERSION")]
    primary: Option<String>,
    /// The dump is restored to --to with mongorestore
    #[arg(long)]
    restore: bool,
    /// A collMod on --server, such as 'expireAfterSeconds=3600'; the value as Extended JSON
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Option<String>,
    /// The index that --set changes [default: the only TTL index]
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// It is a server alone: none is elected, which would repair what is stored
    #[arg(long)]
    standalone: bool,
    /// The monitor of --server was off and is turned on
    #[arg(long)]
    enable_monitor: bool,
    /// The server of --set and --enable-monitor [default: the one that was dumped]
    #[arg(long, value_name = "VERSION")]
    server: Option<String>,
    /// When the change is made: RFC 3339, or milliseconds since 1970 [default: now]
    #[arg(long, value_name = "INSTANT", allow_hyphen_values = true)]
    at: Option<String>,
    /// A deletion that is later than this many days after --at is no finding
    #[arg(long, value_name = "DAYS", default_value_t = 3650, allow_hyphen_values = true,
          value_parser = days)]
    horizon: u32,
    /// How many documents to name for each reason
    #[arg(long, value_name = "N", default_value_t = 3, allow_hyphen_values = true,
          value_parser = count)]
    examples: usize,
    /// Print data instead of text
    #[arg(long)]
    json: bool,
    /// A file with indexes, as getIndexes() prints them
    #[arg(long, value_name = "FILE")]
    indexes: Option<PathBuf>,
    /// Only this collection of the dump; of a single file, its name
    #[arg(long, value_name = "DB.COLL")]
    collection: Option<String>,
}

fn days(given: &str) -> Result<u32, String> {
    given.parse().map_err(|_| {
        format!("expected days, from 0 to {}; fix: write a number such as 3650", u32::MAX)
    })
}

fn count(given: &str) -> Result<usize, String> {
    given.parse().map_err(|_| {
        "expected a number from 0 on; fix: write how many to name, such as 3".to_owned()
    })
}

/// Compares, and answers the exit code: 0, 1 for a finding, 2 for bad input.
///
/// # Errors
/// What printing fails with.
pub fn run(args: Args) -> Result<u8> {
    let (diff, notes) = match ask(&args) {
        Ok(asked) => asked,
        Err(fault) => {
            eprintln!("error: {fault}");
            return Ok(BAD_INPUT);
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        diff::json::write(&diff, &notes, &mut out)
    } else {
        diff::show::write(&diff, &notes, &mut out)
    };
    match written.and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    for fault in &diff.faults {
        eprintln!("error: {fault}");
    }
    Ok(match (diff.faults.is_empty(), diff.is_finding()) {
        (false, _) => BAD_INPUT,
        (true, true) => FINDING,
        (true, false) => CLEAN,
    })
}

/// Puts the question together and compares.
fn ask(args: &Args) -> Result<(Diff, Vec<String>), Fault> {
    let mut notes = Vec::new();
    let mode = mode(args)?;
    let given = match &args.indexes {
        None => None,
        Some(file) => {
            let bytes = source::read_small(file)?;
            Some(indexes::listing(&file.display().to_string(), &bytes)?)
        }
    };
    let at = instant_of(args.at.as_deref())?;
    let dump = find(&args.path, given.is_some(), &mut notes)?;
    let (from, to, change) = standings(args, mode, &dump, &mut notes)?;
    let between = match change {
        Change::Replaced => releases_between(from, to),
        _ => Vec::new(),
    };
    if let Change::Synced(source) = change {
        let apart = [source, from].map(|member| (member, releases_between(member, to)));
        let apart = apart.iter().find(|(_, between)| !between.is_empty());
        notes.extend(apart.map(|(member, between)| not_one_set(*member, to, between)));
    }
    match change {
        Change::Replaced if !between.is_empty() => notes.push(over(&between)),
        Change::Synced(source) if args.primary.is_none() => notes.push(format!(
            "{source}, the source, is taken to be what deletes now; where the primary is another \
             version, `--primary VERSION` says it"
        )),
        _ => {}
    }
    let question = Question {
        change,
        from,
        to,
        at,
        until: at.plus_millis(i64::from(args.horizon) * 86_400_000),
        collection: args.collection.clone(),
        indexes: given,
        examples: args.examples,
        is_standalone: args.standalone,
        between,
    };
    Ok((diff(dump, question)?, notes))
}

/// The kind of change, before its versions are known.
enum Mode {
    Replace,
    Sync,
    Restore,
    Set(Value),
    Enable,
}

fn mode(args: &Args) -> Result<Mode, Fault> {
    let wrong = |file: &str, what: &str, fix: &str| Err(Fault::whole(file, what, fix));
    let chosen = [
        (args.to.is_some() && !args.sync && !args.restore, "--to"),
        (args.sync, "--sync"),
        (args.restore, "--restore"),
        (args.set.is_some(), "--set"),
        (args.enable_monitor, "--enable-monitor"),
    ];
    let chosen: Vec<&str> = chosen.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    let between = args.set.is_none() && !args.enable_monitor;
    match chosen.as_slice() {
        [] if args.from.is_some() => wrong(
            "--to",
            "expected the version that the data is to stand on, found `--from` alone",
            "say it with `--to VERSION`",
        ),
        [] => wrong(
            "diff",
            "expected a change, found none",
            "give `--from VERSION --to VERSION`, `--set expireAfterSeconds=VALUE` or \
             `--enable-monitor`",
        ),
        [first, second, ..] => {
            let what = format!("expected one change, found `{first}` and `{second}`");
            wrong(second, &what, "give one of them, and compare the other by itself")
        }
        _ if between && args.to.is_none() => wrong(
            "--to",
            "expected the version that the data is to stand on, found none",
            "say it with `--to VERSION`",
        ),
        _ if between && args.server.is_some() => wrong(
            "--server",
            "expected `--from` and `--to` for a change of version, found `--server`",
            "say where the data stands now with `--from VERSION`",
        ),
        _ if !between && args.from.is_some() => wrong(
            "--from",
            "expected one version for a change on one server, found `--from`",
            "say which server it is with `--server VERSION`",
        ),
        _ if args.primary.is_some() && !args.sync => wrong(
            "--primary",
            "expected `--sync` with it, found none",
            "add `--sync`, for members that join by initial sync; or leave `--primary` out and say \
             where the data stands now with `--from VERSION`",
        ),
        _ if args.standalone && (args.sync || args.restore || !between) => wrong(
            "--standalone",
            "expected it with `--from` and `--to` alone, where binaries are replaced",
            "leave it out: what it leaves out does not happen with this change, or needs a set",
        ),
        _ if args.index.is_some() && args.set.is_none() => wrong(
            "--index",
            "expected `--set` with it, found none",
            "give specifications of indexes in a file, with `--indexes FILE`",
        ),
        _ => match &args.set {
            Some(given) => Ok(Mode::Set(value(given)?)),
            None if args.enable_monitor => Ok(Mode::Enable),
            None if args.sync => Ok(Mode::Sync),
            None if args.restore => Ok(Mode::Restore),
            None => Ok(Mode::Replace),
        },
    }
}

/// The value of `--set`.
fn value(given: &str) -> Result<Value, Fault> {
    let fix = "write it as `expireAfterSeconds=VALUE`, with the value as Extended JSON: 3600, NaN, \
               \"10\", {\"$numberLong\":\"3600\"}";
    let Some(("expireAfterSeconds", value)) = given.split_once('=') else {
        let what = format!("expected `expireAfterSeconds=VALUE`, found `{given}`");
        return Err(Fault::whole("--set", what, fix));
    };
    text::value(value.as_bytes()).map(Value).map_err(|wrong| {
        let what = format!("{} at byte {} of `{value}`", wrong.what, wrong.at);
        Fault::whole("--set", what, fix)
    })
}

/// The version that deletes now, the one that deletes then, and the change.
fn standings(
    args: &Args,
    mode: Mode,
    dump: &Dump,
    notes: &mut Vec<String>,
) -> Result<(Version, Version, Change), Fault> {
    let to = args.to.as_ref().map(|to| version("--to", to, notes)).transpose()?;
    let name = if to.is_some() { "--from" } else { "--server" };
    let given = if to.is_some() { &args.from } else { &args.server };
    let from = match (given, &dump.server) {
        (Some(given), _) => version(name, given, notes)?,
        (None, Some(dumped)) => {
            notes.push(format!("{name} was not given: taken as the version that was dumped"));
            version("prelude.json", dumped, notes)?
        }
        (None, None) => {
            if let Some(broken) = dump.faults.first() {
                return Err(broken.clone());
            }
            let what = "expected the version of a server, found none given and no prelude.json";
            let fix =
                format!("say where the data stands now with `{name} VERSION`, such as 7.0.14");
            return Err(Fault::whole(name, what, fix));
        }
    };
    let primary = args.primary.as_ref().map(|given| version("--primary", given, notes));
    let primary = primary.transpose()?.unwrap_or(from);
    let to = to.unwrap_or(from);
    Ok(match mode {
        Mode::Replace => (from, to, Change::Replaced),
        Mode::Sync => (primary, to, Change::Synced(from)),
        Mode::Restore => (from, to, Change::Restored),
        Mode::Set(value) => (from, to, Change::Set(args.index.clone(), value.0)),
        Mode::Enable => (from, to, Change::Enabled),
    })
}

/// Binaries are replaced from one release to the next only; what lies between deletes as well.
fn releases_between(from: Version, to: Version) -> Vec<Version> {
    const RELEASES: [(u16, u16); 7] = [(4, 0), (4, 2), (4, 4), (5, 0), (6, 0), (7, 0), (8, 0)];
    let place = |version: Version| {
        RELEASES.iter().rposition(|release| *release <= (version.major, version.minor)).unwrap_or(0)
    };
    let (first, last) = (place(from).min(place(to)), place(from).max(place(to)));
    let between = RELEASES.get(first + 1..last).unwrap_or_default().iter();
    let mut between: Vec<Version> =
        between.map(|(major, minor)| Version::new(*major, *minor, 0)).collect();
    if to < from {
        between.reverse();
    }
    between
}

fn names(between: &[Version]) -> String {
    let names = between.iter().map(|release| format!("{}.{}", release.major, release.minor));
    names.collect::<Vec<_>>().join(", ")
}

/// Members of a set are of one release, or of one and the next.
fn not_one_set(member: Version, to: Version, between: &[Version]) -> String {
    format!(
        "members of {member} and {to} cannot be in one set, which holds one release and the next: \
         between them lie {}; compare each step of the way by itself",
        names(between)
    )
}

fn over(between: &[Version]) -> String {
    format!(
        "binaries are replaced from one release to the next: the way leads over {}, which deletes \
         by its own rules while it runs; compare each step by itself, with the patch that will run",
        names(between)
    )
}
