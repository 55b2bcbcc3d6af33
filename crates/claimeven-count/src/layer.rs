//! All profiles of one ply.

use crate::budget::{Budget, OutOfMemory};
use crate::node::{Node, Stored};
use crate::profile::{Geometry, ProfileKey};

/// The profiles of one ply that have unfinished positions, by key.
pub(crate) struct Layer<'b> {
    entries: Vec<Entry>,
    /// `None` once it is no longer needed.
    segments: Vec<Option<Segment<'b>>>,
}

/// A profile: how many unfinished positions it has, and where its two diagrams are.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key: ProfileKey,
    pub(crate) unfinished: u64,
    pub(crate) segment: u32,
    pub(crate) start: u32,
    pub(crate) unconnected: u32,
    pub(crate) orderable: u32,
}

impl<'b> Layer<'b> {
    /// Merges the profiles of several threads, each with its own segments. A profile and its mirror
    /// image have equally many positions; only one of the two has been counted.
    pub(crate) fn new(
        geometry: &Geometry,
        parts: Vec<(Vec<Entry>, Vec<Segment<'b>>)>,
    ) -> Layer<'b> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut segments = Vec::new();
        for (part, part_segments) in parts {
            let offset = segments.len() as u32;
            entries.extend(
                part.into_iter().map(|entry| Entry { segment: entry.segment + offset, ..entry }),
            );
            segments.extend(part_segments.into_iter().map(Some));
        }
        entries.sort_unstable_by_key(|entry| entry.key);
        let mut layer = Layer { entries, segments };
        for index in 0..layer.entries.len() {
            let key = layer.entries[index].key;
            let mirrored = geometry.mirrored(key);
            if mirrored < key {
                layer.entries[index].unfinished =
                    layer.find(mirrored).map_or(0, |entry| entry.unfinished);
            }
        }
        layer.entries.retain(|entry| entry.unfinished > 0);
        layer
    }

    /// The empty board.
    pub(crate) fn first() -> Layer<'b> {
        let empty =
            Entry { key: 0, unfinished: 1, segment: 0, start: 0, unconnected: 0, orderable: 0 };
        Layer { entries: vec![empty], segments: Vec::new() }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn find(&self, key: ProfileKey) -> Option<&Entry> {
        let index = self.entries.binary_search_by_key(&key, |entry| entry.key).ok()?;
        Some(&self.entries[index])
    }

    /// The colourings in which nobody has connected four.
    pub(crate) fn unconnected(&self, entry: &Entry) -> Stored<'_> {
        self.slice(entry, 0, entry.unconnected)
    }

    /// The colourings that can be reached by playing in turns.
    pub(crate) fn orderable(&self, entry: &Entry) -> Stored<'_> {
        self.slice(entry, entry.unconnected, entry.orderable)
    }

    fn slice(&self, entry: &Entry, skip: u32, len: u32) -> Stored<'_> {
        if len == 0 {
            return Stored(&[]);
        }
        let segment = self.segments[entry.segment as usize].as_ref();
        let nodes = &segment.expect("a segment is released only when it is no longer needed").nodes;
        let start = (entry.start + skip) as usize;
        Stored(&nodes[start..start + len as usize])
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.unconnected + entry.orderable)).sum()
    }

    /// Frees the memory of all profiles below a key.
    pub(crate) fn release_below(&mut self, key: ProfileKey) {
        for segment in &mut self.segments {
            if segment.as_ref().is_some_and(|segment| segment.last_key < key) {
                *segment = None;
            }
        }
    }
}

/// Nodes of many profiles, in the order of their keys.
///
/// A segment is large enough for the allocator to get it from the system and to return it there,
/// and pages that have not been written take no memory.
pub(crate) struct Segment<'b> {
    budget: &'b Budget,
    nodes: Vec<Node>,
    last_key: ProfileKey,
}

impl<'b> Segment<'b> {
    const CAPACITY: usize = (40 << 20) / size_of::<Node>();

    pub(crate) fn new(budget: &'b Budget) -> Segment<'b> {
        Segment { budget, nodes: Vec::new(), last_key: 0 }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
    }

    pub(crate) fn has_room_for(&self, nodes: usize) -> bool {
        self.nodes.is_empty() || self.nodes.len() + nodes <= Self::CAPACITY
    }

    /// Appends nodes of a profile.
    pub(crate) fn append(
        &mut self,
        key: ProfileKey,
        nodes: impl ExactSizeIterator<Item = Node>,
    ) -> Result<(), OutOfMemory> {
        self.budget.reserve(nodes.len() * size_of::<Node>())?;
        if self.nodes.capacity() == 0 {
            self.nodes.reserve_exact(nodes.len().max(Self::CAPACITY));
        }
        self.nodes.extend(nodes);
        self.last_key = key;
        Ok(())
    }
}

impl Drop for Segment<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes());
    }
}
