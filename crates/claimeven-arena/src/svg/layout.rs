//! The layout of a tree: parents are centred above their children, and nothing overlaps.

/// A node to be placed.
pub(super) struct Item {
    pub(super) width: f64,
    /// Later items, from the left.
    pub(super) children: Vec<usize>,
}

/// The middle of each item and the width of the whole. Items in the same row are at least a gap
/// apart, and none is left of zero.
///
/// Subtrees are moved together as close as their outlines allow (Reingold and Tilford, 1981).
pub(super) fn place(items: &[Item], gap: f64) -> (Vec<f64>, f64) {
    let mut outlines: Vec<Outline> = Vec::new();
    outlines.resize_with(items.len(), Outline::default);
    let mut from_parent = vec![0.0; items.len()];

    // 1. From the leaves up, compute the outline of each subtree.
    for (index, item) in items.iter().enumerate().rev() {
        let mut below = Outline::default();
        for &child in &item.children {
            let outline = std::mem::take(&mut outlines[child]);
            from_parent[child] = below.push(outline, gap);
        }
        let ends = item.children.first().zip(item.children.last());
        let middle = ends
            .map_or(0.0, |(&first, &last)| f64::midpoint(from_parent[first], from_parent[last]));
        for &child in &item.children {
            from_parent[child] -= middle;
        }
        outlines[index] = below.under(item.width, middle);
    }

    // 2. From the root down, compute the centres.
    let Some(whole) = outlines.first() else { return (Vec::new(), 0.0) };
    let left = whole.rows.iter().map(|row| row.0).fold(f64::INFINITY, f64::min);
    let right = whole.rows.iter().map(|row| row.1).fold(f64::NEG_INFINITY, f64::max);
    let mut middles = vec![-left; items.len()];
    for (index, item) in items.iter().enumerate() {
        for &child in &item.children {
            middles[child] = middles[index] + from_parent[child];
        }
    }
    (middles, right - left)
}

/// The left and right end of each row of a subtree.
#[derive(Default)]
struct Outline {
    rows: Vec<(f64, f64)>,
}

impl Outline {
    /// Adds another subtree on the right and returns how far it had to be moved.
    fn push(&mut self, other: Outline, gap: f64) -> f64 {
        let pairs = self.rows.iter().zip(&other.rows);
        let distances = pairs.map(|(own, theirs)| own.1 + gap - theirs.0);
        let shift = distances.reduce(f64::max).unwrap_or(0.0);
        for (row, (left, right)) in other.rows.into_iter().enumerate() {
            match self.rows.get_mut(row) {
                Some(own) => own.1 = right + shift,
                None => self.rows.push((left + shift, right + shift)),
            }
        }
        shift
    }

    /// The outline with an item on top, whose middle becomes zero.
    fn under(self, width: f64, middle: f64) -> Outline {
        let top = (-width / 2.0, width / 2.0);
        let below = self.rows.into_iter().map(|(left, right)| (left - middle, right - middle));
        Outline { rows: [top].into_iter().chain(below).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, place};

    /// A random tree whose parents come before their children.
    fn random_tree(random: &mut fastrand::Rng) -> Vec<Item> {
        let count = random.usize(1..80);
        let item = |width| Item { width, children: Vec::new() };
        let mut items: Vec<Item> = (0..count).map(|_| item(10.0 + 60.0 * random.f64())).collect();
        for index in 1..count {
            let parent = random.usize(index.saturating_sub(9)..index);
            items[parent].children.push(index);
        }
        items
    }

    #[test]
    fn nothing_overlaps_and_parents_are_centred_above_their_children() {
        const GAP: f64 = 8.0;
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let items = random_tree(&mut random);
            let (middles, width) = place(&items, GAP);
            let mut row = vec![0];
            while !row.is_empty() {
                let mut end = -GAP;
                for &item in &row {
                    let left = middles[item] - items[item].width / 2.0;
                    assert!(left >= end + GAP - 1e-6);
                    end = left + items[item].width;
                    if let [first, .., last] = items[item].children[..] {
                        let middle = f64::midpoint(middles[first], middles[last]);
                        assert!((middle - middles[item]).abs() < 1e-6);
                    }
                }
                assert!(end <= width + 1e-6);
                row = row.iter().flat_map(|&item| items[item].children.clone()).collect();
            }
        }
    }

    #[test]
    fn a_chain_is_as_wide_as_its_widest_item() {
        let chain = [(10.0, vec![1]), (30.0, vec![2]), (20.0, vec![])];
        let items = chain.map(|(width, children)| Item { width, children });
        assert_eq!(place(&items, 5.0), (vec![15.0; 3], 30.0));
    }
}
