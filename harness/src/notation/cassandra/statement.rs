//! Statements that write.

use super::*;

/// Reads a statement or a batch; `None` where `value` is none of them.
pub fn statements(value: &Value) -> Result<Option<Vec<Statement>>, Fault> {
    let Value::Object(fields) = value else { return Ok(None) };
    if let Some(batch) = fields.get("batch") {
        let fields = Fields::of(value, "the batch", &["batch"])?;
        let batch = fields.required("batch", |_| list(batch, statement))?;
        return Ok(Some(batch));
    }
    let is_one = ["insert", "update", "delete"].iter().any(|verb| fields.contains_key(*verb));
    if is_one { statement(value).map(|statement| Some(vec![statement])) } else { Ok(None) }
}

fn statement(value: &Value) -> Result<Statement, Fault> {
    let known = [
        "insert", "update", "delete", "set", "put", "add", "remove", "columns", "elements",
        "range", "ts", "ttl",
    ];
    let fields = Fields::of(value, "the statement", &known)?;
    let (insert, update) = (fields.optional("insert", key)?, fields.optional("update", key)?);
    let delete = fields.optional("delete", key)?;
    let timestamp = fields.optional("ts", integer)?;
    let written = |value| -> Result<Upsert, Fault> {
        let fields = Fields::of(value, "the statement", &known)?;
        let ttl = fields.optional("ttl", |value| match value {
            Value::Null => Ok(None),
            value => integer(value).map(Some),
        })?;
        Ok(Upsert {
            ttl: ttl.flatten(),
            set: fields.optional("set", |value| pairs(value, value_from))?.unwrap_or_default(),
            put: fields.optional("put", |value| pairs(value, map))?.unwrap_or_default(),
            add: fields.optional("add", |value| pairs(value, elements))?.unwrap_or_default(),
            remove: fields.optional("remove", |value| pairs(value, elements))?.unwrap_or_default(),
        })
    };
    let ((p, clustering), verb) = match (insert, update, delete) {
        (Some(key), None, None) => (key, Verb::Insert(written(value)?)),
        (None, Some(key), None) => (key, Verb::Update(written(value)?)),
        (None, None, Some(key)) => {
            let columns = fields.optional("columns", |value| list(value, text))?;
            let elements = fields.optional("elements", |value| pairs(value, elements))?;
            let slice = fields.optional("range", slice)?;
            let verb = match (columns, elements, slice) {
                (None, None, Some(slice)) => Verb::DeleteSlice(slice),
                (None, None, None) => Verb::Delete,
                (columns, elements, None) => Verb::DeleteColumns {
                    columns: columns.unwrap_or_default().into_iter().map(str::to_owned).collect(),
                    elements: elements.unwrap_or_default(),
                },
                _ => return Err(Fault::new("`range` stands beside no columns and no elements")),
            };
            (key, verb)
        }
        _ => return Err(Fault::new("a statement is one of `insert`, `update` and `delete`")),
    };
    Ok(Statement { p, clustering, timestamp, verb })
}

/// A key: `p`, and the clustering columns in the order of the table.
fn key(value: &Value) -> Result<(i32, Vec<i32>), Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a key", value)) };
    let p = fields.get("p").ok_or_else(|| Fault::new("the key lacks `p`"))?;
    let p = integer32(p).map_err(|fault| fault.under("p"))?;
    let rest = fields.iter().filter(|(name, _)| *name != "p");
    let rest = rest.map(|(name, value)| integer32(value).map_err(|fault| fault.under(name)));
    Ok((p, rest.collect::<Result<_, _>>()?))
}

fn pairs<T>(
    value: &Value,
    read: impl Fn(&Value) -> Result<T, Fault>,
) -> Result<Vec<(String, T)>, Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a table", value)) };
    let pair = |(name, value): (&String, &Value)| {
        Ok((name.clone(), read(value).map_err(|fault| fault.under(name))?))
    };
    fields.iter().map(pair).collect()
}

fn element(name: &str) -> Result<i32, Fault> {
    name.parse().map_err(|_| Fault::new(format!("expected an integer of 32 bits, found `{name}`")))
}

fn map(value: &Value) -> Result<Elements, Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a map", value)) };
    let pair = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Null => None,
            value => Some(integer32(value).map_err(|fault| fault.under(name))?),
        };
        Ok((element(name)?, value))
    };
    fields.iter().map(pair).collect()
}

fn value_from(value: &Value) -> Result<ttlspec_model::cassandra::words::Value, Fault> {
    use ttlspec_model::cassandra::words::Value as Written;
    Ok(match value {
        Value::Null => Written::Null,
        Value::String(text) if text == "null" => Written::Null,
        Value::String(text) => Written::Text(text.clone()),
        Value::Array(_) => Written::Set(elements(value)?),
        Value::Object(_) => {
            let all = map(value)?.into_iter();
            let given = all.map(|(path, value)| {
                let missing = || Fault::new(format!("element `{path}` of a map lacks a value"));
                Ok((path, value.ok_or_else(missing)?))
            });
            Written::Map(given.collect::<Result<_, _>>()?)
        }
        value => Written::Int(integer32(value)?),
    })
}

/// `{ column = "c", from = [">", 2], to = ["<=", 5] }`.
fn slice(value: &Value) -> Result<Slice, Fault> {
    let fields = Fields::of(value, "the range", &["column", "from", "to"])?;
    fields.optional("column", text)?;
    let bound = |value: &Value, ops: [&str; 2]| -> Result<Option<(i32, bool)>, Fault> {
        if value.is_null() {
            return Ok(None);
        }
        match value.as_array().map(Vec::as_slice) {
            Some([op, bound]) if op == ops[0] => Ok(Some((integer32(bound)?, false))),
            Some([op, bound]) if op == ops[1] => Ok(Some((integer32(bound)?, true))),
            _ => {
                Err(Fault::expected(&format!("[\"{}\", …] or [\"{}\", …]", ops[0], ops[1]), value))
            }
        }
    };
    Ok(Slice {
        from: fields.optional("from", |value| bound(value, [">", ">="]))?.flatten(),
        to: fields.optional("to", |value| bound(value, ["<", "<="]))?.flatten(),
    })
}

// ---- writing -----------------------------------------------------------------------------------

pub fn to(statements: &[Statement]) -> Value {
    match statements {
        [only] => one(only),
        all => json!({ "batch": all.iter().map(one).collect::<Vec<_>>() }),
    }
}

fn one(statement: &Statement) -> Value {
    let mut fields = Map::new();
    // The names of the clustering columns are not known here: they stand in order.
    let mut key = Map::from_iter([("p".to_owned(), Value::from(statement.p))]);
    for (at, value) in statement.clustering.iter().enumerate() {
        key.insert(
            CLUSTERING.get(at).map_or(format!("c{at}"), |it| (*it).to_owned()),
            (*value).into(),
        );
    }
    let table = |pairs: &[(String, Value)]| Value::Object(pairs.iter().cloned().collect());
    let verb = match &statement.verb {
        Verb::Insert(_) => "insert",
        Verb::Update(_) => "update",
        _ => "delete",
    };
    fields.insert(verb.into(), Value::Object(key));
    match &statement.verb {
        Verb::Insert(upsert) | Verb::Update(upsert) => {
            let mut put = |name: &str, pairs: Vec<(String, Value)>| {
                if !pairs.is_empty() {
                    fields.insert(name.to_owned(), table(&pairs));
                }
            };
            put("set", upsert.set.iter().map(|(name, it)| (name.clone(), value_to(it))).collect());
            put("put", upsert.put.iter().map(|(name, it)| (name.clone(), map_to(it))).collect());
            put("add", upsert.add.iter().map(|(name, it)| (name.clone(), json!(it))).collect());
            put("remove", upsert.remove.iter().map(|(n, it)| (n.clone(), json!(it))).collect());
            if let Some(ttl) = upsert.ttl {
                fields.insert("ttl".into(), ttl.into());
            }
        }
        Verb::DeleteColumns { columns, elements } => {
            if !columns.is_empty() || elements.is_empty() {
                fields.insert("columns".into(), json!(columns));
            }
            if !elements.is_empty() {
                let pairs: Vec<_> = elements.iter().map(|(n, it)| (n.clone(), json!(it))).collect();
                fields.insert("elements".into(), table(&pairs));
            }
        }
        Verb::Delete => {}
        Verb::DeleteSlice(slice) => {
            let mut range = Map::new();
            if let Some((bound, is_inside)) = slice.from {
                range.insert("from".into(), json!([if is_inside { ">=" } else { ">" }, bound]));
            }
            if let Some((bound, is_inside)) = slice.to {
                range.insert("to".into(), json!([if is_inside { "<=" } else { "<" }, bound]));
            }
            fields.insert("range".into(), Value::Object(range));
        }
    }
    if let Some(ts) = statement.timestamp {
        fields.insert("ts".into(), ts.into());
    }
    Value::Object(fields)
}

/// How clustering columns are called where a statement is written.
const CLUSTERING: [&str; 4] = ["c", "d", "e", "f"];

fn map_to(elements: &Elements) -> Value {
    Value::Object(elements.iter().map(|(path, value)| (path.to_string(), json!(value))).collect())
}

fn value_to(value: &ttlspec_model::cassandra::words::Value) -> Value {
    use ttlspec_model::cassandra::words::Value as Written;
    match value {
        // TOML has no null.
        Written::Null => "null".into(),
        Written::Int(value) => (*value).into(),
        Written::Text(text) => text.clone().into(),
        Written::Map(pairs) => {
            let pairs = pairs.iter().map(|(path, value)| (path.to_string(), (*value).into()));
            Value::Object(pairs.collect())
        }
        Written::Set(elements) => json!(elements),
    }
}
