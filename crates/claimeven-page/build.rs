//! Builds the web page with npm, to be embedded in the program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

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
    let out = env::var("OUT_DIR").expect("cargo should set it");
    let page = Path::new(&out).join("page");
    fs::create_dir_all(&page).expect("the output folder should be writable");
    // Read at run time, because checkouts that share a target folder also share this program.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo should set it");
    let web = Path::new(&here).join("../../web");
    // A missing file would count as changed every time.
    for source in SOURCES.map(|source| web.join(source)).iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let built = build(&web, &page).and_then(|()| list(&page));
    match built {
        Ok(list) => fs::write(Path::new(&out).join("files.rs"), list)
            .expect("the output folder should be writable"),
        Err(reason) => println!("cargo::error={reason}"),
    }
}

/// The source of `FILES`. Files that end with `.br` or `.gz` are compressed copies of others.
fn list(page: &Path) -> Result<String, String> {
    let mut paths = Vec::new();
    walk(page, &mut paths).map_err(|error| format!("cannot read the built page: {error}"))?;
    paths.sort();
    let mut files = Vec::new();
    let is_copy = |file: &&PathBuf| {
        file.extension().is_some_and(|extension| extension == "br" || extension == "gz")
    };
    for file in paths.iter().filter(|file| !is_copy(file)) {
        let path = file.strip_prefix(page).expect("the file is in this folder");
        let path = path.to_str().ok_or("the page has a file whose name is not Unicode")?;
        let path = path.replace('\\', "/");
        let data = fs::read(file).map_err(|error| format!("{path}: {error}"))?;
        let mut hash = DefaultHasher::new();
        data.hash(&mut hash);
        let hash = format!("{:016x}", hash.finish());
        let copy = |extension: &str| {
            let compressed = PathBuf::from(format!("{}.{extension}", file.display()));
            match paths.binary_search(&compressed) {
                Ok(_) => format!("Some(include_bytes!({:?}))", compressed.display().to_string()),
                Err(_) => "None".to_owned(),
            }
        };
        let (brotli, gzip) = (copy("br"), copy("gz"));
        let data = file.display().to_string();
        let mime_type = mime_type(&path)?;
        let fields = format!(
            "path: {path:?}, data: include_bytes!({data:?}), brotli: {brotli}, gzip: {gzip}"
        );
        files.push(format!("File {{ {fields}, hash: {hash:?}, mime_type: {mime_type:?} }},\n"));
    }
    Ok(format!("static FILES: &[File] = &[\n{}];\n", files.concat()))
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn mime_type(path: &str) -> Result<&'static str, String> {
    Ok(match path.rsplit('.').next() {
        Some("css") => "text/css",
        Some("html") => "text/html",
        Some("ico") => "image/x-icon",
        Some("js" | "mjs") => "text/javascript",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => return Err(format!("{path}: unknown MIME type (see crates/claimeven-page/build.rs)")),
    })
}

fn build(web: &Path, page: &Path) -> Result<(), String> {
    // npm keeps a copy of the lock file that it installed from; if the lock file is newer, it has to
    // install again.
    let changed = |file: &str| fs::metadata(web.join(file)).and_then(|file| file.modified());
    let installed = changed("node_modules/.package-lock.json").unwrap_or(SystemTime::UNIX_EPOCH);
    if changed("package-lock.json").is_ok_and(|wanted| wanted > installed) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let folder = page.to_str().ok_or("the path of the output folder is not Unicode")?;
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
    let output = [output.stdout, output.stderr].concat();
    let output = String::from_utf8_lossy(&output);
    let words: Vec<&str> = output.split_whitespace().collect();
    Err(format!("npm {} failed: {}", arguments.join(" "), words.join(" ")))
}
