//! Plans: the algebra a bound query is written in, and the rules that make it cheap.

pub mod logical;
