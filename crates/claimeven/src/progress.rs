//! Progress bars on standard error, for terminals only.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}
