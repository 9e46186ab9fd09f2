//! Tests of the reader of fields.
