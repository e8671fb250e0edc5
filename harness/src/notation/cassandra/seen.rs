//! What a node answers, in the form of the recordings.

use super::*;

/// Who reads it?
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Whoever reads a vector: it is read back as the same.
    Vector,
    /// Whoever knows the types of the columns: all values are bare text.
    Recording,
}

pub fn reply_to(reply: &Reply) -> Value {
    written(reply, Form::Vector)
}

/// A reply in the form of the recordings, where values of cells do not say whether they are texts.
pub fn as_recorded(reply: &Reply) -> Value {
    written(reply, Form::Recording)
}

fn written(reply: &Reply, form: Form) -> Value {
    let partition_to = |it: &PartitionSeen| partition_to(it, form);
    match reply {
        Reply::Done => "done".into(),
        Reply::Refused => "refused".into(),
        Reply::Failed(failure) => json!({ "failed": failure_to(*failure) }),
        Reply::Made(ids) => json!({ "made": ids }),
        Reply::Sstables(all) => {
            let all = all.iter().map(|it| {
                let partitions: Vec<Value> = it.partitions.iter().map(partition_to).collect();
                json!({ "sstable": it.id, "partitions": partitions })
            });
            json!({ "sstables": all.collect::<Vec<_>>() })
        }
        Reply::Stats(all) => {
            let all = all.iter().map(|(id, stats)| {
                let mut value = stats_to(stats);
                if let Value::Object(fields) = &mut value {
                    fields.insert("sstable".into(), (*id).into());
                }
                value
            });
            json!({ "stats": all.collect::<Vec<_>>() })
        }
        Reply::Merged(partitions) => {
            json!({ "merged": partitions.iter().map(partition_to).collect::<Vec<_>>() })
        }
        Reply::Rows(rows) => {
            let mut fields = Map::new();
            let all = rows.rows.iter().map(row_of_cql);
            fields.insert("rows".into(), all.collect::<Vec<_>>().into());
            fields.insert("live".into(), rows.live.into());
            fields.insert("tombstones".into(), rows.tombstones.into());
            Value::Object(fields)
        }
    }
}

pub fn reply_from(value: &Value) -> Result<Reply, Fault> {
    if let Value::Object(fields) = value
        && fields.contains_key("rows")
    {
        let fields = Fields::of(value, "the rows", &["rows", "live", "tombstones"])?;
        return Ok(Reply::Rows(Rows {
            rows: fields.required("rows", |value| list(value, cql_row))?,
            live: fields.required("live", count)?,
            tombstones: fields.required("tombstones", count)?,
        }));
    }
    let tags = ["failed", "made", "sstables", "stats", "merged"];
    match Choice::of(value, "reply", &["done", "refused"], &tags)? {
        Choice::Word("done") => Ok(Reply::Done),
        Choice::Word(_) => Ok(Reply::Refused),
        Choice::Tag(tag, value) => tagged(tag, value).map_err(|fault| fault.under(tag)),
    }
}

fn tagged(tag: &str, value: &Value) -> Result<Reply, Fault> {
    Ok(match tag {
        "failed" => {
            let names: Vec<&str> = FAILURES.iter().map(|(_, name)| *name).collect();
            let Choice::Word(word) = Choice::of(value, "failure", &names, &[])? else {
                return Err(Fault::expected("a failure", value));
            };
            let failure = FAILURES.iter().find(|(_, name)| *name == word);
            Reply::Failed(failure.map_or(Failure::CorruptSstable, |(failure, _)| *failure))
        }
        "made" => Reply::Made(list(value, count)?),
        "sstables" => Reply::Sstables(list(value, |value| {
            let fields = Fields::of(value, "the sstable", &["sstable", "partitions"])?;
            Ok(SstableSeen {
                id: fields.required("sstable", count)?,
                partitions: fields.required("partitions", |value| list(value, partition))?,
            })
        })?),
        "stats" => Reply::Stats(list(value, stats)?),
        _ => Reply::Merged(list(value, partition)?),
    })
}

const FAILURES: [(Failure, &str); 4] = [
    (Failure::ConcurrentModification, "ConcurrentModification"),
    (Failure::CorruptSstable, "CorruptSSTable"),
    (Failure::TombstoneOverwhelming, "TombstoneOverwhelming"),
    (Failure::InvalidRequest, "InvalidRequest"),
];

fn failure_to(failure: Failure) -> &'static str {
    FAILURES.iter().find(|(there, _)| *there == failure).map_or("", |(_, name)| name)
}

// ---- partitions --------------------------------------------------------------------------------

fn deletion_to(deletion: Deletion) -> Value {
    json!({ "ts": deletion.ts, "ldt": deletion.ldt })
}

fn deletion(value: &Value) -> Result<Deletion, Fault> {
    let fields = Fields::of(value, "the deletion", &["ts", "ldt"])?;
    Ok(Deletion { ts: fields.required("ts", integer)?, ldt: fields.required("ldt", integer)? })
}

fn partition_to(partition: &PartitionSeen, form: Form) -> Value {
    let mut fields = Map::new();
    fields.insert("key".into(), partition.key.to_string().into());
    if let Some(deletion) = partition.deletion {
        fields.insert("deletion".into(), deletion_to(deletion));
    }
    if let Some(row) = &partition.statics {
        fields.insert("static".into(), row_to(row, "STATIC".to_owned(), form));
    }
    let items = partition.items.iter().map(|item| match item {
        ItemSeen::Row(row) => row_to(row, clustering_to(&row.clustering), form),
        ItemSeen::Marker(marker) => marker_to(marker),
    });
    fields.insert("items".into(), items.collect::<Vec<_>>().into());
    Value::Object(fields)
}

fn partition(value: &Value) -> Result<PartitionSeen, Fault> {
    let fields = Fields::of(value, "the partition", &["key", "deletion", "static", "items"])?;
    let item = |value: &Value| {
        let is_marker = value.as_object().is_some_and(|fields| fields.contains_key("marker"));
        Ok(if is_marker { ItemSeen::Marker(marker(value)?) } else { ItemSeen::Row(row(value)?) })
    };
    Ok(PartitionSeen {
        key: fields.required("key", |value| number(text(value)?))?,
        deletion: fields.optional("deletion", deletion)?,
        statics: fields.optional("static", row)?,
        items: fields.required("items", |value| list(value, item))?,
    })
}

fn clustering_to(clustering: &[(String, i64)]) -> String {
    let parts = clustering.iter().map(|(name, value)| format!("{name}={value}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Fault> {
    let text = text.trim();
    text.parse().map_err(|_| Fault::new(format!("expected a number, found `{text}`")))
}

fn row_to(row: &RowSeen, name: String, form: Form) -> Value {
    let mut fields = Map::new();
    fields.insert("row".into(), name.into());
    if let Some(marker) = row.liveness {
        let mut shown = json!({ "ts": marker.ts });
        if let Some((ttl, ldt)) = marker.expires {
            shown["ttl"] = ttl.into();
            shown["ldt"] = ldt.into();
        }
        fields.insert("liveness".into(), shown);
    }
    if let Some(deletion) = row.deletion {
        fields.insert("deletion".into(), deletion_to(deletion));
    }
    let cells = row.cells.iter().map(|cell| cell_to(cell, form));
    fields.insert("cells".into(), cells.collect::<Vec<_>>().into());
    Value::Object(fields)
}

fn row(value: &Value) -> Result<RowSeen, Fault> {
    let fields = Fields::of(value, "the row", &["row", "liveness", "deletion", "cells"])?;
    let clustering = fields.required("row", |value| {
        // A table without clustering columns has one row, which has no name.
        let parts = text(value)?.split(", ").filter(|part| !["STATIC", ""].contains(part));
        let part = |part: &str| {
            let bad = || Fault::expected("`c=1, d=2` or `STATIC`", value);
            let (name, value) = part.split_once('=').ok_or_else(bad)?;
            Ok((name.to_owned(), number(value)?))
        };
        parts.map(part).collect::<Result<_, _>>()
    })?;
    let liveness = fields.optional("liveness", |value| {
        let fields = Fields::of(value, "the liveness", &["ts", "ttl", "ldt"])?;
        let (ttl, ldt) = (fields.optional("ttl", integer)?, fields.optional("ldt", integer)?);
        if ttl.is_some() != ldt.is_some() {
            return Err(Fault::new("what expires has both `ttl` and `ldt`"));
        }
        Ok(LivenessSeen { ts: fields.required("ts", integer)?, expires: ttl.zip(ldt) })
    })?;
    Ok(RowSeen {
        clustering,
        liveness,
        deletion: fields.optional("deletion", deletion)?,
        cells: fields.required("cells", |value| list(value, cell))?,
    })
}

fn cell_to(cell: &CellSeen, form: Form) -> Value {
    match cell {
        CellSeen::Complex(column, deletion) => {
            json!({ "c": column, "complex": deletion_to(*deletion) })
        }
        CellSeen::Cell { column, path, ts, ttl, ldt, value } => {
            let mut shown = Map::new();
            shown.insert("c".into(), column.clone().into());
            if let Some(path) = path {
                shown.insert("path".into(), path.to_string().into());
            }
            shown.insert("ts".into(), (*ts).into());
            if *ttl > 0 {
                shown.insert("ttl".into(), (*ttl).into());
            }
            if let Some(ldt) = ldt {
                shown.insert("ldt".into(), (*ldt).into());
            }
            match value {
                Shown::Tombstone => shown.insert("tombstone".into(), true.into()),
                Shown::Text(text) if form == Form::Vector && bare(text) != *value => {
                    shown.insert("v".into(), json!({ "text": text }))
                }
                value => shown.insert("v".into(), text_of(value).into()),
            };
            Value::Object(shown)
        }
    }
}

/// A value as the server's tools write it.
fn text_of(value: &Shown) -> String {
    match value {
        Shown::Tombstone | Shown::Empty => String::new(),
        Shown::Int(value) => value.to_string(),
        Shown::Text(text) => text.clone(),
    }
}

/// What a bare text stands for: whatever looks like a number is one, and nothing is nothing.
fn bare(text: &str) -> Shown {
    match text.parse::<i32>() {
        Ok(number) if number.to_string() == text => Shown::Int(number),
        _ if text.is_empty() => Shown::Empty,
        _ => Shown::Text(text.to_owned()),
    }
}

fn cell(value: &Value) -> Result<CellSeen, Fault> {
    if value.get("complex").is_some() {
        let fields = Fields::of(value, "the deletion of a collection", &["c", "complex"])?;
        let column = fields.required("c", text)?.to_owned();
        return Ok(CellSeen::Complex(column, fields.required("complex", deletion)?));
    }
    let known = ["c", "path", "ts", "ttl", "ldt", "v", "tombstone"];
    let fields = Fields::of(value, "the cell", &known)?;
    let column = fields.required("c", text)?.to_owned();
    let is_tombstone = fields.optional("tombstone", |value| {
        value.as_bool().ok_or_else(|| Fault::expected("true", value))
    })?;
    let path = fields.optional("path", |value| number(text(value)?))?;
    let shown = fields.optional("v", |value| match value {
        Value::Object(_) => {
            let fields = Fields::of(value, "the text", &["text"])?;
            Ok(Shown::Text(fields.required("text", text)?.to_owned()))
        }
        value => Ok(bare(text(value)?)),
    })?;
    let value = match (is_tombstone, shown) {
        (Some(true), None) => Shown::Tombstone,
        (None | Some(false), Some(shown)) => shown,
        _ => return Err(Fault::new("a cell has either `v` or `tombstone = true`")),
    };
    Ok(CellSeen::Cell {
        column,
        path,
        ts: fields.required("ts", integer)?,
        ttl: fields.optional("ttl", integer)?.unwrap_or(0),
        ldt: fields.optional("ldt", integer)?,
        value,
    })
}

// ---- markers -----------------------------------------------------------------------------------

fn marker_to(marker: &MarkerSeen) -> Value {
    let kind = match (marker.close.is_some(), marker.open.is_some(), marker.is_after) {
        (false, _, false) => "INCL_START_BOUND",
        (false, _, true) => "EXCL_START_BOUND",
        (true, false, true) => "INCL_END_BOUND",
        (true, false, false) => "EXCL_END_BOUND",
        (true, true, true) => "INCL_END_EXCL_START_BOUNDARY",
        (true, true, false) => "EXCL_END_INCL_START_BOUNDARY",
    };
    let prefix: Vec<String> = marker.prefix.iter().map(i64::to_string).collect();
    let mut fields = Map::new();
    fields.insert("marker".into(), format!("{kind}({})", prefix.join(", ")).into());
    if let Some(deletion) = marker.close {
        fields.insert("close".into(), deletion_to(deletion));
    }
    if let Some(deletion) = marker.open {
        fields.insert("open".into(), deletion_to(deletion));
    }
    Value::Object(fields)
}

fn marker(value: &Value) -> Result<MarkerSeen, Fault> {
    let fields = Fields::of(value, "the marker", &["marker", "close", "open"])?;
    let (kind, prefix) = fields.required("marker", |value| {
        let bad = || Fault::expected("`INCL_START_BOUND(1)` or the like", value);
        text(value)?.strip_suffix(')').and_then(|it| it.split_once('(')).ok_or_else(bad)
    })?;
    let prefix = prefix.split(',').filter(|part| !part.trim().is_empty());
    let marker = MarkerSeen {
        prefix: prefix.map(number).collect::<Result<_, _>>()?,
        is_after: matches!(
            kind,
            "EXCL_START_BOUND" | "INCL_END_BOUND" | "INCL_END_EXCL_START_BOUNDARY"
        ),
        close: fields.optional("close", deletion)?,
        open: fields.optional("open", deletion)?,
    };
    let written = marker_to(&marker);
    let is_same = written["marker"].as_str().is_some_and(|it| it.starts_with(kind));
    if is_same { Ok(marker) } else { Err(Fault::new(format!("`{kind}` has other sides"))) }
}

// ---- statistics --------------------------------------------------------------------------------

fn stats_to(stats: &StatsSeen) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put("minTimestamp", stats.min_timestamp.into());
    put("maxTimestamp", stats.max_timestamp.into());
    if let Some(ldt) = stats.min_ldt {
        put("minLdt", ldt.into());
    }
    if let Some(ldt) = stats.max_ldt {
        put("maxLdt", ldt.into());
    }
    put("minTTL", stats.min_ttl.into());
    put("maxTTL", stats.max_ttl.into());
    put("repairedAt", stats.repaired_at.into());
    put("totalRows", stats.rows.into());
    put("totalColumns", stats.columns.into());
    put("droppable", stats.droppable.0.into());
    put("histogram", json!(stats.histogram));
    Value::Object(fields)
}

fn stats(value: &Value) -> Result<(u64, StatsSeen), Fault> {
    let known = [
        "sstable",
        "minTimestamp",
        "maxTimestamp",
        "minLdt",
        "maxLdt",
        "minTTL",
        "maxTTL",
        "repairedAt",
        "totalRows",
        "totalColumns",
        "droppable",
        "histogram",
    ];
    let fields = Fields::of(value, "the statistics", &known)?;
    let point = |value: &Value| match list(value, integer)?[..] {
        [at, many] if many >= 0 => Ok((at, many as u64)),
        _ => Err(Fault::expected("a point: second and count", value)),
    };
    let ratio = |value: &Value| value.as_f64().ok_or_else(|| Fault::expected("a number", value));
    let stats = StatsSeen {
        min_timestamp: fields.required("minTimestamp", integer)?,
        max_timestamp: fields.required("maxTimestamp", integer)?,
        min_ldt: fields.optional("minLdt", integer)?,
        max_ldt: fields.optional("maxLdt", integer)?,
        min_ttl: fields.required("minTTL", integer)?,
        max_ttl: fields.required("maxTTL", integer)?,
        repaired_at: fields.required("repairedAt", integer)?,
        rows: fields.required("totalRows", count)?,
        columns: fields.required("totalColumns", count)?,
        droppable: Ratio(fields.required("droppable", ratio)?),
        histogram: fields.required("histogram", |value| list(value, point))?,
    };
    Ok((fields.required("sstable", count)?, stats))
}

// ---- rows of CQL -------------------------------------------------------------------------------

fn row_of_cql(row: &CqlRow) -> Value {
    let mut fields = Map::new();
    for (name, value) in &row.key {
        fields.insert(name.clone(), (*value).into());
    }
    for (name, shown) in &row.simple {
        let value = match &shown.value {
            Shown::Int(value) => Value::from(*value),
            value => text_of(value).into(),
        };
        fields.insert(name.clone(), value);
        if let Some(ttl) = shown.ttl {
            fields.insert(format!("ttl({name})"), ttl.into());
        }
        fields.insert(format!("writetime({name})"), shown.ts.into());
    }
    for (name, elements) in &row.collections {
        let is_map = elements.iter().any(|(_, value)| value.is_some());
        let value = match is_map {
            true => {
                let pairs = elements.iter().map(|(path, value)| (path.to_string(), json!(value)));
                Value::Object(pairs.collect())
            }
            false => elements.iter().map(|(path, _)| *path).collect::<Vec<_>>().into(),
        };
        fields.insert(name.clone(), value);
    }
    Value::Object(fields)
}

fn cql_row(value: &Value) -> Result<CqlRow, Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a row", value)) };
    let mut row = CqlRow { key: Vec::new(), simple: Vec::new(), collections: Vec::new() };
    for (name, value) in fields {
        let of = |function: &str| fields.get(&format!("{function}({name})"));
        let read = || -> Result<Part, Fault> {
            Ok(match value {
                _ if name.contains('(') => {
                    told_of(name, fields)?;
                    Part::Of
                }
                Value::Array(_) => {
                    Part::Collection(elements(value)?.into_iter().map(|it| (it, None)).collect())
                }
                Value::Object(pairs) => {
                    let pair = |(path, value): (&String, &Value)| {
                        Ok((number(path)?, Some(integer32(value)?)))
                    };
                    Part::Collection(pairs.iter().map(pair).collect::<Result<_, Fault>>()?)
                }
                value => match of("writetime") {
                    None => Part::Key(integer(value)?),
                    Some(ts) => Part::Simple(SimpleShown {
                        value: match value {
                            Value::String(text) => Shown::Text(text.clone()),
                            value => Shown::Int(integer32(value)?),
                        },
                        ttl: of("ttl").map(integer).transpose()?,
                        ts: integer(ts)?,
                    }),
                },
            })
        };
        match read().map_err(|fault| fault.under(name))? {
            Part::Of => {}
            Part::Key(value) => row.key.push((name.clone(), value)),
            Part::Simple(shown) => row.simple.push((name.clone(), shown)),
            Part::Collection(elements) => row.collections.push((name.clone(), elements)),
        }
    }
    Ok(row)
}

/// Is `ttl(v)` or `writetime(v)` told of a value that is there?
fn told_of(name: &str, fields: &Map<String, Value>) -> Result<(), Fault> {
    let parts = name.strip_suffix(')').and_then(|name| name.split_once('('));
    let Some((function @ ("ttl" | "writetime"), column)) = parts else {
        return Err(Fault::new("expected `ttl(…)` or `writetime(…)` of a column"));
    };
    if !fields.contains_key(column) {
        return Err(Fault::new(format!(
            "the row lacks `{column}`: where it is null, leave it out"
        )));
    }
    if function == "ttl" && !fields.contains_key(&format!("writetime({column})")) {
        return Err(Fault::new(format!("the row lacks `writetime({column})`")));
    }
    Ok(())
}

/// What a field of a row is.
enum Part {
    Of,
    Key(i64),
    Simple(SimpleShown),
    Collection(Elements),
}

/// A row in the form of the recordings, with these fields: all values are text, collections are the
/// bytes of their serialized form.
pub fn row_of_recording(row: &CqlRow, names: &mut dyn Iterator<Item = &String>) -> Value {
    let text = |name: &str| -> Option<String> {
        if let Some((_, value)) = row.key.iter().find(|(there, _)| there == name) {
            return Some(value.to_string());
        }
        if let Some((_, elements)) = row.collections.iter().find(|(there, _)| there == name) {
            return Some(hex(elements));
        }
        let of =
            name.split_once('(').map(|(function, rest)| (function, rest.trim_end_matches(')')));
        let (function, column) = of.unwrap_or(("", name));
        let (_, shown) = row.simple.iter().find(|(there, _)| there == column)?;
        match function {
            "ttl" => shown.ttl.map(|ttl| ttl.to_string()),
            "writetime" => Some(shown.ts.to_string()),
            _ => Some(text_of(&shown.value)),
        }
    };
    Value::Object(
        names.map(|name| (name.clone(), text(name).map_or(Value::Null, Value::from))).collect(),
    )
}

/// A collection as it is sent: the number of elements, then each with its length.
pub fn hex(elements: &Elements) -> String {
    let mut bytes = (elements.len() as i32).to_be_bytes().to_vec();
    for (path, value) in elements {
        for number in [Some(*path), *value].into_iter().flatten() {
            bytes.extend(4_i32.to_be_bytes());
            bytes.extend(number.to_be_bytes());
        }
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
