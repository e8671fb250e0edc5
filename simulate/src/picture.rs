//! How is it told to the eye? One panel below the other, over one axis of time.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::ages::Ages;
use crate::outcome::{Column, Outcome};
use crate::script::Script;
use crate::units::{DAY_MS, count, exact, plain, within};

const WIDTH: u32 = 1_000;
const PANEL: u32 = 240;
const HEAD: u32 = 44;
const LINE: u32 = 17;
/// Between the last axis and what was done.
const FOOT: u32 = 20;
/// So many acts are told below.
const MOST_MARKS: usize = 12;
/// Where there are more of them, only those that are told have a line.
const MOST_MARK_LINES: usize = 60;
/// A panel has so many lines, and its legend so many rows of two.
const MOST_LINES: usize = 8;
/// So much of a name is written, in characters.
const MOST_NAME: usize = 56;
/// Where the ground of a panel begins.
const GROUND_LEFT: u32 = 86;

/// Colours that are told apart by eyes that do not see all of them, too.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// A line of a panel, with its name.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    /// Down to which the ground below it is tinted.
    floor: Option<Vec<f64>>,
}

struct Panel {
    title: String,
    x_title: String,
    x_most: f64,
    lines: Vec<Line>,
    /// Where something was done.
    marks: Vec<f64>,
    y_title: String,
}

impl Panel {
    /// Several lines have a legend, and it has room of its own above the ground.
    fn legend_rows(&self) -> u32 {
        if self.lines.len() > 1 { self.lines.len().div_ceil(2) as u32 } else { 0 }
    }

    fn height(&self) -> u32 {
        PANEL + self.legend_rows() * LINE
    }
}

/// The picture as SVG.
///
/// # Errors
/// What drawing fails with.
pub fn svg(script: &Script, outcome: &Outcome) -> Result<String, String> {
    let panels = panels(outcome);
    let marks = outcome.marks.len().min(MOST_MARKS + 1) as u32;
    let height = HEAD + panels.iter().map(Panel::height).sum::<u32>() + marks * LINE + FOOT;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(script, outcome, &panels, &root).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

fn panels(outcome: &Outcome) -> Vec<Panel> {
    let (start_ms, end_ms) = outcome.span_ms;
    let (unit_of_time, unit_ms) = unit(end_ms - start_ms);
    let x_of = |at_ms: i64| (at_ms - start_ms) as f64 / unit_ms as f64;
    let x_most = x_of(end_ms);
    let mark_lines = match outcome.marks.len() {
        ..=MOST_MARK_LINES => MOST_MARK_LINES,
        _ => MOST_MARKS,
    };
    let marks = outcome.marks.iter().take(mark_lines);
    let marks: Vec<f64> = marks.map(|(at_ms, _)| x_of(*at_ms)).collect();
    let half = half_window(outcome);
    let around = |at: usize| {
        &outcome.columns[at.saturating_sub(half)..outcome.columns.len().min(at + half + 1)]
    };
    let (of_any, mean) = match half {
        0 => (String::new(), String::new()),
        half => {
            let window = |half: usize| within((2 * half as i64 + 1) * outcome.column_ms);
            (format!(" within {}", window(half)), format!(", mean of {}", window(2 * half)))
        }
    };
    let panel = |title: &str, y_title: &str, lines: Vec<Line>| Panel {
        title: title.to_owned(),
        x_title: format!("time ({unit_of_time})"),
        x_most,
        lines,
        marks: marks.clone(),
        y_title: y_title.to_owned(),
    };
    let middle = |from_ms: i64| x_of((from_ms + outcome.column_ms / 2).min(end_ms));
    let over_time = |name: &str, value: &dyn Fn(usize) -> f64| Line {
        name: name.to_owned(),
        points: (outcome.columns.iter().enumerate())
            .map(|(at, column)| (middle(column.from_ms), value(at)))
            .collect(),
        floor: None,
    };
    let columns = &outcome.columns;
    let mut panels = Vec::new();
    let all = outcome.indexes.len();
    let (drawn, rest) = largest(all, |index| i128::from(outcome.indexes[index].peak));
    let backlog = drawn.into_iter().map(|index| {
        let least = |at: usize| around(at).iter().map(|column| column.backlog[index].0).min();
        let most = |at: usize| around(at).iter().map(|column| column.backlog[index].1).max();
        let floor = (0..columns.len()).map(|at| least(at).unwrap_or_default() as f64).collect();
        let name = outcome.indexes[index].name();
        let line = over_time(&name, &|at| most(at).unwrap_or_default() as f64);
        Line { floor: Some(floor), ..line }
    });
    let backlog: Vec<Line> = backlog.collect();
    if !backlog.is_empty() {
        let title = format!(
            "Backlog, expired and still there (line: the most{of_any}, tint: down to the least){rest}"
        );
        panels.push(panel(&title, "documents", backlog));
        // Between two passes there is nothing to draw.
        let mut most = over_time("the most of a pass", &|at| columns[at].most as f64);
        let mut at = 0..columns.len();
        let reach =
            (2 * columns.len() as u64).checked_div(outcome.passes.many).unwrap_or(0) as usize;
        let has_pass = |column: &Column| column.passes > 0 || column.most > 0;
        most.points.retain(|_| {
            let Some(at) = at.next() else { return false };
            let near = &columns[at.saturating_sub(reach)..columns.len().min(at + reach + 1)];
            has_pass(&columns[at]) || !near.iter().any(has_pass)
        });
        panels.push(panel("Deletions per pass", "documents", vec![most]));
    }
    if outcome.oplog.is_some() {
        let per_second = |at: usize| {
            let (mut entries, mut span_s) = (0.0, 0.0);
            let from = at.saturating_sub(2 * half);
            for (place, column) in
                columns.iter().enumerate().skip(from).take(at + 2 * half + 1 - from)
            {
                // What is far away counts less.
                let weight = (2 * half + 1 - place.abs_diff(at)) as f64;
                let next = columns.get(place + 1).map_or(end_ms, |next| next.from_ms);
                entries += weight * column.entries as f64;
                span_s += weight * (next - column.from_ms).max(1) as f64 / 1_000.0;
            }
            entries / span_s
        };
        let entries = over_time(&format!("entries of deletions{mean}"), &per_second);
        panels.push(panel("Oplog", "entries a second", vec![entries]));
    }
    if outcome.lag.is_some() {
        let most_ms = columns.iter().map(|column| column.lag_ms).max().unwrap_or_default();
        let (unit_of_lag, per_ms) = unit(most_ms);
        let lag =
            over_time("the time to catch up", &|at| columns[at].lag_ms as f64 / per_ms as f64);
        panels.push(panel("Secondary", unit_of_lag, vec![lag]));
    }
    let all: Vec<(String, &Ages)> = ages_of(outcome).filter(|(_, ages)| ages.many() > 0).collect();
    let most_of = |at: usize| all[at].1.ends().map_or(0, |ends| ends.1);
    let most_ms = (0..all.len()).map(most_of).max();
    let (unit_of_ages, age_ms) = unit(most_ms.unwrap_or_default());
    let (drawn, rest) = largest(all.len(), |at| i128::from(most_of(at)));
    let ages = drawn.into_iter().map(|at| Line {
        name: all[at].0.clone(),
        points: (0..=100)
            .filter_map(|part| {
                Some((part as f64, all[at].1.percentile(part)? as f64 / age_ms as f64))
            })
            .collect(),
        floor: None,
    });
    let ages: Vec<Line> = ages.collect();
    if !ages.is_empty() {
        panels.push(Panel {
            title: format!("How late documents were deleted{rest}"),
            x_title: "share of documents (%)".to_owned(),
            x_most: 100.0,
            lines: ages,
            marks: Vec::new(),
            y_title: unit_of_ages.to_owned(),
        });
    }
    panels
}

/// The largest of so many, in their order, and what is said of the others.
fn largest(all: usize, size: impl Fn(usize) -> i128) -> (Vec<usize>, String) {
    let mut places: Vec<usize> = (0..all).collect();
    places.sort_by_key(|at| (-size(*at), *at));
    places.truncate(MOST_LINES);
    places.sort_unstable();
    let rest = match all.saturating_sub(MOST_LINES) {
        0 => String::new(),
        rest => format!("; {} more are not drawn", count(rest as u64)),
    };
    (places, rest)
}

/// A column that is about as long as it is from one pass to the next holds now one and now two of
/// them, or none: what is drawn is then that of the columns around it, too. How many to each side?
fn half_window(outcome: &Outcome) -> usize {
    let columns = outcome.columns.len() as u64;
    match (2 * columns).checked_div(outcome.passes.many) {
        Some(1..=8) => (2 * columns).div_ceil(outcome.passes.many).div_ceil(2) as usize,
        _ => 0,
    }
}

/// The ages of what each index deleted, and of what went with the parts of a collection.
fn ages_of(outcome: &Outcome) -> impl Iterator<Item = (String, &Ages)> {
    let parts = outcome.partitions.iter().map(|part| (part.collection.clone(), &part.ages));
    outcome.indexes.iter().map(|index| (index.name(), &index.ages)).chain(parts)
}

/// The unit in which spans up to this one are drawn.
fn unit(span_ms: i64) -> (&'static str, i64) {
    match span_ms {
        span if span >= 3 * DAY_MS => ("days", DAY_MS),
        span if span >= 3 * 3_600_000 => ("hours", 3_600_000),
        span if span >= 3 * 60_000 => ("minutes", 60_000),
        span if span >= 3_000 => ("seconds", 1_000),
        _ => ("milliseconds", 1),
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(script: &Script, outcome: &Outcome, panels: &[Panel], root: &Area<'_>) -> Drawn {
    root.fill(&WHITE)?;
    let title = format!(
        "{}: MongoDB {} over {}",
        plain(file_name(&script.file)),
        script.version,
        exact(outcome.span_ms.1 - outcome.span_ms.0)
    );
    root.draw(&Text::new(title, (14, 14), ("sans-serif", 20)))?;
    let (_, body) = root.split_vertically(HEAD);
    let mut foot = body;
    for panel in panels {
        let (area, below) = foot.split_vertically(panel.height());
        draw_panel(panel, &area)?;
        foot = below;
    }
    let foot_y = |at: usize| (FOOT / 2 + at as u32 * LINE) as i32;
    let mut told = outcome.marks.iter().enumerate();
    for (at, (at_ms, what)) in told.by_ref().take(MOST_MARKS) {
        let since = match at_ms - outcome.span_ms.0 {
            0 => "the start".to_owned(),
            since => exact(since),
        };
        let text = format!("{}: at {since}, {what}", at + 1);
        foot.draw(&Text::new(text, (20, foot_y(at)), ("sans-serif", 13)))?;
    }
    let left = told.count();
    if left > 0 {
        let text = format!("… and {} more", count(left as u64));
        foot.draw(&Text::new(text, (20, foot_y(MOST_MARKS)), ("sans-serif", 13)))?;
    }
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn draw_panel(panel: &Panel, area: &Area<'_>) -> Drawn {
    let all = || panel.lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let top = all().fold(0.0, f64::max) * 1.08;
    let bottom = all().fold(0.0, f64::min) * 1.08;
    let top = if top > bottom { top } else { bottom + 1.0 };
    let caption = match &panel.lines[..] {
        [line] => format!("{}: {}", panel.title, line.name),
        _ => panel.title.clone(),
    };
    let (head, rest) = area.split_vertically(26);
    head.draw(&Text::new(caption, (GROUND_LEFT as i32, 9), ("sans-serif", 15)))?;
    let (legend, ground) = rest.split_vertically(panel.legend_rows() * LINE);
    draw_legend(panel, &legend)?;
    let mut chart = ChartBuilder::on(&ground)
        .margin_left(8)
        .margin_top(6)
        .margin_right(24)
        .x_label_area_size(38)
        .y_label_area_size(78)
        .build_cartesian_2d(0.0..panel.x_most, bottom..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 13))
        .x_desc(&panel.x_title)
        .y_desc(&panel.y_title)
        .x_labels(12)
        .y_labels(6)
        .x_label_formatter(&|x| decimal(*x))
        .y_label_formatter(&|y| scaled(*y))
        .draw()?;
    for (at, mark) in panel.marks.iter().enumerate() {
        let line = [(*mark, bottom), (*mark, top)];
        chart.draw_series(LineSeries::new(line, RGBColor(150, 150, 150).stroke_width(1)))?;
        if at >= MOST_MARKS {
            continue;
        }
        // Neighbours stand below each other, so that none hides another.
        let y = top - (at % 4) as f64 * 0.1 * (top - bottom);
        let number = Text::new(format!(" {}", at + 1), (*mark, y), ("sans-serif", 12));
        chart.draw_series([number])?;
    }
    for (at, line) in panel.lines.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        if let Some(floor) = &line.floor {
            let back = line.points.iter().zip(floor).rev().map(|((x, _), low)| (*x, *low));
            let around: Vec<(f64, f64)> = line.points.iter().copied().chain(back).collect();
            chart.draw_series([Polygon::new(around, colour.mix(0.18))])?;
        }
        chart.draw_series(LineSeries::new(line.points.iter().copied(), style(at)))?;
    }
    Ok(())
}

/// Later lines in the same colours are thinner.
fn style(at: usize) -> ShapeStyle {
    COLOURS[at % COLOURS.len()].stroke_width(if at < COLOURS.len() { 2 } else { 1 })
}

fn draw_legend(panel: &Panel, area: &Area<'_>) -> Drawn {
    if panel.legend_rows() == 0 {
        return Ok(());
    }
    for (at, line) in panel.lines.iter().enumerate() {
        let x = GROUND_LEFT as i32 + (at % 2) as i32 * (WIDTH - GROUND_LEFT) as i32 / 2;
        let y = (at / 2) as i32 * LINE as i32 + LINE as i32 / 2;
        area.draw(&PathElement::new([(x, y), (x + 18, y)], style(at)))?;
        area.draw(&Text::new(short(&line.name), (x + 24, y - 6), ("sans-serif", 12)))?;
    }
    Ok(())
}

fn short(name: &str) -> String {
    match name.char_indices().nth(MOST_NAME) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// A number on the axis of time.
fn decimal(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number on an axis of amounts, with k, M or G.
fn scaled(number: f64) -> String {
    let with = |number: f64, unit: &dyn Display| format!("{}{unit}", decimal(number));
    match number.abs() {
        large if large >= 1e9 => with(number / 1e9, &" G"),
        large if large >= 1e6 => with(number / 1e6, &" M"),
        large if large >= 1e3 => with(number / 1e3, &" k"),
        _ => decimal(number),
    }
}
