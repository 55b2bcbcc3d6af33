//! Which answers a proof uses. With transpositions, the smallest proof of a position does not
//! consist of the smallest proofs of its children, because parts that several of them share count
//! once.
//!
//! The selection is improved by local search: each answer of the owner in turn is removed, with
//! everything that only it needs, and replaced by the answer that adds least to the rest of the
//! proof.

use std::collections::HashMap;

/// The id of a position in which the opponent is to move.
pub(crate) type Id = usize;

/// What is known about a position in which the opponent is to move.
pub(crate) enum Known<'a> {
    /// It is closed, with this number of overrides.
    Closed(u32),
    /// For each reply, the owner's answers.
    Expanded(&'a [Vec<Id>]),
    /// Nothing.
    Open,
}

/// The selected proof.
pub(crate) struct Selection<'a, F> {
    /// What is known about a position, and the size of its smallest proof as a tree.
    known: F,
    /// The answer to a reply, by the list of all possible answers to it.
    answers: HashMap<&'a [Id], Choice>,
    /// How often a position is used.
    uses: HashMap<Id, u32>,
    size: u32,
}

#[derive(Clone, Copy)]
struct Choice {
    answer: Id,
    uses: u32,
}

/// The maximum number of passes over the whole proof.
const MAX_PASSES: u32 = 8;

impl<'a, F: Fn(Id) -> (Known<'a>, Option<u32>)> Selection<'a, F> {
    /// A small selection of answers for a proof of `root`, which must be proven.
    pub(crate) fn new(root: Id, known: F) -> Self {
        let (answers, uses) = (HashMap::new(), HashMap::new());
        let mut selection = Selection { known, answers, uses, size: 0 };
        selection.add(root);
        for _ in 0..MAX_PASSES {
            let before = selection.size;
            selection.improve();
            if selection.size == before {
                break;
            }
        }
        selection
    }

    /// The number of positions, the owner's and the opponent's, and overrides.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// The selected one of these answers.
    pub(crate) fn answer(&self, answers: &[Id]) -> Option<Id> {
        self.answers.get(answers).map(|choice| choice.answer)
    }

    /// The positions of the proof in which the opponent is to move.
    pub(crate) fn positions(&self) -> impl Iterator<Item = Id> {
        self.uses.keys().copied()
    }

    fn improve(&mut self) {
        let mut all: Vec<(&'a [Id], Id)> =
            self.answers.iter().map(|(answers, choice)| (*answers, choice.answer)).collect();
        all.sort_unstable();
        for (answers, _) in all {
            let proven: Vec<Id> =
                answers.iter().copied().filter(|&id| (self.known)(id).1.is_some()).collect();
            let Some(&Choice { answer: current, .. }) = self.answers.get(answers) else { continue };
            if proven.len() < 2 {
                continue;
            }
            self.remove(current);
            let mut best = (u32::MAX, current);
            for &answer in &proven {
                let before = self.size;
                self.add(answer);
                let cost = self.size - before;
                self.remove(answer);
                // The current answer wins ties, so that the passes terminate.
                if (cost, answer != current) < (best.0, best.1 != current) {
                    best = (cost, answer);
                }
            }
            self.add(best.1);
            if let Some(choice) = self.answers.get_mut(answers) {
                choice.answer = best.1;
            }
        }
    }

    /// Adds one use of a position.
    fn add(&mut self, id: Id) {
        let uses = self.uses.entry(id).or_default();
        *uses += 1;
        if *uses > 1 {
            return;
        }
        self.size += 1;
        match (self.known)(id).0 {
            Known::Closed(overrides) => self.size += overrides,
            Known::Open => {}
            Known::Expanded(replies) => {
                for answers in replies {
                    self.add_answers(answers);
                }
            }
        }
    }

    fn add_answers(&mut self, answers: &'a [Id]) {
        if let Some(choice) = self.answers.get_mut(answers) {
            choice.uses += 1;
            return;
        }
        let rank =
            |&id: &Id| (!self.uses.contains_key(&id), (self.known)(id).1.unwrap_or(u32::MAX));
        let proven = answers.iter().copied().filter(|&id| (self.known)(id).1.is_some());
        let Some(answer) = proven.min_by_key(rank) else { return };
        self.answers.insert(answers, Choice { answer, uses: 1 });
        self.size += 1;
        self.add(answer);
    }

    /// Removes one use of a position.
    fn remove(&mut self, id: Id) {
        let Some(uses) = self.uses.get_mut(&id) else { return };
        *uses -= 1;
        if *uses > 0 {
            return;
        }
        self.uses.remove(&id);
        self.size -= 1;
        match (self.known)(id).0 {
            Known::Closed(overrides) => self.size -= overrides,
            Known::Open => {}
            Known::Expanded(replies) => {
                for answers in replies {
                    self.remove_answers(answers);
                }
            }
        }
    }

    fn remove_answers(&mut self, answers: &'a [Id]) {
        let Some(choice) = self.answers.get_mut(answers) else { return };
        choice.uses -= 1;
        if choice.uses > 0 {
            return;
        }
        let answer = choice.answer;
        self.answers.remove(answers);
        self.size -= 1;
        self.remove(answer);
    }
}
