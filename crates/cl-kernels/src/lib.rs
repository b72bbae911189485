//! Device code as data: OpenCL C sources, kernel keys, parameters and the device table's types
