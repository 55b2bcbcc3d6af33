//! Tests of `compose.yaml`: the program accepts its commands and settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use claimeven_server::Settings;
use clap::Parser;

use crate::Cli;

fn file() -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compose.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// The lines of a service, without its name.
fn service<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let services = text.split("\nservices:\n").nth(1).unwrap();
    let services = services.split("\nconfigs:\n").next().unwrap();
    let mut lines = services.lines().skip_while(|line| {
        line.strip_prefix("  ")
            .and_then(|line| line.strip_prefix(name))
            .is_none_or(|rest| !rest.starts_with(':'))
    });
    assert!(lines.next().is_some(), "{name}");
    lines.take_while(|line| line.is_empty() || line.starts_with("    ")).collect()
}

/// The value of a variable of the environment, with the defaults of the file and a password.
fn value(text: &str) -> String {
    let mut value = text.trim().trim_matches('"').to_owned();
    while let Some(start) = value.find("${") {
        let end = start + value[start..].find('}').unwrap();
        let variable = &value[start + 2..end];
        let content = variable.split_once(":-").map_or("secret", |(_, default)| default).to_owned();
        value.replace_range(start..=end, &content);
    }
    value
}

/// The variables of the program in a service.
fn variables(lines: &[&str]) -> Vec<(String, String)> {
    let variable = |line: &&str| {
        let (name, text) = line.trim().strip_prefix("CLAIMEVEN_")?.split_once(": ")?;
        Some((name.to_lowercase(), value(text)))
    };
    lines.iter().filter_map(variable).collect()
}

/// The list after a key, such as `command: ["work"]`.
fn list(lines: &[&str], key: &str) -> Vec<String> {
    let line = lines.iter().find_map(|line| line.split_once(key)).unwrap().1;
    let end = line.rfind(']').unwrap();
    serde_json::from_str(&line[..=end]).unwrap_or_else(|_| {
        // The first list of a flow mapping.
        serde_json::from_str(&line[..=line.find(']').unwrap()]).unwrap()
    })
}

fn parse(words: &[String]) {
    let words = std::iter::once("claimeven").chain(words.iter().map(|word| &**word));
    if let Err(error) = Cli::try_parse_from(words) {
        panic!("{error}");
    }
}

#[test]
fn the_program_accepts_the_commands_and_settings_of_the_compose_file() {
    let (_, text) = file();
    let server = service(&text, "claimeven-1");
    let mut settings = Settings::default();
    let given = variables(&server);
    for (name, value) in &given {
        settings.text(name, value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
    }
    let config = settings.config().unwrap();
    assert!(config.is_postgres() && !config.nats.is_empty(), "{given:?}");
    let health = list(&server, "test: ");
    assert_eq!(&health[..2], ["CMD", "claimeven"]);
    parse(&health[2..]);

    let worker = service(&text, "worker");
    let nats = variables(&worker).into_iter().find(|(name, _)| name == "nats").unwrap().1;
    assert_eq!(nats, config.nats);
    let nats = ["--nats".to_owned(), nats];
    parse(&[&list(&worker, "command: ")[..], &nats].concat());

    // The commands in its comments.
    let commands: Vec<Vec<String>> = text
        .lines()
        .filter_map(|line| {
            let words = line.strip_prefix("#   docker compose ")?;
            let command = words.split_once(" worker ").or(words.split_once(" claimeven "))?.1;
            Some(command.split_whitespace().map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        parse(&[&command[..], &nats].concat());
    }

    // Names and addresses that occur more than once.
    let hosts = text.lines().find_map(|line| line.trim().strip_prefix("reverse_proxy ")).unwrap();
    for host in hosts.split_whitespace().filter_map(|host| host.strip_suffix(":8080")) {
        assert!(text.contains(&format!("\n  {host}:")), "{host}");
    }
    let proxies = given.iter().find(|(name, _)| name == "trusted_proxies").unwrap();
    assert!(text.contains(&format!("subnet: {}", proxies.1)), "{}", proxies.1);
}

#[test]
fn the_compose_file_is_yaml() {
    let (path, _) = file();
    let has_parser = |command: &mut Command| {
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !has_parser(Command::new("python3").args(["-c", "import yaml"])) {
        println!("SKIPPED: python3 has no yaml");
        return;
    }
    let parse = "import sys, yaml; services = yaml.safe_load(open(sys.argv[1]))['services']; \
                 assert services['claimeven-1'] == services['claimeven-2'], services";
    let parsed = Command::new("python3").args(["-c", parse]).arg(path).output().unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
}

#[test]
fn caddy_accepts_the_configuration_of_the_compose_file() {
    let (_, text) = file();
    let lines = text.split("    content: |\n").nth(1).unwrap().lines();
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("      "));
    let content: String =
        lines.flat_map(|line| [line.trim_start_matches("      "), "\n"]).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Caddyfile");
    std::fs::write(&path, content.replace("$$", "$")).unwrap();
    let mut caddy = Command::new("caddy");
    caddy.args(["adapt", "--config"]).arg(path).env("CLAIMEVEN_NAME", "localhost");
    match caddy.output() {
        Ok(adapted) => {
            assert!(adapted.status.success(), "{}", String::from_utf8_lossy(&adapted.stderr));
        }
        Err(error) => println!("SKIPPED: caddy cannot be run ({error})"),
    }
}
