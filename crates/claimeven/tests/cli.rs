//! The command line as its users see it: every session in `tests/cli` and in the README.

#[test]
fn sessions_print_what_their_files_say() {
    trycmd::TestCases::new()
        .case("tests/cli/*.md")
        .case("tests/cli/*.toml")
        .case("../../README.md");
}
