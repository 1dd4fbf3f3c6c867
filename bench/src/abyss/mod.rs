//! 1,024 cores: the figures of "Staring into the Abyss" from a simulation that decides as the engine does and costs what it costs.
//!
//! Paper: Yu et al., *Staring into the Abyss: An Evaluation of Concurrency Control with One Thousand Cores*, VLDB 2014, which has them from
//! a simulator of the whole chip (Graphite) and a database of its own (DBx1000). Here events are simulated and not instructions:
//! what a core does by itself is measured on the engine, and what cores do to each other is simulated. `docs/design/0021-abyss.md`
//! says what that can show.
//!
//! - [`machine`]: cores, the mesh, lines; [`costs`]: what a transaction's parts take; [`measuring`]: how that is measured
//! - [`workload`]: YCSB and TPC-C as keys; [`schemes`]: `txn::decisions` over them; [`simulation`]: cores and events
//! - [`figures`]: the paper's, with what it found; [`page`]: ours beside them; [`engine`]: beside the real engine; [`measurement`]: the command

pub mod costs;
pub mod engine;
pub mod figures;
pub mod machine;
pub mod measurement;
pub mod measuring;
pub mod page;
pub mod schemes;
pub mod simulation;
pub mod workload;
