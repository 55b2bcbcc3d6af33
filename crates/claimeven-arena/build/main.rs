//! Computes `FLEET_VERSION`.

mod sources;

use std::env;
use std::path::Path;

fn main() {
    let crates =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo should set it")).join("..");
    let paths = sources::of_results(&crates);
    for path in &paths {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let version = env::var("CARGO_PKG_VERSION").expect("cargo should set it");
    println!("cargo::rustc-env=FLEET_VERSION={version}+{:08x}", sources::digest(&paths));
}
