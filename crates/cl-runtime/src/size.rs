//! How large a launch is.

/// How many items a launch has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Work-groups; with none, nothing is launched.
    pub(crate) groups: usize,
    /// Items of each.
    pub(crate) group_size: usize,
}
