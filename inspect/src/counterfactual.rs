//! What would have to be different for a document to expire?
//!
//! Changes are proposed (`propose`), tried against the specification, and kept only if they turn
//! the verdict; two or three together only where no single one does.

use bson::Bson;
use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::life::Verdict;

use crate::case::Case;
use crate::instant;
use crate::propose::{Change, changes};
use crate::rule_on::{Stage, Ttl};

/// No more alternatives than these are said.
const MOST: usize = 3;

/// One sentence: what would make the document expire.
pub fn would_expire_if(case: &Case, ttl: &Ttl, verdict: &Verdict) -> String {
    if let Verdict::Expired(since, _) = verdict {
        return format!("It is expired already, since {}.", instant::shown(since.0));
    }
    let obstacle = ttl.obstacle.as_ref().map(|(_, why)| {
        let words = format!("the index could be built, which fails with {why}");
        match case.stage() {
            Stage::Expired => sentence(&[words]),
            _ => format!("The index would have to be built first, which fails with {why}."),
        }
    });
    obstacle.unwrap_or_else(|| sentence(&search(case)))
}

/// One sentence: what would keep an expired document; `None` where only other data or another
/// index would.
pub fn would_stay_if(case: &Case, verdict: &Verdict) -> Option<String> {
    let Verdict::Expired(_, dated) = verdict else { return None };
    let age_s = (i128::from(case.standing.at.0) - i128::from(dated.date.0)).div_euclid(1_000);
    let seconds = i32::try_from(age_s + 1).ok()?;
    let at = |seconds: i32| case.with_option(SECONDS, Some(Bson::Int32(seconds))).stage();
    let is_least = at(seconds) == Stage::Pending && at(seconds.checked_sub(1)?) == Stage::Expired;
    is_least.then(|| format!("It would stay if `expireAfterSeconds` were at least {seconds}."))
}

fn sentence(ways: &[String]) -> String {
    match ways {
        [] => "No change that was tried would make it expire.".to_owned(),
        ways => format!("It would expire if {}.", ways.join("; or if ")),
    }
}

/// The smallest changes that turn the verdict, in words.
fn search(case: &Case) -> Vec<String> {
    let mut frontier = vec![(String::new(), case.clone(), case.stage())];
    for _ in 0..MOST {
        let mut found: Vec<String> = Vec::new();
        let mut nearer = Vec::new();
        for (words, case, stage) in &frontier {
            let mut of_this_one = 0;
            for Change { words: more, case: changed } in changes(case) {
                let reached = changed.stage();
                let and = if words.is_empty() { "" } else { " and " };
                let all = format!("{words}{and}{more}");
                if reached == Stage::Expired {
                    // Beside a first step, one way on is enough.
                    if found.len() < MOST && (of_this_one == 0 || words.is_empty()) {
                        found.push(all);
                        of_this_one += 1;
                    }
                } else if reached > *stage {
                    nearer.push((all, changed, reached));
                }
            }
        }
        if !found.is_empty() {
            return found;
        }
        nearer.truncate(8);
        frontier = nearer;
    }
    Vec::new()
}
