//! Measuring: suites, records, reports
