//! The name under which applications have linked clSPARSE since its first release.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libclSPARSE.so.1");
}
