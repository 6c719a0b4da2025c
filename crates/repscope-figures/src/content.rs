// SPDX-License-Identifier: MIT
//! The kinds of panels and their data.
//!
//! `series` is always an index into [`Figure::series`](crate::Figure::series). A value that does not exist is `None`; a
//! number that is not finite counts as `None` too. Missing values are shown as missing, never as zero.

use serde::Serialize;

use crate::figure::Axis;

/// What a panel draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Content {
    /// Points, with fit lines.
    Scatter(Scatter),
    /// Curves with bands and markers; spectra on log axes.
    Lines(Lines),
    /// Box plots.
    Boxes(Boxes),
    /// Grouped bars with intervals.
    Bars(Bars),
    /// Overlaid histograms.
    Histogram(Histogram),
    /// A matrix of colored cells, such as a confusion matrix.
    Heatmap(Heatmap),
    /// Stacked bars of shares.
    Shares(Shares),
    /// A tree of names, such as a dendrogram.
    Tree(Tree),
    /// A 2-D map of a space, colored by class or by a value.
    Map(Map),
    /// A table.
    Table(Table),
    /// Pictures with captions.
    Images(Images),
    /// Words in place of a plot: why there is none.
    Text(String),
}

macro_rules! contents {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Content {
            fn from(kind: $kind) -> Self {
                Self::$kind(kind)
            }
        })*
    };
}
contents!(
    Scatter, Lines, Boxes, Bars, Histogram, Heatmap, Shares, Tree, Map, Table, Images
);

/// Which way bars and boxes point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Orientation {
    /// Upwards, categories below.
    #[default]
    Vertical,
    /// To the right, categories at the left: for many or long names.
    Horizontal,
}

/// A line to compare data with. It is named above the plot, where it covers nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// Where it runs.
    pub at: ReferenceAt,
    /// Its name, such as `chance 0.10`; empty for none.
    pub label: String,
    /// The series it belongs to, whose color it takes; `None` for gray.
    pub series: Option<usize>,
}

impl Reference {
    /// A gray line.
    pub fn new(at: ReferenceAt, label: impl Into<String>) -> Self {
        Self {
            at,
            label: label.into(),
            series: None,
        }
    }

    /// The same line in the color of a series.
    pub fn of(self, series: usize) -> Self {
        let series = Some(series);
        Self { series, ..self }
    }
}

/// Where a reference line runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum ReferenceAt {
    /// y = value.
    Horizontal(f64),
    /// x = value.
    Vertical(f64),
    /// y = x.
    Diagonal,
}

/// Points, with fit lines.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Scatter {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// One cloud per series. Large clouds are thinned for drawing, and the figure says so.
    pub clouds: Vec<Cloud>,
    /// Straight lines over the clouds.
    pub fits: Vec<Fit>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

/// The points of one series.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cloud {
    /// Whose points.
    pub series: usize,
    /// x and y.
    pub points: Vec<[f64; 2]>,
}

/// The line y = intercept + slope · x, drawn over the x of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Whose line.
    pub series: usize,
    /// Rise per unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// Named above the plot, such as `slope 1.15×10⁻⁴` (see [`number`](crate::number)); empty for none.
    pub label: String,
}

/// Curves with bands and markers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Lines {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// One or more curves.
    pub curves: Vec<Curve>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// Whose curve.
    pub series: usize,
    /// From left to right. A missing y breaks the curve.
    pub points: Vec<CurvePoint>,
    /// How it is drawn.
    pub look: CurveLook,
}

/// Whether a curve is one of the few that can be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum CurveLook {
    /// In the color of its series. Where others are faint, its name stands at its end.
    #[default]
    Full,
    /// Thin and gray, without band and name: one of many.
    Faint,
}

/// One point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct CurvePoint {
    /// Position.
    pub x: f64,
    /// Height.
    pub y: Option<f64>,
    /// Lower and upper end of the band.
    pub band: Option<(f64, f64)>,
}

/// Box plots. Position p of a row shows `categories[p]`; without categories there is one box per series.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Boxes {
    /// Axis of the values.
    pub axis: Axis,
    /// Upwards or to the right.
    pub orientation: Orientation,
    /// Names of the positions; empty when each series has one box.
    pub categories: Vec<String>,
    /// What the categories are.
    pub category_label: String,
    /// One row of boxes per series.
    pub rows: Vec<BoxRow>,
    /// Lines to compare with; `Horizontal` and `Vertical` mean directions on the page.
    pub references: Vec<Reference>,
}

/// The boxes of one series, one per category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BoxRow {
    /// Whose boxes.
    pub series: usize,
    /// One per category, or a single one; `None` where there are no values.
    pub boxes: Vec<Option<BoxSummary>>,
}

/// What a box plot shows of a sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BoxSummary {
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// End of the lower whisker.
    pub low: f64,
    /// End of the upper whisker.
    pub high: f64,
    /// Values beyond the whiskers.
    pub outliers: Vec<f64>,
}

/// Grouped bars: one group per category, one bar per series in it. Bars start at zero; where that would hide the differences, and on a
/// log axis, which has no zero, they are points on an axis that is marked as cut.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Bars {
    /// Axis of the values.
    pub axis: Axis,
    /// Upwards or to the right.
    pub orientation: Orientation,
    /// Names of the groups; empty when each series has one bar.
    pub categories: Vec<String>,
    /// What the categories are.
    pub category_label: String,
    /// One row of bars per series.
    pub rows: Vec<BarRow>,
    /// Chance level of each group (one value: of all groups), drawn as a short line; empty for none.
    pub chance: Vec<Option<f64>>,
    /// Whether the axis reaches the chance levels even where bars near each other would have it cut.
    pub reaches_chance: bool,
    /// Lines to compare with; `Horizontal` and `Vertical` mean directions on the page.
    pub references: Vec<Reference>,
    /// The mark of a value.
    pub look: BarsLook,
    /// What a group is.
    pub grouping: Grouping,
    /// Where the rows come in an order, such as epochs: each category is then a line over these numbers.
    pub along: Option<Along>,
}

/// Numbers that the rows of bars stand for.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Along {
    /// What they are, such as `epoch`.
    pub label: String,
    /// One for each row.
    pub at: Vec<f64>,
}

impl Bars {
    /// Whether the axis of the groups names the series, one below the other.
    pub(crate) fn has_row_for_each_series(&self) -> bool {
        let is_by_series = self.categories.is_empty() || self.grouping == Grouping::Series;
        self.orientation == Orientation::Horizontal && is_by_series && self.along.is_none()
    }
}

/// What a group of bars is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Grouping {
    /// A category, with a mark for each series.
    #[default]
    Category,
    /// A series, with a mark for each category, distinguished by shape and shade: for many series. The axis names the series.
    Series,
}

/// The mark of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum BarsLook {
    /// A bar from zero.
    #[default]
    Bars,
    /// A point on its interval: for estimates whose intervals are wide, such as correlations, and for many series.
    Points,
}

/// The bars of one series, one per category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BarRow {
    /// Whose bars.
    pub series: usize,
    /// One per category, or a single one.
    pub bars: Vec<Measured>,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measured {
    /// The value; `None` is drawn as a dash.
    pub value: Option<f64>,
    /// Lower and upper end.
    pub interval: Option<(f64, f64)>,
}

/// Overlaid histograms: outline and light fill.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Histogram {
    /// Axis of the values.
    pub x: Axis,
    /// Axis of the heights: count, share or density.
    pub y: Axis,
    /// The histograms.
    pub series: Vec<Bins>,
    /// Lines to compare with, such as means.
    pub references: Vec<Reference>,
}

/// One histogram. [`bin_edges`](crate::bin_edges) and [`bin_shares`](crate::bin_shares) make it from values.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Bins {
    /// Whose values.
    pub series: usize,
    /// Ascending, one more than heights.
    pub edges: Vec<f64>,
    /// Height over each bin.
    pub heights: Vec<f64>,
    /// Drawn second to the others: dashed and not filled, for instance shuffled pairs.
    pub look: BinsLook,
}

/// Whether a histogram is the matter or its comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum BinsLook {
    /// Solid outline, light fill.
    #[default]
    Filled,
    /// Dashed outline, no fill.
    Dashed,
}

/// A matrix of colored cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Heatmap {
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// What the rows are, such as `true class`.
    pub row_label: String,
    /// What the columns are.
    pub column_label: String,
    /// `values[row][column]`; short or missing rows count as missing cells.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the color means, at the color bar.
    pub value_label: String,
    /// Values of the ends of the color bar; `None` takes those of the data.
    pub range: Option<(f64, f64)>,
    /// Which colors.
    pub colors: Colors,
    /// Digits after the point in the cells.
    pub decimals: usize,
}

/// A tree of names.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Tree {
    /// The leaves, from the top.
    pub names: Vec<String>,
    /// What is joined, the nearest first.
    pub merges: Vec<Merge>,
    /// What the distance of a join means.
    pub label: String,
}

/// A join of two nodes. Leaves are counted from 0 in the order of the names, joins go on behind them in their own order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Merge {
    /// One node.
    pub left: usize,
    /// The other.
    pub right: usize,
    /// Its distance from the leaves.
    pub at: f64,
}

/// Which colors stand for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Colors {
    /// From pale to deep.
    #[default]
    Sequential,
    /// Two hues away from zero; the ends are made symmetric.
    Diverging,
}

/// Stacked bars of shares, one bar per name.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Shares {
    /// Names of the bars.
    pub names: Vec<String>,
    /// Names of the parts, in stacking order.
    pub parts: Vec<String>,
    /// `values[bar][part]`, not negative. Each bar is divided by its sum; a bar with a missing part is drawn as missing.
    pub values: Vec<Vec<Option<f64>>>,
}

/// A 2-D map of a space.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Map {
    /// Name of the first direction, such as `PC 1 (34 %)`.
    pub x_label: String,
    /// Name of the second.
    pub y_label: String,
    /// The points. Large maps are thinned for drawing, and the figure says so.
    pub points: Vec<[f64; 2]>,
    /// What colors the points.
    pub colored_by: ColoredBy,
}

/// What colors the points of a map.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub enum ColoredBy {
    /// Nothing.
    #[default]
    Nothing,
    /// A class of each point. Beyond 20 classes the smallest ones share the gray "other".
    Class {
        /// Names of the classes.
        names: Vec<String>,
        /// Class of each point, an index into `names`.
        of: Vec<Option<usize>>,
    },
    /// A number of each point, with a color bar.
    Value {
        /// What the number is.
        label: String,
        /// The numbers.
        of: Vec<Option<f64>>,
        /// Numbers at the ends of the color bar, to compare maps; those beyond take the color of the end. `None` takes
        /// the ends of the data.
        range: Option<(f64, f64)>,
    },
}

/// A table. Columns that do not fit side by side continue below, with the first column repeated.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Table {
    /// Heads of the columns.
    pub header: Vec<String>,
    /// The rows. The first column is set flush left, the others flush right.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cell {
    /// Its text; empty is drawn as a dash.
    pub text: String,
    /// Set in bold, for the best.
    pub weight: Weight,
}

/// Weight of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Weight {
    /// Regular.
    #[default]
    Regular,
    /// Bold.
    Bold,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            weight: Weight::Regular,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_string())
    }
}

/// Pictures with captions, in rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Images {
    /// Pictures side by side, at most; 0 counts as 1.
    pub columns: usize,
    /// The pictures.
    pub images: Vec<Image>,
}

/// A picture. If the length of `pixels` does not fit its size, it is drawn as missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Image {
    /// Below the picture.
    pub caption: String,
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Gray or red, green, blue.
    pub channels: Channels,
    /// Row by row, from the top.
    pub pixels: Vec<u8>,
}

/// Numbers per pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Channels {
    /// One.
    #[default]
    Gray,
    /// Three.
    Rgb,
}
