//! The files of the web page in `web/`, which the build script of this crate builds with npm. It is
//! a separate crate, so that cargo shows its name while it waits for npm, and a change of the page
//! recompiles little else.
//!
//! ```
//! let index = claimeven_page::file("index.html").unwrap();
//! assert_eq!(index.mime_type, "text/html");
//! ```

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// The path, such as `index.html`.
    pub path: &'static str,
    /// The contents.
    pub data: &'static [u8],
    /// The contents compressed with Brotli, if that makes them smaller.
    pub brotli: Option<&'static [u8]>,
    /// The contents compressed with gzip: browsers accept Brotli over HTTPS only.
    pub gzip: Option<&'static [u8]>,
    /// A hash of the contents.
    pub hash: &'static str,
    /// The MIME type, such as `text/html`.
    pub mime_type: &'static str,
}

// `FILES`, written by the build script.
include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file with this path, such as `index.html`, if it exists.
pub fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_by_its_path() {
        for wanted in FILES {
            assert_eq!(file(wanted.path).unwrap().data, wanted.data, "{}", wanted.path);
        }
        let scripts = FILES.iter().filter(|file| file.mime_type == "text/javascript");
        let compressed = scripts.filter(|file| file.brotli.is_some() && file.gzip.is_some());
        assert!(compressed.count() > 5, "compressed scripts");
        assert!(file("assets").is_none() && file("").is_none());
    }
}
