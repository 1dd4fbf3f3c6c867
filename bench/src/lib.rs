//! Atoll measured: one command starts the servers, drives them in turn, and writes what it found.
//!
//! What is measured, and how, is fixed here and not chosen per result: interleaved pairs with alternating order, the
//! least CPU of the runs (the figure that noise can only raise), the median of the throughput ratios.

pub mod abyss;
pub mod callgrind;
pub mod catalog;
pub mod chart;
pub mod copy;
pub mod cpu;
pub mod disjoint;
pub mod insertion;
pub mod instructions;
pub mod large;
pub mod looking_glass;
pub mod matrix;
pub mod memory;
pub mod paired;
pub mod pgbench;
pub mod programs;
pub mod record;
pub mod report;
pub mod sample;
pub mod sysbench;
pub mod target;
pub mod timestamps;
pub mod tpcc;
pub mod ycsb;
