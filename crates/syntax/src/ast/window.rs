//! Windows.

use super::{Expr, Name, OrderItem};

/// `OVER name`, `OVER (…)`
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// A window of the clause WINDOW.
    Name(Name),
    /// One of its own.
    Window(Box<Window>),
}

/// `WINDOW name AS (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct NamedWindow {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub window: Window,
}

/// `([name] [PARTITION BY …] [ORDER BY …] [frame])`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The window that this one begins with.
    pub base: Option<Name>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// ROWS or RANGE.
    pub frame: Option<Frame>,
}

/// `ROWS BETWEEN … AND …`
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What the bounds count.
    pub unit: FrameUnit,
    /// The first row.
    pub start: Bound,
    /// The last row; the current one if it is not said.
    pub end: Option<Bound>,
    /// EXCLUDE, of which nothing but NO OTHERS works anywhere: its words.
    pub exclude: Option<&'static str>,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Values of the ORDER BY.
    Range,
    /// Peers.
    Groups,
}

/// A bound of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// `n PRECEDING`
    Preceding(Expr),
    /// CURRENT ROW.
    CurrentRow,
    /// `n FOLLOWING`
    Following(Expr),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}
