//! A chart of lines over places: what the pages of several measurements have as their pictures.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::path::Path;

/// A colour for each line.
const COLOURS: [RGBColor; 8] = [
    RGBColor(20, 80, 120),
    RGBColor(200, 90, 30),
    RGBColor(60, 140, 60),
    RGBColor(150, 50, 130),
    RGBColor(190, 160, 30),
    RGBColor(90, 90, 90),
    RGBColor(40, 160, 170),
    RGBColor(180, 40, 50),
];

/// Where the axes are, and how long.
const LEFT: i32 = 70;
const TOP: i32 = 40;
const WIDTH: i32 = 460;
const HEIGHT: i32 = 300;

/// A line: what it is called, and what it has at each place.
pub type Line = (String, Vec<f64>);

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// What stands below it.
    pub over: String,
    /// The places, at equal distances.
    pub places: Vec<String>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Whether each step upwards is ten times as much.
    pub logarithmic: bool,
}

impl Chart {
    /// Draws it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<()> {
        let Chart { title, over, places, lines, logarithmic } = self;
        let root = SVGBackend::new(path, (760, 400)).into_drawing_area();
        let fail = |error: DrawingAreaErrorKind<std::io::Error>| anyhow!("{error}");
        let text = ("sans-serif", 12).into_font().color(&BLACK);
        let write = |words: String, at: (i32, i32)| {
            root.draw(&Text::new(words, at, text.clone())).map_err(fail)
        };
        root.fill(&WHITE).map_err(fail)?;
        write(title.clone(), (LEFT, 12))?;
        let values = || lines.iter().flat_map(|(_, values)| values).copied();
        let most = values().fold(1.0, f64::max);
        let least = values().filter(|value| *value > 0.0).fold(most, f64::min);
        let (low, high) = (least.log10().floor(), most.log10().ceil());
        let y = |value: f64| {
            let share = match *logarithmic {
                true => (value.max(least).log10() - low) / (high - low).max(1.0),
                false => value / most,
            };
            TOP + HEIGHT - (share * f64::from(HEIGHT)) as i32
        };
        let right = places.len().saturating_sub(1).max(1) as f64;
        let x = |at: usize| LEFT + (at as f64 / right * f64::from(WIDTH)) as i32;
        let marks: Vec<f64> = match *logarithmic {
            true => (low as i32..=high as i32).map(|power| 10_f64.powi(power)).collect(),
            false => (0..=4).map(|part| most * f64::from(part) / 4.0).collect(),
        };
        for mark in marks {
            let line = [(LEFT, y(mark)), (LEFT + WIDTH, y(mark))];
            root.draw(&PathElement::new(line, RGBColor(225, 225, 225))).map_err(fail)?;
            write(format!("{mark:.0}"), (8, y(mark) - 6))?;
        }
        for (at, place) in places.iter().enumerate() {
            write(place.clone(), (x(at) - 8, TOP + HEIGHT + 10))?;
        }
        write(over.clone(), (LEFT + WIDTH / 2, TOP + HEIGHT + 30))?;
        for (number, (name, values)) in lines.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let points: Vec<(i32, i32)> =
                values.iter().enumerate().map(|(at, value)| (x(at), y(*value))).collect();
            for point in &points {
                root.draw(&Circle::new(*point, 3, colour.filled())).map_err(fail)?;
            }
            root.draw(&PathElement::new(points, colour.stroke_width(2))).map_err(fail)?;
            let top = TOP + number as i32 * 18;
            let mark = [(LEFT + WIDTH + 20, top), (LEFT + WIDTH + 34, top + 10)];
            root.draw(&Rectangle::new(mark, colour.filled())).map_err(fail)?;
            write(name.clone(), (LEFT + WIDTH + 40, top))?;
        }
        root.present().map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::Chart;

    #[test]
    fn a_chart_names_its_lines_and_its_places() {
        for logarithmic in [false, true] {
            let chart = Chart {
                title: "Speed".to_owned(),
                over: "cores".to_owned(),
                places: ["1", "2"].map(str::to_owned).to_vec(),
                lines: vec![("one".to_owned(), vec![10.0, 2000.0])],
                logarithmic,
            };
            let name = format!("atoll-chart-{}-{logarithmic}.svg", std::process::id());
            let path = std::env::temp_dir().join(name);
            chart.draw(&path).expect("a picture is drawn");
            let drawn = std::fs::read_to_string(&path).expect("it is there");
            assert!(["Speed", "cores", "one", ">\n2\n"].iter().all(|text| drawn.contains(text)));
            std::fs::remove_file(&path).expect("it goes");
        }
    }
}
