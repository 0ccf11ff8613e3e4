//! Draws charts as SVG with a transparent background.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

const INK: RGBColor = RGBColor(0x2B, 0x2E, 0x31);
const GRID: RGBColor = RGBColor(0xD9, 0xD9, 0xD4);
const WIDTH: u32 = 820;
const FONT: &str = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// A contender, and the style in which it is drawn.
#[derive(Clone)]
pub struct Series {
    name: String,
    colour: RGBColor,
    /// The length of the dashes of the line and of the gaps between them; `None` for a solid line.
    dash: Option<i32>,
}

impl Series {
    /// Returns the style of the contender called `name`. A tier has the same colour in all charts. Lines of rivals are also
    /// dashed, so that readers need not tell colours apart.
    pub fn of(name: &str) -> Series {
        let (colour, dash) = match name {
            "avx512" => (RGBColor(0x00, 0x72, 0xB2), None),
            "avx2" | "neon" => (RGBColor(0x2F, 0x9F, 0xDF), None),
            "ssse3" => (RGBColor(0x00, 0x9E, 0x73), None),
            "sse2" | "simd128" => (RGBColor(0x6A, 0xB7, 0x8F), None),
            "scalar" => (RGBColor(0xB2, 0xB2, 0xAA), None),
            "memcpy" => (RGBColor(0x70, 0x70, 0x78), Some(2)),
            "percent-encoding" => (RGBColor(0xD5, 0x5E, 0x00), Some(8)),
            "urlencoding" => (RGBColor(0xCC, 0x79, 0xA7), Some(8)),
            _ => (RGBColor(0xE0, 0x95, 0x00), Some(5)),
        };
        Series { name: name.to_owned(), colour, dash }
    }
}

/// A group of bars side by side, one for each series.
pub struct Group {
    /// The title of the group, which is drawn below its bars.
    pub title: String,
    /// The heights of the bars: one value for each series, or `None` if it was not measured.
    pub values: Vec<Option<f64>>,
}

/// A chart with groups of bars.
pub struct Bars {
    /// The title of the chart: the quantity and its unit.
    pub title: String,
    /// The line below the chart: the machine and the date.
    pub below: String,
    /// The series of every group, in the order of the bars.
    pub series: Vec<Series>,
    /// The groups, from left to right.
    pub groups: Vec<Group>,
}

/// A chart with a line for each series, over lengths of input.
pub struct Lines {
    /// The title of the chart: the quantity and its unit.
    pub title: String,
    /// The line below the chart: the machine and the date.
    pub below: String,
    /// The series, each with its points: length of the input and time.
    pub lines: Vec<(Series, Vec<(usize, f64)>)>,
}

fn font(size: u32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}

fn text(area: &Area<'_>, words: &str, at: (i32, i32), size: u32) {
    // Drawing to a string does not fail.
    let _ = area.draw(&Text::new(words.to_owned(), at, font(size)));
}

/// Creates an SVG of the given height with a title for screen readers, and with other colours for dark mode.
fn svg(height: u32, title: &str, draw: impl FnOnce(&Area<'_>)) -> String {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (WIDTH, height)).into_drawing_area();
        text(&area, title, (8, 8), 17);
        draw(&area);
        let _ = area.present();
    }
    let style = format!(
        "<title>{}</title>\n<style>\n@media (prefers-color-scheme: dark) {{ text, [fill=\"#2B2E31\"] {{ fill: #dfe2e4 }} [stroke=\"#2B2E31\"] {{ stroke: #dfe2e4 }} [stroke=\"#D9D9D4\"] {{ stroke: #3a3f43 }} }}\n</style>\n",
        title.replace('&', "&amp;").replace('<', "&lt;")
    );
    match out.find(">\n").map(|at| at + 2) {
        Some(at) => out.insert_str(at, &style),
        None => out.push_str(&style),
    }
    out.replacen("<svg ", "<svg role=\"img\" ", 1)
}

fn figure(value: f64) -> String {
    if value >= 10.0 {
        format!("{value:.0}")
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn colour_box(area: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor) {
    let _ = area.draw(&Rectangle::new([from, to], colour.filled()));
}

/// Returns the position of `value` between `low` and `high` on a logarithmic scale, from 0 to 1.
fn place(value: f64, low: f64, high: f64) -> f64 {
    ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
}

/// Returns the power of ten at or below the least of `values`, and the one at or above the greatest.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    (10_f64.powf(low.log10().floor()), 10_f64.powf(high.log10().ceil()))
}

fn grid(area: &Area<'_>, low: f64, high: f64, mut line: impl FnMut(&Area<'_>, f64)) {
    let mut value = low;
    while value <= high * 1.001 {
        line(area, value);
        value *= 10.0;
    }
}

/// Draws groups of vertical bars on a logarithmic scale, each bar with its figure.
pub fn bars(chart: &Bars) -> String {
    let (low, high) = decades(chart.groups.iter().flat_map(|group| group.values.iter().flatten().copied()));
    svg(420, &chart.title, |area| {
        let (left, right, top, bottom) = (48, WIDTH as i32 - 8, 84, 366);
        let height = f64::from(bottom - top);
        let y = |value: f64| bottom - (place(value, low, high) * height) as i32;
        // Draw the legend above the bars.
        let mut x = 8;
        for series in &chart.series {
            colour_box(area, (x, 42), (x + 12, 54), series.colour);
            text(area, &series.name, (x + 17, 40), 13);
            x += 34 + 6 * series.name.len() as i32;
        }
        grid(area, low, high, |area, value| {
            let _ = area.draw(&PathElement::new([(left, y(value)), (right, y(value))], GRID));
            text(area, &value.to_string(), (8, y(value) - 7), 13);
        });
        let step = (right - left) / chart.groups.len() as i32;
        for (group, at) in chart.groups.iter().zip((left..).step_by(step as usize)) {
            let width = (step - 20) / chart.series.len() as i32;
            for ((series, value), at) in
                chart.series.iter().zip(&group.values).zip((at + 10..).step_by(width as usize))
            {
                let Some(value) = *value else { continue };
                colour_box(area, (at, y(value)), (at + width - 3, bottom), series.colour);
                text(area, &figure(value), (at - 1, y(value) - 14), 11);
            }
            text(area, &group.title, (at + 10, bottom + 8), 14);
        }
        text(area, &chart.below, (8, 396), 12);
    })
}

/// Draws horizontal bars on a logarithmic scale, each with its figure.
pub fn ranking(title: &str, below: &str, bars: &[(String, f64)]) -> String {
    let (low, high) = decades(bars.iter().map(|bar| bar.1));
    let bottom = 44 + 24 * bars.len() as i32;
    svg(bottom as u32 + 40, title, |area| {
        let (left, right) = (250, WIDTH as i32 - 60);
        for ((name, value), y) in bars.iter().zip((44..).step_by(24)) {
            let series = match name.split(' ').next() {
                Some("pct") => Series::of("avx512"),
                Some("cat") => Series::of("scalar"),
                _ => Series::of("percent-encoding"),
            };
            let end = left + (place(*value, low, high) * f64::from(right - left)) as i32;
            text(area, name, (8, y + 1), 14);
            colour_box(area, (left, y), (end, y + 16), series.colour);
            text(area, &figure(*value), (end + 6, y + 1), 13);
        }
        text(area, below, (8, bottom + 14), 12);
    })
}

/// Draws lines over lengths from 0. Each line has its name at its end.
pub fn lines(chart: &Lines) -> String {
    let points = || chart.lines.iter().flat_map(|(_, points)| points);
    let longest = points().map(|point| point.0).max().unwrap_or(1).max(1);
    // The slowest contender of the chart decides where its scale ends.
    let highest = {
        let mut last: Vec<f64> = chart
            .lines
            .iter()
            .filter_map(|(_, points)| points.iter().map(|point| point.1).reduce(f64::max))
            .collect();
        last.sort_unstable_by(f64::total_cmp);
        last.last().copied().unwrap_or(1.0)
    };
    let (low, high) = (1.0, highest.max(2.0) * 1.1);
    svg(420, &chart.title, |area| {
        let (left, right, top, bottom) = (48, WIDTH as i32 - 150, 44, 360);
        let x = |length: usize| left + (length as f64 / longest as f64 * f64::from(right - left)) as i32;
        let y = |time: f64| bottom - (place(time, low, high) * f64::from(bottom - top)) as i32;
        for value in
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0].into_iter().filter(|value| *value <= high)
        {
            let _ = area.draw(&PathElement::new([(left, y(value)), (right, y(value))], GRID));
            text(area, &format!("{value:.0}"), (14, y(value) - 7), 13);
        }
        for length in (0..=longest).step_by(8) {
            text(area, &length.to_string(), (x(length) - 6, bottom + 8), 13);
        }
        // Write names beside the ends of lines, and move them apart if the ends are close.
        let mut ends: Vec<(i32, &Series)> =
            chart.lines.iter().filter_map(|(series, points)| Some((y(points.last()?.1), series))).collect();
        ends.sort_by_key(|end| end.0);
        let mut above = i32::MIN;
        for (end, series) in &mut ends {
            *end = (*end - 7).max(above.saturating_add(15));
            above = *end;
            let style = (FONT, 13).into_font().color(&series.colour);
            let _ = area.draw(&Text::new(series.name.clone(), (right + 8, *end), style));
        }
        for (series, points) in &chart.lines {
            let path = points.iter().map(|&(length, time)| (x(length), y(time)));
            let style = series.colour.stroke_width(2);
            let _ = match series.dash {
                None => area.draw(&PathElement::new(path.collect::<Vec<_>>(), style)),
                Some(dash) => area.draw(&DashedPathElement::new(path, dash, dash, style)),
            };
        }
        text(area, &format!("{}; logarithmic", chart.below), (8, 396), 12);
    })
}
