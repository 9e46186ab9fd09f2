//! commuter
