use claimeven_coach::{Claim, Goal, ProofSearch, ProofTree, check_proof, embedded_proof};
use claimeven_game::{Column, Outcome, Player, Position, Ruleset, Setup};

fn build(claim: Claim) -> Vec<u8> {
    let mut search = ProofSearch::new(claim, 1, 1, None).unwrap();
    search.run(|progress, _| progress.proven.is_none());
    search.proof().expect("the search ended with a proof")
}

/// The first player wins on 5x4 with connect 3, and both hold a draw on boards with connect 4.
fn claims() -> [Claim; 3] {
    let setup = |cols, rows, connect| Setup::new(cols, rows, connect, Ruleset::Standard).unwrap();
    [
        Claim { setup: setup(5, 4, 3), owner: Player::First, goal: Goal::Win },
        Claim { setup: setup(4, 4, 4), owner: Player::Second, goal: Goal::Draw },
        Claim { setup: setup(5, 4, 4), owner: Player::First, goal: Goal::Draw },
    ]
}

#[test]
fn proofs_of_small_boards_are_found_and_pass_the_check() {
    for claim in claims() {
        let bytes = build(claim);
        let report = check_proof(&bytes, |_| ()).unwrap();
        assert!(report.diagrams > 0, "{claim}: {report:?}");
        let proof = ProofTree::from_bytes(&bytes).unwrap();
        assert_eq!(proof.claim(), claim);
        assert_eq!(proof.moves(), report.owner_positions);
        assert_eq!(proof.leaves(), report.leaves);
        assert_eq!(proof.diagrams(), report.diagrams);
        assert_eq!(proof.overrides(), report.overrides);
    }
}

/// Plays the owner's side by the proof against all replies.
#[test]
fn a_proof_answers_every_reply_until_the_end() {
    for claim in claims() {
        let proof = ProofTree::from_bytes(&build(claim)).unwrap();
        let mut waiting = vec![Position::new(claim.setup)];
        let mut seen = std::collections::HashSet::new();
        while let Some(position) = waiting.pop() {
            match position.outcome() {
                Some(Outcome::Win(player)) => assert_eq!(player, claim.owner, "{position}"),
                Some(Outcome::Draw) => assert_eq!(claim.goal, Goal::Draw, "{position}"),
                None => {
                    let columns: Vec<Column> = if position.player() == claim.owner {
                        vec![proof.answer(&position).unwrap_or_else(|| panic!("{position}"))]
                    } else {
                        position.legal().collect()
                    };
                    for column in columns {
                        let mut after = position;
                        after.play(column).unwrap();
                        if seen.insert(after.key()) {
                            waiting.push(after);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_checker_detects_damage() {
    let claim = claims()[0];
    let bytes = build(claim);
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    assert!(check_proof(&bytes[..bytes.len() - 1], |_| ()).is_err(), "truncated");
    assert!(check_proof(b"claimeven proof 2: x\n", |_| ()).is_err(), "another header");
    assert!(ProofTree::from_bytes(b"").is_err());
    // The tree does not prove the claim of the other player.
    let other = String::from_utf8_lossy(&bytes[..header]).replace("X wins", "O wins");
    let forged = [other.as_bytes(), &bytes[header..]].concat();
    assert!(check_proof(&forged, |_| ()).is_err(), "another claim");
    let mut found = 0;
    for bit in 0..8 * (bytes.len() - header - 1) {
        let mut damaged = bytes.clone();
        damaged[header + 1 + bit / 8] ^= 1 << (bit % 8);
        found += usize::from(check_proof(&damaged, |_| ()).is_err());
    }
    assert!(found > 0, "no damage was detected");
}

#[test]
fn a_false_claim_is_rejected() {
    let claim = Claim { setup: claims()[1].setup, owner: Player::First, goal: Goal::Win };
    let error = ProofSearch::new(claim, 1, 1, None).err().expect("4x4 is a draw").to_string();
    assert!(error.contains("false claim"), "{error}");
}

#[test]
fn a_search_resumes_from_its_checkpoint() {
    let claim = claims()[2];
    let path = std::env::temp_dir().join(format!("claimeven-proof-{}.part", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut search = ProofSearch::new(claim, 1, 1, Some(&path)).unwrap();
    search.run(|progress, _| progress.proven.is_none());
    let size = check_proof(&search.proof().unwrap(), |_| ()).unwrap().opponent_positions;
    drop(search);
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines > 1);
    let mut again = ProofSearch::new(claim, 1, 1, Some(&path)).unwrap();
    again.run(|progress, _| progress.proven.is_none());
    let resumed = check_proof(&again.proof().unwrap(), |_| ()).unwrap().opponent_positions;
    assert!(resumed <= size + 2, "{resumed} after {size}");
    let foreign = ProofSearch::new(claims()[0], 1, 1, Some(&path)).err().unwrap().to_string();
    assert_eq!(foreign, "the checkpoint belongs to another proof");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_embedded_proofs_pass_the_check() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/proofs");
    for (file, claim, max_positions) in [
        ("7x6.proof", "7x6, connect 4, standard, X wins", 10_000),
        ("6x6.proof", "6x6, connect 4, standard, O wins", 1_500),
    ] {
        let bytes = std::fs::read(format!("{folder}/{file}")).unwrap();
        let report = check_proof(&bytes, |_| ()).unwrap();
        assert_eq!(report.claim, claim);
        let positions = report.owner_positions + report.opponent_positions + report.overrides;
        assert!(positions < max_positions, "{file}: {positions}");
        let proof = embedded_proof(ProofTree::from_bytes(&bytes).unwrap().claim().setup).unwrap();
        assert_eq!(proof.claim().to_string(), claim);
    }
}
