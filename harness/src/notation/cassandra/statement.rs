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

/// What only INSERT and UPDATE have.
const WRITTEN: [&str; 5] = ["set", "put", "add", "remove", "ttl"];

/// What only DELETE has.
const DELETED: [&str; 3] = ["columns", "elements", "range"];

fn statement(value: &Value) -> Result<Statement, Fault> {
    let known = [
        "insert", "update", "delete", "set", "put", "add", "remove", "columns", "elements",
        "range", "ts", "ttl",
    ];
    let fields = Fields::of(value, "the statement", &known)?;
    let foreign =
        |names: &[&'static str]| names.iter().copied().find(|name| value.get(*name).is_some());
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
    let writes = insert.is_some() || update.is_some();
    if let (true, Some(name)) = (writes && delete.is_none(), foreign(&DELETED)) {
        let message = format!("only a `delete` has `{name}`: leave it out, or write `delete`");
        return Err(Fault::new(message).under(name));
    }
    let ((p, clustering), verb) = match (insert, update, delete) {
        (Some(key), None, None) => (key, Verb::Insert(written(value)?)),
        (None, Some(key), None) => {
            let upsert = written(value)?;
            if assigns_nothing(&upsert) {
                let fix = "give one of `set`, `put`, `add` and `remove`";
                return Err(Fault::new(format!("the `update` assigns nothing: {fix}")));
            }
            (key, Verb::Update(upsert))
        }
        (None, None, Some(key)) => {
            if let Some(name) = foreign(&WRITTEN) {
                let fix = "what it removes stands in `columns`, `elements` or `range`";
                let message = format!("a `delete` has no `{name}`: leave it out; {fix}");
                return Err(Fault::new(message).under(name));
            }
            let columns = fields.optional("columns", |value| list(value, text))?;
            let elements = fields.optional("elements", |value| pairs(value, elements))?;
            let next = CLUSTERING.get(key.1.len()).copied();
            let slice = fields.optional("range", |value| slice(value, next))?;
            let verb = match (columns, elements, slice) {
                (None, None, Some(slice)) => Verb::DeleteSlice(slice),
                (None, None, None) => Verb::Delete,
                (columns, elements, None) => {
                    let columns = columns.unwrap_or_default();
                    let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
                    let elements = elements.unwrap_or_default();
                    if columns.is_empty() && elements.is_empty() {
                        let fix = "name one in `columns` or `elements`, or leave both out";
                        return Err(Fault::new(format!("the `delete` names no column: {fix}")));
                    }
                    Verb::DeleteColumns { columns, elements }
                }
                _ => return Err(Fault::new("`range` stands beside no columns and no elements")),
            };
            (key, verb)
        }
        _ => return Err(Fault::new("a statement is one of `insert`, `update` and `delete`")),
    };
    Ok(Statement { p, clustering, timestamp, verb })
}

/// Is it what no UPDATE may be?
pub fn assigns_nothing(upsert: &Upsert) -> bool {
    *upsert == Upsert { ttl: upsert.ttl, ..Upsert::default() }
}

/// A key: `p`, and then the clustering columns from the first on.
fn key(value: &Value) -> Result<(i32, Vec<i32>), Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a key", value)) };
    let p = fields.get("p").ok_or_else(|| Fault::new("the key lacks `p`"))?;
    let p = integer32(p).map_err(|fault| fault.under("p"))?;
    let mut names = ["p"].into_iter().chain(CLUSTERING);
    for name in fields.keys() {
        let expected = names.next();
        if expected != Some(name) {
            let expected = expected.map_or("the end".to_owned(), |name| format!("`{name}`"));
            let form = "a key is `p`, then clustering columns as `c`, `d`, `e`, `f`, in this order";
            let message = format!("expected {expected}, found `{name}`: {form}");
            return Err(Fault::new(message).under(name));
        }
    }
    let rest = fields.iter().skip(1);
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
    // One spelling each, so that no element stands twice.
    let number = name.parse().ok().filter(|number: &i32| number.to_string() == name);
    number.ok_or_else(|| Fault::new(format!("expected an integer of 32 bits, found `{name}`")))
}

fn map(value: &Value) -> Result<Elements, Fault> {
    let Value::Object(fields) = value else { return Err(Fault::expected("a map", value)) };
    let pair = |(name, value): (&String, &Value)| {
        let value = match value {
            value if is_null(value) => None,
            value => Some(integer32(value).map_err(|fault| fault.under(name))?),
        };
        Ok((element(name)?, value))
    };
    fields.iter().map(pair).collect()
}

/// TOML has no null: this text stands for it.
const NULL: &str = "null";

fn is_null(value: &Value) -> bool {
    value.is_null() || value == NULL
}

fn value_from(value: &Value) -> Result<ttlspec_model::cassandra::words::Value, Fault> {
    use ttlspec_model::cassandra::words::Value as Written;
    Ok(match value {
        value if is_null(value) => Written::Null,
        Value::String(text) => Written::Text(text.clone()),
        Value::Object(fields) if fields.contains_key("text") => {
            let fields = Fields::of(value, "the text", &["text"])?;
            Written::Text(fields.required("text", text)?.to_owned())
        }
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

/// `{ column = "c", from = [">", 2], to = ["<=", 5] }`, of the column `next`.
fn slice(value: &Value, next: Option<&str>) -> Result<Slice, Fault> {
    let fields = Fields::of(value, "the range", &["column", "from", "to"])?;
    let next = next.ok_or_else(|| Fault::new("no clustering column is left for a range"))?;
    fields.optional("column", |value| match text(value)? {
        column if column == next => Ok(()),
        _ => Err(Fault::expected(&format!("`{next}`, the column after the key"), value)),
    })?;
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
    let from = fields.optional("from", |value| bound(value, [">", ">="]))?.flatten();
    let to = fields.optional("to", |value| bound(value, ["<", "<="]))?.flatten();
    match from.or(to) {
        Some(_) => Ok(Slice { from, to }),
        None => Err(Fault::new("the range has no bound: give `from` or `to`, or leave it out")),
    }
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

fn map_to(elements: &Elements) -> Value {
    let value = |value: &Option<i32>| value.map_or(Value::from(NULL), Value::from);
    Value::Object(elements.iter().map(|(path, it)| (path.to_string(), value(it))).collect())
}

fn value_to(value: &ttlspec_model::cassandra::words::Value) -> Value {
    use ttlspec_model::cassandra::words::Value as Written;
    match value {
        Written::Null => NULL.into(),
        Written::Int(value) => (*value).into(),
        Written::Text(text) if text == NULL => json!({ "text": text }),
        Written::Text(text) => text.clone().into(),
        Written::Map(pairs) => {
            let pairs = pairs.iter().map(|(path, value)| (path.to_string(), (*value).into()));
            Value::Object(pairs.collect())
        }
        Written::Set(elements) => json!(elements),
    }
}
