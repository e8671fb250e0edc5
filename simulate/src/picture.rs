//! How is it told to the eye? One panel below the other, over one axis of time.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::ages::Ages;
use crate::outcome::Outcome;
use crate::script::Script;
use crate::units::{DAY_MS, shown};

const WIDTH: u32 = 1_000;
const PANEL: u32 = 240;
const HEAD: u32 = 44;
const LINE: u32 = 17;
/// So many acts are told below; of all others only the line is drawn.
const MOST_MARKS: usize = 12;

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

/// The picture as SVG.
///
/// # Errors
/// What drawing fails with.
pub fn svg(script: &Script, outcome: &Outcome) -> Result<String, String> {
    let panels = panels(outcome);
    let marks = outcome.marks.len().min(MOST_MARKS + 1) as u32;
    let height = HEAD + PANEL * panels.len() as u32 + marks * LINE + 10;
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
    let marks: Vec<f64> = outcome.marks.iter().map(|(at_ms, _)| x_of(*at_ms)).collect();
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
    let backlog = outcome.indexes.iter().enumerate().map(|(index, of)| {
        let floor = columns.iter().map(|column| column.backlog[index].0 as f64).collect();
        let line = over_time(&of.name(), &|at| columns[at].backlog[index].1 as f64);
        Line { floor: Some(floor), ..line }
    });
    let backlog: Vec<Line> = backlog.collect();
    if !backlog.is_empty() {
        let title = "Backlog, expired and still there (line: the most, tint: down to the least)";
        panels.push(panel(title, "documents", backlog));
        let most = over_time("the most of a pass", &|at| columns[at].most as f64);
        panels.push(panel("Deletions per pass", "documents", vec![most]));
    }
    if outcome.oplog.is_some() {
        let per_second = |at: usize| {
            let next = columns.get(at + 1).map_or(end_ms, |next| next.from_ms);
            let span_s = (next - columns[at].from_ms).max(1) as f64 / 1_000.0;
            columns[at].entries as f64 / span_s
        };
        let entries = over_time("entries of deletions", &per_second);
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
    let most_ms = all.iter().filter_map(|(_, ages)| ages.ends()).map(|ends| ends.1).max();
    let (unit_of_ages, age_ms) = unit(most_ms.unwrap_or_default());
    let ages = all.into_iter().map(|(name, ages)| Line {
        name,
        points: (0..=100)
            .filter_map(|part| Some((part as f64, ages.percentile(part)? as f64 / age_ms as f64)))
            .collect(),
        floor: None,
    });
    let ages: Vec<Line> = ages.collect();
    if !ages.is_empty() {
        panels.push(Panel {
            title: "Age when deleted, beyond their time".to_owned(),
            x_title: "so many hundredths of the documents are no older (%)".to_owned(),
            x_most: 100.0,
            lines: ages,
            marks: Vec::new(),
            y_title: unit_of_ages.to_owned(),
        });
    }
    panels
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
        file_name(&script.file),
        script.version,
        shown(outcome.span_ms.1 - outcome.span_ms.0)
    );
    root.draw(&Text::new(title, (14, 14), ("sans-serif", 20)))?;
    let (_, body) = root.split_vertically(HEAD);
    let (body, foot) = body.split_vertically(PANEL * panels.len() as u32);
    for (area, panel) in body.split_evenly((panels.len(), 1)).iter().zip(panels) {
        draw_panel(panel, area)?;
    }
    let mut told = outcome.marks.iter().enumerate();
    for (at, (at_ms, what)) in told.by_ref().take(MOST_MARKS) {
        let since = match at_ms - outcome.span_ms.0 {
            0 => "the start".to_owned(),
            since => shown(since),
        };
        let text = format!("{}  at {since}: {what}", at + 1);
        foot.draw(&Text::new(text, (20, at as i32 * LINE as i32), ("sans-serif", 13)))?;
    }
    let left = told.count();
    if left > 0 {
        let at = MOST_MARKS as i32 * LINE as i32;
        foot.draw(&Text::new(format!("… and {left} more"), (20, at), ("sans-serif", 13)))?;
    }
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn draw_panel(panel: &Panel, area: &Area<'_>) -> Drawn {
    let all = || panel.lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    // Several lines have a legend, and it has room of its own above them.
    let has_legend = panel.lines.len() > 1;
    let room = if has_legend { 1.2 + 0.12 * panel.lines.len().min(6) as f64 } else { 1.08 };
    let top = all().fold(0.0, f64::max) * room;
    let bottom = all().fold(0.0, f64::min) * 1.08;
    let top = if top > bottom { top } else { bottom + 1.0 };
    let caption = match &panel.lines[..] {
        [line] => format!("{}: {}", panel.title, line.name),
        _ => panel.title.clone(),
    };
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 15))
        .margin_left(8)
        .margin_top(12)
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
        .x_label_formatter(&|x| plain(*x))
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
        let style = colour.stroke_width(if at < COLOURS.len() { 2 } else { 1 });
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), style))?
            .label(line.name.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    if !has_legend {
        return Ok(());
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 12))
        .draw()?;
    Ok(())
}

/// A number on the axis of time.
fn plain(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number on an axis of amounts, with k, M or G.
fn scaled(number: f64) -> String {
    let with = |number: f64, unit: &dyn Display| format!("{}{unit}", plain(number));
    match number.abs() {
        large if large >= 1e9 => with(number / 1e9, &" G"),
        large if large >= 1e6 => with(number / 1e6, &" M"),
        large if large >= 1e3 => with(number / 1e3, &" k"),
        _ => plain(number),
    }
}
