//! The store from outside, on the simulated disk: against a model, through crashes, and over the file's size.

mod crash;
mod faults;
mod model;
mod repair;
mod space;
mod support;
mod threads;
