//! Queries: the part of a SELECT that says what is asked for.

use super::*;

/// Reads `where p=1 and c>0 order by reversed limit 1`: what stands behind `from t`. Clustering
/// columns are called `c`, `d`, `e` and `f`, in the order of the table.
///
/// # Errors
/// [`Fault`] where it is no such text.
pub fn query(text: &str) -> Result<Query, Fault> {
    let (mut query, order) = read(&text.to_lowercase())?;
    match order.as_deref() {
        None => {}
        Some("reversed") => query.reversed = true,
        Some(other) => {
            let form = "`order by reversed`, which is against the order of the table";
            let fix = "where rows come in its order, leave `order by` out";
            return Err(Fault::new(format!("expected {form}, found `order by {other}`; {fix}")));
        }
    }
    Ok(query)
}

/// Reads a SELECT, whatever columns it selects, and gives what stands behind
/// ORDER BY: only who knows the table knows whether that is against its order.
///
/// # Errors
/// [`Fault`] where it is none.
pub fn query_of_cql(text: &str) -> Result<(Query, Option<String>), Fault> {
    let lower = text.to_lowercase();
    let missing = || Fault::new(format!("expected a SELECT with FROM, found `{text}`"));
    let (_, table) = lower.split_once(" from ").ok_or_else(missing)?;
    read(table.split_once(' ').map_or("", |(_, rest)| rest))
}

/// Reads what stands behind `from t`; what stands behind `order by` is left as it is.
fn read(text: &str) -> Result<(Query, Option<String>), Fault> {
    let (rest, limit) = match split(text.trim(), "limit ") {
        Some((rest, limit)) => (rest, Some(number(limit)?)),
        None => (text.trim(), None),
    };
    let (rest, order) = match split(rest, "order by ") {
        Some((rest, order)) => (rest, Some(order.to_owned())),
        None => (rest, None),
    };
    let mut query = Query { limit, ..Query::default() };
    match split(rest, "where ") {
        Some(("", conditions)) => {
            for condition in conditions.split(" and ") {
                add(&mut query, condition.trim())?;
            }
        }
        None if rest.is_empty() => {}
        _ => {
            let known = "`where …`, `order by …` and `limit …`, in this order";
            return Err(Fault::new(format!("expected {known}, found `{rest}`")));
        }
    }
    Ok((query, order))
}

fn add(query: &mut Query, condition: &str) -> Result<(), Fault> {
    let (name, op, operand) = parts(condition)?;
    if name == "p" {
        let keys = values(op, operand)?.ok_or_else(|| Fault::new("`p` takes `=` or `in` only"))?;
        return match query.keys.replace(keys) {
            None => Ok(()),
            Some(_) => Err(Fault::new("`p` is asked for twice: use `in` for several")),
        };
    }
    let expected = CLUSTERING.get(query.clustering.len()).copied();
    if expected != Some(name) {
        let form = "clustering columns come as `c`, `d`, `e`, `f`, each with one `=` or `in`, and \
                    bounds only for the next one";
        let expected = expected.map_or("no more".to_owned(), |name| format!("`{name}`"));
        return Err(Fault::new(format!("expected {expected}, found `{name}`: {form}")));
    }
    match (values(op, operand)?, &mut query.slice) {
        (Some(values), None) => query.clustering.push(values),
        (Some(_), Some(_)) => {
            return Err(Fault::new(format!("`{name}` has a value and a bound: leave one out")));
        }
        (None, slice) => {
            let slice = slice.get_or_insert_default();
            let side = if op.starts_with('>') { &mut slice.from } else { &mut slice.to };
            if side.replace((number(operand)?, op.ends_with('='))).is_some() {
                return Err(Fault::new(format!("`{name}` has two bounds on one side")));
            }
        }
    }
    Ok(())
}

/// The values after `=` or `in`; none after another sign.
fn values(op: &str, operand: &str) -> Result<Option<Vec<i32>>, Fault> {
    match op {
        "=" => Ok(Some(vec![number(operand)?])),
        "in" => {
            let inner = operand.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
            let bad = || Fault::new(format!("expected `(1, 2)` after `in`, found `{operand}`"));
            match inner.ok_or_else(bad)?.trim() {
                "" => Ok(Some(Vec::new())),
                inner => inner.split(',').map(number).collect::<Result<_, _>>().map(Some),
            }
        }
        _ => Ok(None),
    }
}

fn split<'a>(text: &'a str, at: &str) -> Option<(&'a str, &'a str)> {
    let place = if text.starts_with(at) { 0 } else { text.find(&format!(" {at}"))? + 1 };
    Some((text[..place].trim(), text[place + at.len()..].trim()))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Fault> {
    let text = text.trim();
    text.parse().map_err(|_| Fault::new(format!("expected a number in a query, found `{text}`")))
}

/// Takes `c>=5` apart.
fn parts(condition: &str) -> Result<(&str, &str, &str), Fault> {
    if let Some((name, operand)) = condition.split_once(" in ") {
        return Ok((name.trim(), "in", operand.trim()));
    }
    let bad = || Fault::new(format!("expected a condition such as `c>=5`, found `{condition}`"));
    let at = condition.find(['<', '>', '=']).ok_or_else(bad)?;
    let rest = &condition[at..];
    let length = rest.find(|c| !matches!(c, '<' | '>' | '=')).ok_or_else(bad)?;
    let (op, operand) = rest.split_at(length);
    if !matches!(op, "=" | "<" | ">" | "<=" | ">=") {
        return Err(bad());
    }
    Ok((condition[..at].trim(), op, operand.trim()))
}

pub fn to(query: &Query) -> String {
    let mut conditions = Vec::new();
    let mut equals = |name: &str, values: &[i32]| match values {
        [only] => conditions.push(format!("{name}={only}")),
        all => {
            let all: Vec<String> = all.iter().map(i32::to_string).collect();
            conditions.push(format!("{name} in ({})", all.join(", ")));
        }
    };
    query.keys.iter().for_each(|keys| equals("p", keys));
    for (at, values) in query.clustering.iter().enumerate() {
        equals(CLUSTERING.get(at).unwrap_or(&"x"), values);
    }
    if let Some(slice) = &query.slice {
        let name = CLUSTERING.get(query.clustering.len()).unwrap_or(&"x");
        let op = |op: &str, (bound, is_inside): (i32, bool)| {
            format!("{name}{op}{}{bound}", if is_inside { "=" } else { "" })
        };
        conditions.extend(slice.from.map(|from| op(">", from)));
        conditions.extend(slice.to.map(|to| op("<", to)));
    }
    let mut text = match conditions.is_empty() {
        true => String::new(),
        false => format!("where {}", conditions.join(" and ")),
    };
    if query.reversed {
        text.push_str(" order by reversed");
    }
    if let Some(limit) = query.limit {
        text.push_str(&format!(" limit {limit}"));
    }
    text.trim().to_owned()
}
