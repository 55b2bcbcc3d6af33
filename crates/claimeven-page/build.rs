//! Builds the web page with npm, to be embedded in the program.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// The sources of the page.
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
    // Read at run time, because checkouts that share a target folder also share this program.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let web = Path::new(&here).join("../../web");
    // A missing file would count as changed every time.
    for source in SOURCES.map(|source| web.join(source)).iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    if let Err(reason) = build(&web, &page) {
        println!("cargo::error={reason}");
    }
}

fn build(web: &Path, page: &Path) -> Result<(), String> {
    // npm keeps a copy of the lock file it installed from; a newer lock file means that it has to
    // install again.
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
