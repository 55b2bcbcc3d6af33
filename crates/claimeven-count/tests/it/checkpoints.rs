//! Counts that are interrupted and resumed, damaged checkpoints, and memory limits.

use std::fs;
use std::path::{Path, PathBuf};

use claimeven_count::{
    Checkpoint, CheckpointError, CountOptions, Error, PlyEvent, PlyReport, count_symbolically,
};
use claimeven_game::{PlyCount, Setup};

use crate::counts::symbolic;

const ENOUGH: u64 = 1 << 30;

/// Why a count ended early.
#[derive(Debug)]
enum End {
    Interrupted,
    Error(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Error(error)
    }
}

impl From<CheckpointError> for End {
    fn from(error: CheckpointError) -> End {
        End::Error(error.into())
    }
}

/// Counts with a checkpoint, up to the beginning of a ply.
fn count(
    setup: &str,
    folder: &Path,
    memory: u64,
    interrupt_at: Option<u32>,
) -> Result<Vec<PlyReport>, End> {
    let mut checkpoint = Checkpoint::open(folder)?;
    let options =
        CountOptions { plies: u32::MAX, threads: 2, memory, checkpoint: Some(&mut checkpoint) };
    let mut plies = Vec::new();
    count_symbolically(parse(setup), options, |event| match event {
        PlyEvent::Progress { ply, .. } if Some(ply) == interrupt_at => Err(End::Interrupted),
        PlyEvent::Progress { .. } => Ok(()),
        PlyEvent::Counted(ply) => {
            plies.push(ply);
            Ok(())
        }
    })?;
    Ok(plies)
}

fn parse(setup: &str) -> Setup {
    setup.parse().unwrap()
}

fn counts(plies: &[PlyReport]) -> Vec<PlyCount> {
    plies.iter().map(|ply| ply.count).collect()
}

fn latest(folder: &Path) -> PathBuf {
    Checkpoint::open(folder).unwrap().latest().unwrap().to_owned()
}

#[test]
fn a_count_resumes_where_it_was_interrupted() {
    let expected = symbolic(parse("4x4"), 1);
    for ply in [1, 2, 9, 15, 16] {
        let folder = tempfile::tempdir().unwrap();
        let interrupted = count("4x4", folder.path(), ENOUGH, Some(ply));
        assert!(matches!(interrupted, Err(End::Interrupted)), "{interrupted:?}");
        let resumed = count("4x4", folder.path(), ENOUGH, None).unwrap();
        assert_eq!(counts(&resumed), expected, "interrupted at ply {ply}");
        // Only the last ply is left, and another count reads everything from it.
        assert_eq!(latest(folder.path()).file_name().unwrap(), "ply-16.count");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(counts(&count("4x4", folder.path(), ENOUGH, None).unwrap()), expected);
    }
}

#[test]
fn a_damaged_file_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    count("3x3, connect 3", folder.path(), ENOUGH, Some(6)).unwrap_err();
    let file = latest(folder.path());
    let whole = fs::read(&file).unwrap();
    let rejected = |what: String| {
        let result = count("3x3, connect 3", folder.path(), ENOUGH, None);
        match result {
            Err(End::Error(Error::Checkpoint(error))) => {
                let setup_changed = matches!(error, CheckpointError::OtherSetup { .. });
                assert!(setup_changed || matches!(error, CheckpointError::Damaged(_)), "{what}");
                assert!(error.to_string().contains("ply-05.count"), "{error}");
            }
            other => panic!("{what}: {other:?}"),
        }
    };
    // The whole header, and a part of the rest.
    let places = || (0..100).chain((100..whole.len()).step_by(whole.len() / 100));
    for byte in places() {
        for bit in [0, 7] {
            let mut damaged = whole.clone();
            damaged[byte] ^= 1 << bit;
            fs::write(&file, damaged).unwrap();
            rejected(format!("bit {bit} of byte {byte}"));
        }
    }
    for length in places() {
        fs::write(&file, &whole[..length]).unwrap();
        rejected(format!("the first {length} bytes"));
    }
    fs::write(&file, [&whole[..], b"more"].concat()).unwrap();
    rejected("more bytes".to_owned());
    fs::write(&file, whole).unwrap();
    count("3x3, connect 3", folder.path(), ENOUGH, None).unwrap();
}

#[test]
fn a_draft_that_a_killed_process_left_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    count("4x3", folder.path(), ENOUGH, Some(6)).unwrap_err();
    fs::write(folder.path().join("ply-06.draft"), "half a ply").unwrap();
    let resumed = count("4x3", folder.path(), ENOUGH, None).unwrap();
    assert_eq!(counts(&resumed), symbolic(parse("4x3"), 1));
    assert!(!folder.path().join("ply-06.draft").exists());
}

#[test]
fn a_checkpoint_of_another_board_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    count("4x4", folder.path(), ENOUGH, Some(6)).unwrap_err();
    for other in ["4x5", "5x4", "4x4, connect 3", "4x4, connect 4, lines"] {
        let rejected = count(other, folder.path(), ENOUGH, None);
        let Err(End::Error(error)) = rejected else { panic!("{rejected:?}") };
        let file = latest(folder.path());
        let message = format!(
            "{} is a count of 4x4, connect 4, standard, not of {}",
            file.display(),
            parse(other)
        );
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_folder_is_locked_by_its_count() {
    let folder = tempfile::tempdir().unwrap();
    let first = Checkpoint::open(folder.path()).unwrap();
    let second = Checkpoint::open(folder.path());
    assert!(matches!(second, Err(CheckpointError::InUse(_))), "{second:?}");
    drop(first);
    Checkpoint::open(folder.path()).unwrap();
}

#[test]
fn a_count_stays_within_its_memory_limit() {
    let expected = symbolic(parse("5x4"), 1);
    let folder = tempfile::tempdir().unwrap();
    let mut rejected = 0;
    for memory in (100_000..).step_by(50_000) {
        match count("5x4", folder.path(), memory, None) {
            Err(End::Error(
                Error::Memory { .. } | Error::Checkpoint(CheckpointError::Memory { .. }),
            )) => rejected += 1,
            Err(other) => panic!("{other:?}"),
            Ok(plies) => {
                assert_eq!(counts(&plies), expected);
                assert!(plies.iter().all(|ply| ply.memory <= memory));
                break;
            }
        }
    }
    assert!(rejected > 3, "{rejected} limits were too low");
}
