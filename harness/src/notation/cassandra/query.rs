//! Queries: the part of a SELECT that says what is asked for.

use super::*;

/// Reads `where p=1 and c>0 order by c desc limit 1`, with or without what stands before it. The
/// columns that are selected do not matter: what is asked for is read as a whole.
///
/// # Errors
/// [`Fault`] where it is no such text.
pub fn query(text: &str) -> Result<Query, Fault> {
    let lower = text.to_lowercase();
    let rest = match lower.split_once(" from ") {
        Some((_, rest)) => rest.split_once(' ').map_or("", |(_, rest)| rest),
        None => &lower,
    };
    let (rest, limit) = match split(rest, "limit ") {
        Some((rest, limit)) => (rest, Some(number(limit)?)),
        None => (rest, None),
    };
    let (rest, order) = match split(rest, "order by ") {
        Some((rest, order)) => (rest, Some(order)),
        None => (rest, None),
    };
    let mut query = Query { limit, ..Query::default() };
    // The names of clustering columns are not known here: they come in the order of the table.
    let mut named: Vec<String> = Vec::new();
    let conditions = split(rest, "where ").map_or("", |(_, conditions)| conditions);
    for condition in conditions.split(" and ").map(str::trim).filter(|it| !it.is_empty()) {
        let (name, op, operand) = parts(condition)?;
        let at = named.iter().position(|there| there == name);
        match op {
            "=" | "in" => {
                let operand = operand.trim_matches(['(', ')']);
                let values = operand.split(',').map(number).collect::<Result<Vec<i32>, _>>()?;
                if name == "p" {
                    query.keys = Some(values);
                } else if at.is_some() || query.slice.is_some() {
                    return Err(Fault::new(format!("`{name}` is asked for twice, or too late")));
                } else {
                    query.clustering.push(values);
                    named.push(name.to_owned());
                }
            }
            op => {
                let bound = Some((number(operand)?, op.ends_with('=')));
                if at.is_some_and(|at| at + 1 < named.len() || query.slice.is_none()) {
                    return Err(Fault::new(format!("`{name}` has a value already")));
                }
                if at.is_none() {
                    named.push(name.to_owned());
                }
                let slice = query.slice.get_or_insert_default();
                let side = if op.starts_with('>') { &mut slice.from } else { &mut slice.to };
                if side.is_some() {
                    return Err(Fault::new(format!("`{name}` has two bounds on one side")));
                }
                *side = bound;
            }
        }
    }
    if let Some(order) = order {
        let first = order.split(',').next().unwrap_or_default().trim();
        query.reversed = first.ends_with(" desc") || first == "reversed";
    }
    Ok(query)
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
    let names = ["c", "d", "e", "f"];
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
        equals(names.get(at).unwrap_or(&"x"), values);
    }
    if let Some(slice) = &query.slice {
        let name = names.get(query.clustering.len()).unwrap_or(&"x");
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
