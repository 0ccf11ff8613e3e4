//! Draws charts as SVG with a background of their own, so that they can be read on pages of any colour.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

const INK: RGBColor = RGBColor(0x2B, 0x2E, 0x31);
const GRID: RGBColor = RGBColor(0xD9, 0xD9, 0xD4);
const PAPER: RGBColor = RGBColor(0xFE, 0xFE, 0xFE);
const WIDTH: u32 = 820;
const FONT: &str = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// A contender (a tier of simdpct, a rival from another library, or `memcpy`), and the style in which it is drawn.
#[derive(Clone)]
pub struct Series {
    name: String,
    colour: RGBColor,
    /// The length of the dashes of the line and of the gaps between them; `None` for a solid line.
    dash: Option<i32>,
}

impl Series {
    /// Returns the style of the contender called `name`. A tier has the same colour in all charts. The lines of rivals are dashed,
    /// so that readers who cannot tell colours apart can tell them from tiers.
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
            _ if name.starts_with("algorithm of ada") => (RGBColor(0xA0, 0x4A, 0x7A), Some(5)),
            _ if name.starts_with("algorithm of ") => (RGBColor(0x8A, 0x6D, 0x00), Some(5)),
            _ => (RGBColor(0xE0, 0x95, 0x00), Some(5)),
        };
        Series { name: name.to_owned(), colour, dash }
    }

    /// Returns the same style with another name.
    pub fn named(mut self, name: &str) -> Series {
        name.clone_into(&mut self.name);
        self
    }
}

/// A row of a chart of rows: a contender and its value.
pub struct Row {
    /// The name, which is to the left of the bar or dot.
    pub name: String,
    /// The position on the axis.
    pub value: f64,
    /// The figure to the right of the bar or dot.
    pub figure: String,
    /// The style.
    pub series: Series,
}

/// The axis of a chart of rows.
pub enum Axis {
    /// From 0 to 100 %, or to the greatest value if it exceeds 100 %. The lengths of bars are proportional to the
    /// values.
    Percent,
    /// From one power of ten to another, with dots instead of bars, because the length of a bar would have no meaning.
    Logarithmic,
}

/// A chart with groups of rows.
pub struct Rows {
    /// The title of the chart: the quantity and its unit.
    pub title: String,
    /// The line below the chart: the machine and the date.
    pub below: String,
    pub axis: Axis,
    /// The names and colours of the legend; empty if the names of the rows make a legend unnecessary.
    pub key: Vec<Series>,
    /// The groups: a title, which may be empty, and rows.
    pub groups: Vec<(String, Vec<Row>)>,
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
        colour_box(&area, (0, 0), (WIDTH as i32, height as i32), PAPER);
        text(&area, title, (8, 8), 17);
        draw(&area);
        let _ = area.present();
    }
    let style = format!(
        "<title>{}</title>\n<style>\n@media (prefers-color-scheme: dark) {{ text, [fill=\"#2B2E31\"] {{ fill: #dfe2e4 }} [stroke=\"#2B2E31\"] {{ stroke: #dfe2e4 }} [stroke=\"#D9D9D4\"] {{ stroke: #3a3f43 }} [fill=\"#FEFEFE\"] {{ fill: #16191a }} }}\n</style>\n",
        title.replace('&', "&amp;").replace('<', "&lt;")
    );
    match out.find(">\n").map(|at| at + 2) {
        Some(at) => out.insert_str(at, &style),
        None => out.push_str(&style),
    }
    out.replacen("<svg ", "<svg role=\"img\" ", 1)
}

/// Formats a value of at least 0.1 with two significant digits or more, and a smaller one with two decimals.
pub fn figure(value: f64) -> String {
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

/// Draws groups of rows, from top to bottom, with an axis and its grid.
pub fn rows(chart: &Rows) -> String {
    let values = || chart.groups.iter().flat_map(|(_, rows)| rows).map(|row| row.value);
    let (low, high) = match chart.axis {
        Axis::Percent => (0.0, values().fold(100.0, f64::max)),
        Axis::Logarithmic => decades(values()),
    };
    let count: usize = chart.groups.iter().map(|(_, rows)| rows.len()).sum();
    let titles = chart.groups.iter().filter(|(title, _)| !title.is_empty()).count();
    let top = if chart.key.is_empty() { 40 } else { 66 };
    let bottom = top + 22 * count as i32 + 34 * titles as i32 + 6;
    svg(bottom as u32 + 56, &chart.title, |area| {
        let (left, right) = (230, WIDTH as i32 - 120);
        let x = |value: f64| {
            let share = match chart.axis {
                Axis::Percent => value / high,
                Axis::Logarithmic => place(value, low, high),
            };
            left + (share * f64::from(right - left)) as i32
        };
        let mut at = 8;
        for series in &chart.key {
            let _ = area.draw(&Circle::new((at + 6, 46), 5, series.colour.filled()));
            text(area, &series.name, (at + 17, 40), 13);
            at += 40 + 7 * series.name.len() as i32;
        }
        let ticks: Vec<(f64, String)> = match chart.axis {
            Axis::Percent => [0.0, 25.0, 50.0, 75.0, 100.0].map(|value| (value, format!("{value} %"))).into(),
            Axis::Logarithmic => core::iter::successors(Some(low), |value| Some(value * 10.0))
                .take_while(|value| *value <= high * 1.001)
                .map(|value| (value, value.to_string()))
                .collect(),
        };
        for (value, words) in ticks {
            let _ = area.draw(&PathElement::new([(x(value), top), (x(value), bottom)], GRID));
            text(area, &words, (x(value) - 4 * words.len() as i32, bottom + 6), 13);
        }
        let mut y = top + 4;
        for (title, rows) in &chart.groups {
            if !title.is_empty() {
                text(area, title, (8, y + 8), 15);
                y += 34;
            }
            for row in rows {
                text(area, &row.name, (24, y + 2), 14);
                let end = x(row.value);
                let _ = match chart.axis {
                    Axis::Percent => {
                        area.draw(&Rectangle::new([(left, y), (end, y + 15)], row.series.colour.filled()))
                    }
                    Axis::Logarithmic => area.draw(&Circle::new((end, y + 8), 6, row.series.colour.filled())),
                };
                text(area, &row.figure, (end + 10, y + 2), 13);
                y += 22;
            }
        }
        text(area, &chart.below, (8, bottom + 32), 12);
    })
}

/// Draws lines over lengths from 0. Each line has its name at its end.
pub fn lines(chart: &Lines) -> String {
    let points = || chart.lines.iter().flat_map(|(_, points)| points);
    let longest = points().map(|point| point.0).max().unwrap_or(1).max(1);
    // The scale ends 10 % above the longest time.
    let (low, high) = (1.0, points().map(|point| point.1).fold(2.0, f64::max) * 1.1);
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

#[cfg(test)]
mod tests {
    use simdpct::internals::TIER_NAMES;

    use super::Series;

    /// Tests that [`Series::of`] knows each tier. It takes an unknown name for a rival, and dashes its line.
    #[test]
    fn no_tier_looks_like_a_rival() {
        for tier in TIER_NAMES {
            let tier = tier.to_str().unwrap();
            assert_eq!(Series::of(tier).dash, None, "{tier} has no colour");
        }
    }
}
