//! Workspaces: what a launch scribbles on.

use std::sync::Mutex;

use sparrow::Workspace;

use crate::failure::guard;
use crate::pointer::release;
use crate::sparrow_status;

/// What a launch scribbles on, made by a plan and for it alone. It serves one launch in flight: launches that share
/// one run one after the other, and calls of several threads take turns.
pub struct sparrow_workspace {
    inner: Mutex<Workspace>,
}

impl sparrow_workspace {
    pub(crate) fn new(workspace: Workspace) -> Self {
        sparrow_workspace { inner: Mutex::new(workspace) }
    }

    pub(crate) fn inner(&self) -> &Mutex<Workspace> {
        &self.inner
    }
}

/// Ends a workspace; NULL is allowed. Launches in flight end as they would have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_workspace_release(
    workspace: *mut sparrow_workspace,
) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(workspace, "workspace") })
}
