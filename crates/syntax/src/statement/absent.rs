//! What other servers have and this one has none of.

/// What there is none of here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentKind {
    /// A view.
    View,
    /// A stored procedure.
    Procedure,
    /// A stored function, or without a database one that is loaded.
    Function,
    /// A trigger.
    Trigger,
    /// An event.
    Event,
    /// A sequence (MariaDB).
    Sequence,
    /// A package (MariaDB).
    Package,
    /// The body of one.
    PackageBody,
}
