//! The only crate that talks to OpenCL: devices, queues, buffers, programs, workspaces, launches
