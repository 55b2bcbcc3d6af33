//! Builds the web page with npm, so that it is part of the program.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// What the page is made of.
const SOURCES: [&str; 8] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "tsconfig.json",
    ".npmrc",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let page = Path::new(&out).join("page");
    fs::create_dir_all(&page).expect("cargo's folder can be written");
    // Asked for when it runs: checkouts that share a target folder share this program too.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let web = Path::new(&here).join("../../web");
    // A file that is not there would count as changed each time.
    for source in SOURCES.map(|source| web.join(source)).iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    if let Err(reason) = build(&web, &page) {
        println!("cargo::error={reason}");
    }
}

fn build(web: &Path, page: &Path) -> Result<(), String> {
    // npm leaves a copy of what it installed from; a newer list means another installation.
    let changed = |file: &str| fs::metadata(web.join(file)).and_then(|file| file.modified());
    let installed = changed("node_modules/.package-lock.json").unwrap_or(SystemTime::UNIX_EPOCH);
    if changed("package-lock.json").is_ok_and(|wanted| wanted > installed) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let folder = page.to_str().ok_or("cargo's folder has a name that npm cannot be told")?;
    npm(web, &["run", "build", "--", "--outDir", folder, "--emptyOutDir"])
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(program).args(arguments).current_dir(web).output();
    let output = output.map_err(|error| {
        format!(
            "the web page is built by npm, which cannot be run ({error}): install Node.js 20.19 or later, or build \
             with --no-default-features to do without the page"
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let said: Vec<&str> = said.split_whitespace().collect();
    Err(format!("npm {} failed: {}", arguments.join(" "), said.join(" ")))
}
