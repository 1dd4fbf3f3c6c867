//! The bench driver.
