//! Networks by their source.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use claimeven_game::Setup;
use claimeven_zero::{Architecture, Model, Network, kept_networks};

use crate::folder::Folder;

fn save(path: &Path, iteration: u64) {
    let mut network = Network::new(Architecture::new(Setup::STANDARD, 0, 4), iteration).unwrap();
    network.set_note("iteration", &iteration.to_string());
    network.save(path).unwrap();
}

fn load(text: &str) -> Result<Arc<Network>, String> {
    Model::new(text).load().map_err(|error| error.to_string())
}

fn iteration(text: &str) -> String {
    load(text).unwrap().note("iteration").unwrap().to_owned()
}

#[test]
fn a_model_is_a_file_a_run_or_one_of_its_iterations() {
    let folder = Folder::new("models");
    let text = folder.0.to_str().unwrap();
    fs::create_dir_all(folder.0.join("networks")).unwrap();
    let missing = format!("no training run in {text}");
    assert_eq!(
        (load(text).unwrap_err(), load(&format!("{text}@2")).unwrap_err()),
        (missing.clone(), missing)
    );
    fs::write(folder.0.join("parameters.json"), "{}").unwrap();
    assert_eq!(load(text).unwrap_err(), format!("the run in {text} has no network yet"));

    for number in [2, 4, 12] {
        save(&folder.0.join(format!("networks/{number:06}.safetensors")), number);
    }
    save(&folder.0.join("best.safetensors"), 4);
    save(&folder.0.join("odd@4"), 9);
    assert_eq!(kept_networks(&folder.0), [2, 4, 12]);
    assert_eq!(iteration(text), "4");
    assert_eq!(iteration(&format!("{text}@12")), "12");
    assert_eq!(iteration(&format!("{text}/best.safetensors")), "4");
    // A file may have any name.
    assert_eq!(iteration(&format!("{text}/odd@4")), "9");
    assert_eq!(
        load(&format!("{text}@3")).unwrap_err(),
        format!(
            "the run in {text} has no network for iteration 3 (3 networks are kept, from iterations 2 to 12)"
        )
    );
    let error = load(&format!("{text}/none")).unwrap_err();
    assert!(error.starts_with(&format!("cannot read {text}/none: ")), "{error}");
}

#[test]
fn a_network_is_loaded_once_and_reloaded_when_its_file_changes() {
    let folder = Folder::new("shared");
    fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("network");
    let text = path.to_str().unwrap();
    save(&path, 1);
    let first = load(text).unwrap();
    assert!(Arc::ptr_eq(&first, &load(text).unwrap()));
    save(&path, 20);
    assert_eq!(iteration(text), "20");
    fs::remove_file(&path).unwrap();
    assert!(load(text).is_err());
}
