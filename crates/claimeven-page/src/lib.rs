//! The files of the web page in `web/`, which the build script of this crate builds with npm. It is
//! a separate crate, so that cargo names it while it waits for npm, and a change of the page does
//! not compile much else.
//!
//! ```
//! let index = claimeven_page::file("index.html").unwrap();
//! assert_eq!(index.mime_type, "text/html");
//! ```

use std::borrow::Cow;

#[derive(rust_embed::RustEmbed)]
#[folder = "$OUT_DIR/page"]
struct Files;

/// A file of the page.
#[derive(Clone, Debug)]
pub struct File {
    /// The contents.
    pub data: Cow<'static, [u8]>,
    /// The SHA-256 hash of the contents.
    pub hash: [u8; 32],
    /// The MIME type, such as `text/html`.
    pub mime_type: String,
}

/// The file at a path, such as `index.html`, if there is one.
pub fn file(path: &str) -> Option<File> {
    let file = Files::get(path)?;
    let (hash, mime_type) = (file.metadata.sha256_hash(), file.metadata.mimetype().to_owned());
    Some(File { data: file.data, hash, mime_type })
}
