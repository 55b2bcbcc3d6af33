//! Checks all dependencies against `deny.toml`: licences, bans, duplicates, sources.
//!
//! `cargo deny` makes the same checks, but installing it would take longer than everything else.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde::Deserialize;

/// The part of `deny.toml` that is checked.
#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Named>,
    skip: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

/// The part of the output of `cargo metadata` that is checked.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for the project's own packages.
    source: Option<String>,
}

/// Checks all dependencies of the workspace.
pub(crate) fn check() -> Result<(), String> {
    let text = fs::read_to_string("deny.toml").map_err(|error| format!("deny.toml: {error}"))?;
    let rules: Rules = toml::from_str(&text).map_err(|error| format!("deny.toml: {error}"))?;
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let problems = problems(&rules, &metadata.packages);
    if problems.is_empty() {
        println!("{} packages", metadata.packages.len());
        return Ok(());
    }
    Err(problems.join("\n"))
}

fn problems(rules: &Rules, packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Package { name, version, license, source } in packages {
        versions.entry(name).or_default().push(version);
        let licence = license.as_deref().unwrap_or("none");
        if !is_allowed(licence, &rules.licenses.allow) {
            problems.push(format!("{name} {version} has the licence {licence}"));
        }
        let registry = source.as_deref().map(|source| source.strip_prefix("registry+"));
        let is_known = |registry: Option<&str>| {
            registry.is_some_and(|registry| {
                rules.sources.allow_registry.iter().any(|known| known == registry)
            })
        };
        if registry.is_some_and(|registry| !is_known(registry)) {
            problems.push(format!("{name} {version} comes from {source:?}"));
        }
        if rules.bans.deny.iter().any(|banned| banned.name == *name) {
            problems.push(format!("{name} is banned"));
        }
    }
    let is_skipped = |name: &str| rules.bans.skip.iter().any(|skipped| skipped.name == name);
    let is_duplicate = |name: &str| versions.get(name).is_some_and(|versions| versions.len() > 1);
    for (name, versions) in &versions {
        if is_duplicate(name) && !is_skipped(name) {
            problems.push(format!(
                "{name} has {} versions: {}",
                versions.len(),
                versions.join(", ")
            ));
        }
    }
    let unused = rules.bans.skip.iter().filter(|skipped| !is_duplicate(&skipped.name));
    problems
        .extend(unused.map(|skipped| format!("{} has one version: do not skip it", skipped.name)));
    problems
}

/// Whether the allowed licences satisfy an SPDX expression.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = &words[..];
    let satisfied = any_of(&mut words, allowed);
    satisfied && words.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut satisfied = all_of(words, allowed);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        satisfied |= all_of(words, allowed);
    }
    satisfied
}

fn all_of(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut satisfied = term(words, allowed);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        satisfied &= term(words, allowed);
    }
    satisfied
}

fn term(words: &mut &[&str], allowed: &[String]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let satisfied = any_of(words, allowed);
            if let [")", rest @ ..] = words {
                *words = rest;
            }
            satisfied
        }
        // The allow list contains licences together with their exceptions.
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.iter().any(|licence| *licence == format!("{name} WITH {exception}"))
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.iter().any(|licence| licence == name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_evaluated() {
        let allowed = ["MIT", "Apache-2.0"].map(str::to_owned);
        for good in [
            "MIT",
            "MIT/GPL-3.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        let with_exception = ["Apache-2.0 WITH LLVM-exception".to_owned()];
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception", &with_exception));
        for bad in [
            "",
            "Apache-2.0 WITH LLVM-exception",
            "none",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR GPL-3.0) AND ISC",
            "MIT MIT",
            "MIT)",
        ] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn problems_name_the_package() {
        let rules: Rules = toml::from_str(
            r#"
                licenses.allow = ["MIT"]
                bans.deny = [{ crate = "bad" }]
                bans.skip = [{ crate = "old" }, { crate = "single" }]
                sources.allow-registry = ["here"]
            "#,
        )
        .unwrap();
        let package = |name: &str, version: &str, licence: &str, source: Option<&str>| Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: Some(licence.to_owned()),
            source: source.map(str::to_owned),
        };
        let packages = [
            package("own", "1", "MIT", None),
            package("bad", "1", "MIT", Some("registry+here")),
            package("strange", "1", "GPL-3.0", Some("git+there")),
            package("old", "1", "MIT", Some("registry+here")),
            package("old", "2", "MIT", Some("registry+here")),
            package("twice", "1", "MIT", Some("registry+here")),
            package("twice", "2", "MIT", Some("registry+here")),
            package("single", "1", "MIT", Some("registry+here")),
        ];
        assert_eq!(
            problems(&rules, &packages),
            [
                "bad is banned",
                "strange 1 has the licence GPL-3.0",
                "strange 1 comes from Some(\"git+there\")",
                "twice has 2 versions: 1, 2",
                "single has one version: do not skip it",
            ]
        );
    }
}
