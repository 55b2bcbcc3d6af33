//! A naive second implementation of every heuristic, group by group and cell by cell.

use claimeven_game::{Cell, Column, Player, Position, with_board};
use claimeven_search::{GroupWeights, Heuristic};
use proptest::prelude::*;

use crate::positions::positions;

fn points(heuristic: &Heuristic, position: &Position, player: Player) -> i32 {
    with_board!(position, board => heuristic.points(&board, player))
}

/// A position that can be indexed on and off the board.
struct Naive<'a>(&'a Position);

const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, -1), (1, 1)];

impl Naive<'_> {
    fn cell(&self, (column, row): (i32, i32)) -> Option<Cell> {
        let setup = self.0.setup();
        let column = Column::from_index(usize::try_from(column).ok()?)?;
        let row = u8::try_from(row).ok()?;
        let inside = column.number() <= setup.cols() && row < setup.rows();
        inside.then_some(Cell { column, row })
    }

    fn disc(&self, place: (i32, i32)) -> Option<Player> {
        self.0.disc(self.cell(place)?)
    }

    fn places(&self) -> impl Iterator<Item = (i32, i32)> {
        let setup = self.0.setup();
        (0..i32::from(setup.cols()))
            .flat_map(move |column| (0..i32::from(setup.rows())).map(move |row| (column, row)))
    }

    fn groups(&self) -> Vec<Vec<(i32, i32)>> {
        let connect = i32::from(self.0.setup().connect());
        let group = |(column, row): (i32, i32), (right, up): (i32, i32)| {
            (0..connect).map(|step| (column + step * right, row + step * up)).collect::<Vec<_>>()
        };
        self.places()
            .flat_map(|place| DIRECTIONS.map(|direction| group(place, direction)))
            .filter(|group| group.iter().all(|&place| self.cell(place).is_some()))
            .collect()
    }

    /// The number of cells that a player lacks in a group; `None` if it is not open to them or has
    /// no disc.
    fn missing(&self, group: &[(i32, i32)], player: Player) -> Option<usize> {
        let count = |owner| group.iter().filter(|&&place| self.disc(place) == owner).count();
        let open = count(Some(player.opponent())) == 0 && count(Some(player)) > 0;
        open.then(|| count(None))
    }

    fn group_points(&self, player: Player, weights: GroupWeights) -> i64 {
        let groups = self.groups();
        let of_group = |group: &Vec<_>| match self.missing(group, player) {
            Some(0) => weights.complete,
            Some(1) => weights.one_short,
            Some(2) => weights.two_short,
            _ => 0,
        };
        groups.iter().map(|group| i64::from(of_group(group))).sum()
    }

    fn centre_discs(&self, player: Player) -> i64 {
        let cols = i32::from(self.0.setup().cols());
        let is_centre = |column| column == (cols - 1) / 2 || column == cols / 2;
        let own = self
            .places()
            .filter(|&(column, row)| is_centre(column) && self.disc((column, row)) == Some(player));
        own.count() as i64
    }

    fn run_points(&self, player: Player) -> i64 {
        let longest = i32::from(self.0.setup().connect()) - 1;
        let run = |(column, row): (i32, i32), (right, up): (i32, i32)| {
            let steps = (1..=longest).take_while(|step| {
                self.disc((column + step * right, row + step * up)) == Some(player)
            });
            steps.count() as u32
        };
        let of_cell = |place| {
            let directions = DIRECTIONS.into_iter().flat_map(|(x, y)| [(x, y), (-x, -y)]);
            match directions.map(|direction| run(place, direction)).max() {
                None | Some(0) => 0,
                Some(longest) => 100_i64.pow(longest - 1).min(1_000_000_000),
            }
        };
        self.places().filter(|&place| self.disc(place).is_none()).map(of_cell).sum()
    }

    /// The sum of the influence of groups on their empty cells, as `influence.rs` describes it.
    fn influence_points(&self, player: Player) -> i64 {
        let rows = i32::from(self.0.setup().rows());
        let height = |column: i32| {
            (0..rows).filter(|&row| self.disc((column, row)).is_some()).count() as i32
        };
        let parity = i32::from(player == Player::Second);
        let influence = |missing: usize, (column, row): (i32, i32)| {
            let [open, next, high, claimed] = match missing {
                1 => [32, 20, 24, 24],
                2 => [6, 4, 3, 2],
                _ => return 0,
            };
            let is_claimed = rows % 2 == 0 && row % 2 == parity;
            match row - height(column) {
                0 => open,
                1 => next + if is_claimed { claimed } else { 0 },
                _ => high + if is_claimed { claimed } else { 0 },
            }
        };
        let of_group = |group: &Vec<(i32, i32)>| {
            let missing = self.missing(group, player)?;
            let empty = group.iter().filter(|&&place| self.disc(place).is_none());
            Some(empty.map(|&place| influence(missing, place)).sum::<i64>())
        };
        self.groups().iter().filter_map(of_group).sum()
    }
}

/// The table of the named heuristics: own groups, the opponent's, centre, finished.
fn weights_of(name: &str) -> Option<([i32; 3], [i32; 3], i32, i32)> {
    match name {
        "sawwan" => Some(([99_999, 5, 2], [0, -999, 0], 3, 9_999_999)),
        "galli" => Some(([100, 5, 2], [0, -4, 0], 3, 10_000_000)),
        "nitk" => Some(([0, 10, 7], [0, -150, 0], 7, 1_000_000_000)),
        "bits" => Some(([1_000_000, 100, 10], [-1_000_000, -100, -10], 0, 1_000_000_000)),
        _ => None,
    }
}

fn naive_points(name: &str, position: &Position, player: Player) -> i64 {
    let naive = Naive(position);
    let opponent = player.opponent();
    if let Some((own, other, centre, _)) = weights_of(name) {
        let weights = |[complete, one_short, two_short]: [i32; 3]| GroupWeights {
            complete,
            one_short,
            two_short,
        };
        return naive.group_points(player, weights(own))
            + naive.group_points(opponent, weights(other))
            + i64::from(centre) * naive.centre_discs(player);
    }
    match name {
        "runs" => naive.run_points(player) - naive.run_points(opponent),
        "influence" => naive.influence_points(player) - naive.influence_points(opponent),
        "terminal" => 0,
        _ => panic!("{name} has no naive implementation"),
    }
}

fn finished(name: &str) -> i32 {
    match name {
        "runs" | "influence" => 1_000_000,
        "terminal" => 1_000,
        _ => weights_of(name).unwrap().3,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn all_evaluations_agree_with_the_naive_ones(position in positions(70)) {
        for name in Heuristic::names() {
            let heuristic = Heuristic::named(name).unwrap();
            prop_assert_eq!(heuristic.finished(), finished(name));
            let max = i64::from(finished(name)) - i64::from(position.setup().cells()) - 1;
            for player in Player::BOTH {
                let expected = naive_points(name, &position, player).clamp(-max, max);
                let found = points(&heuristic, &position, player);
                prop_assert_eq!(i64::from(found), expected, "{} for {}\n{}", name, player, position);
            }
        }
    }

    #[test]
    fn evaluations_are_symmetric(position in positions(70)) {
        for name in Heuristic::names() {
            let heuristic = Heuristic::named(name).unwrap();
            for player in Player::BOTH {
                let here = points(&heuristic, &position, player);
                prop_assert_eq!(here, points(&heuristic, &position.mirror(), player), "{}", name);
            }
        }
    }
}

#[test]
fn weights_are_read_from_toml() {
    let text = "centre = 3\nfinished = 10_000_000\n\
        own = { complete = 100, one_short = 5, two_short = 2 }\nother = { one_short = -4 }\n";
    let read = Heuristic::from_toml("mine.toml".to_owned(), text).unwrap();
    let galli = Heuristic::named("galli").unwrap();
    for moves in ["", "4453", "4455662", "1212334"] {
        let position = Position::from_moves(claimeven_game::Setup::STANDARD, moves).unwrap();
        for player in Player::BOTH {
            let [read, galli] = [&read, &galli].map(|e| points(e, &position, player));
            assert_eq!(read, galli, "{moves}");
        }
    }
}

#[test]
fn invalid_weights_are_rejected_with_name_and_line() {
    let error = |text| Heuristic::from_toml("mine.toml".to_owned(), text).unwrap_err().to_string();
    assert!(
        error("centre = 1\ncorner = 5\n").starts_with("mine.toml: line 2: unknown field `corner`")
    );
    assert_eq!(error("finished = 5"), "mine.toml: finished = 5 is not between 1000 and 1000000000");
    assert!(error("centre = 'x'").starts_with("mine.toml: line 1: invalid type"));
    let missing = Heuristic::from_file("no-such-file.toml".as_ref()).unwrap_err();
    assert!(missing.to_string().starts_with("no-such-file.toml: "), "{missing}");
    assert!(std::error::Error::source(&missing).is_some());
    // Parsing accepts only names and reads no file.
    assert!("no-such-file.toml".parse::<Heuristic>().is_err());
}
