//! Positions as PNG and games as animated GIF, for messengers, slides and web pages.

#![allow(clippy::cast_sign_loss, reason = "places and colours in a picture are never negative")]

use std::collections::HashMap;
use std::f32::consts::FRAC_1_SQRT_2;

use claimeven_game::{Cell, Game, Player, Position};

/// A picture of a board, in pixels.
///
/// ```
/// use claimeven_arena::Picture;
/// use claimeven_game::{Player, Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4453")?;
/// let png = Picture::of(&position, None, Player::First, Picture::CARD).to_png();
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), claimeven_game::MoveTextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Picture {
    layout: Layout,
    red: Player,
    pixels: Vec<Rgb>,
}

type Rgb = [u8; 3];

const BACKGROUND: Rgb = [0xf5, 0xf3, 0xee];
const PLATE: Rgb = [0x2d, 0x5b, 0xab];
const HOLE: Rgb = [0xe6, 0xeb, 0xf4];
const WINNING: Rgb = [0xff, 0xff, 0xff];

/// The face of a disc, its rim and the mark on it.
const RED: [Rgb; 3] = [[0xe0, 0x49, 0x4a], [0xb8, 0x32, 0x38], [0xbd, 0x37, 0x3b]];
const YELLOW: [Rgb; 3] = [[0xf6, 0xc2, 0x44], [0xd1, 0x98, 0x2a], [0xd4, 0x9d, 0x2c]];

impl Picture {
    /// Width and height of the preview that messengers show for a link.
    pub const CARD: [u16; 2] = [1200, 630];

    /// Draws a position as large as possible, with red discs for one player and yellow ones for the
    /// other. The disc of the last move is marked.
    pub fn of(position: &Position, last: Option<Cell>, red: Player, size: [u16; 2]) -> Picture {
        let layout = Layout::new(position, size);
        let pixels = vec![BACKGROUND; usize::from(size[0]) * usize::from(size[1])];
        let mut picture = Picture { layout, red, pixels };
        picture.draw_plate();
        for cell in Cell::in_reading_order(position.setup()) {
            picture.draw_cell(cell, position.disc(cell), last == Some(cell));
        }
        picture.draw_winning_rows(position);
        picture
    }

    /// The picture as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let [width, height] = self.layout.size.map(u32::from);
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        let (palette, indices) = self.palette();
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette.concat());
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&indices)?;
            writer.finish()
        });
        written.expect("writing to a vector cannot fail, and the size is correct");
        bytes
    }

    /// The picture after a move, given the cells of the previous move and of this one.
    fn after(&self, position: &Position, [before, last]: [Option<Cell>; 2]) -> Picture {
        if Player::BOTH.iter().any(|&player| !position.lines(player).is_empty()) {
            return Picture::of(position, last, self.red, self.layout.size);
        }
        let mut picture = self.clone();
        for cell in [before, last].into_iter().flatten() {
            picture.draw_cell(cell, position.disc(cell), last == Some(cell));
        }
        picture
    }

    /// The distinct colours, at most 256 of them, and the index of every pixel's colour.
    fn palette(&self) -> (Vec<Rgb>, Vec<u8>) {
        let mut palette = Vec::new();
        let mut known = HashMap::new();
        let indices = self.pixels.iter().map(|&colour| {
            *known.entry(colour).or_insert_with(|| {
                if palette.len() < 256 {
                    palette.push(colour);
                    (palette.len() - 1) as u8
                } else {
                    nearest(&palette, colour)
                }
            })
        });
        let indices = indices.collect();
        (palette, indices)
    }

    fn draw_plate(&mut self) {
        let Layout { left, top, cell, cols, rows, .. } = self.layout;
        let margin = cell * 0.18;
        let half = [cols * cell / 2.0 + margin, rows * cell / 2.0 + margin];
        let centre = [left + cols * cell / 2.0, top + rows * cell / 2.0];
        let radius = cell * 0.3;
        self.fill(centre, half, PLATE, |x, y| {
            let x = (x.abs() - half[0] + radius).max(0.0);
            let y = (y.abs() - half[1] + radius).max(0.0);
            x.hypot(y) - radius
        });
    }

    fn draw_cell(&mut self, cell: Cell, disc: Option<Player>, is_last: bool) {
        let centre = self.layout.centre(cell);
        let unit = self.layout.cell;
        // Covers what was there before, including its soft edges.
        self.fill(centre, [0.45 * unit; 2], PLATE, |_, _| f32::MIN);
        let Some(player) = disc else {
            self.fill_circle(centre, 0.42 * unit, HOLE);
            return;
        };
        let is_red = player == self.red;
        let [face, rim, mark] = if is_red { RED } else { YELLOW };
        self.fill_circle(centre, 0.42 * unit, rim);
        self.fill_circle(centre, 0.37 * unit, face);
        // Each colour has a shape, so that nobody has to distinguish players by colour.
        let (size, stroke) = (0.2 * unit, 0.028 * unit);
        self.fill(centre, [size + stroke; 2], mark, |x, y| {
            let edge =
                if is_red { x.hypot(y) - size } else { (x.abs() + y.abs() - size) * FRAC_1_SQRT_2 };
            edge.abs() - stroke
        });
        if is_last {
            self.fill_circle(centre, 0.075 * unit, WINNING);
        }
    }

    fn draw_winning_rows(&mut self, position: &Position) {
        for player in Player::BOTH {
            for row in position.lines(player) {
                let [Some(&first), Some(&last)] = [row.first(), row.last()] else { continue };
                let [a, b] = [first, last].map(|cell| self.layout.centre(cell));
                let half = [(b[0] - a[0]) / 2.0, (b[1] - a[1]) / 2.0];
                let middle = [a[0] + half[0], a[1] + half[1]];
                let stroke = 0.045 * self.layout.cell;
                let length = half[0] * half[0] + half[1] * half[1];
                let bounds = half.map(|half| half.abs() + stroke);
                self.fill(middle, bounds, WINNING, |x, y| {
                    let along = ((x * half[0] + y * half[1]) / length).clamp(-1.0, 1.0);
                    (x - along * half[0]).hypot(y - along * half[1]) - stroke
                });
            }
        }
    }

    fn fill_circle(&mut self, centre: [f32; 2], radius: f32, colour: Rgb) {
        self.fill(centre, [radius; 2], colour, |x, y| x.hypot(y) - radius);
    }

    /// Fills the area where the signed distance from a shape's edge is negative, with a soft edge
    /// of one pixel. The distance is relative to the centre, within the bounds.
    fn fill(
        &mut self,
        centre: [f32; 2],
        bounds: [f32; 2],
        colour: Rgb,
        distance: impl Fn(f32, f32) -> f32,
    ) {
        // A few steps keep the palette small.
        const STEPS: f32 = 6.0;
        let [columns, lines] = [0, 1].map(|axis| {
            let from = (centre[axis] - bounds[axis] - 1.0).max(0.0) as usize;
            let to = (centre[axis] + bounds[axis] + 2.0).max(0.0) as usize;
            from..to.min(self.layout.size[axis].into())
        });
        let width = usize::from(self.layout.size[0]);
        for line in lines {
            for column in columns.clone() {
                let (x, y) = (column as f32 + 0.5 - centre[0], line as f32 + 0.5 - centre[1]);
                let cover = ((0.5 - distance(x, y)).clamp(0.0, 1.0) * STEPS).round() / STEPS;
                let pixel = &mut self.pixels[line * width + column];
                for (old, new) in pixel.iter_mut().zip(colour) {
                    let mixed = f32::from(*old) * (1.0 - cover) + f32::from(new) * cover;
                    *old = mixed.round() as u8;
                }
            }
        }
    }
}

/// The layout of the cells in a picture.
#[derive(Clone, Copy, Debug)]
struct Layout {
    size: [u16; 2],
    /// The upper left corner of the cells.
    left: f32,
    top: f32,
    /// The width of a cell.
    cell: f32,
    cols: f32,
    rows: f32,
}

impl Layout {
    fn new(position: &Position, size: [u16; 2]) -> Layout {
        /// The margin around the cells, in cells.
        const ROOM: f32 = 0.7;
        let setup = position.setup();
        let (cols, rows) = (f32::from(setup.cols()), f32::from(setup.rows()));
        let [width, height] = size.map(f32::from);
        let cell = (width / (cols + ROOM)).min(height / (rows + ROOM));
        let (left, top) = ((width - cols * cell) / 2.0, (height - rows * cell) / 2.0);
        Layout { size, left, top, cell, cols, rows }
    }

    fn centre(&self, cell: Cell) -> [f32; 2] {
        let column = cell.column.index() as f32;
        let row = f32::from(cell.row);
        let x = self.left + (column + 0.5) * self.cell;
        let y = self.top + (self.rows - 0.5 - row) * self.cell;
        [x, y]
    }
}

/// A game as an animated GIF that repeats forever, with one frame for each move.
///
/// ```
/// use claimeven_arena::game_gif;
/// use claimeven_game::{Game, Player, Setup};
///
/// let gif = game_gif(&Game::parse(Setup::STANDARD, "4453")?, Player::First, [320, 280]);
/// assert!(gif.starts_with(b"GIF89a"));
/// # Ok::<(), claimeven_game::MoveTextError>(())
/// ```
pub fn game_gif(game: &Game, red: Player, size: [u16; 2]) -> Vec<u8> {
    /// How long a move and the final position are shown, in hundredths of a second.
    const MOVE: u16 = 80;
    const END: u16 = 400;
    let mut position = Position::new(game.position().setup());
    let mut shown = Picture::of(&position, None, red, size);
    let mut last = None;
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, size[0], size[1], &[])
        .expect("writing to a vector cannot fail");
    let written = encoder.set_repeat(gif::Repeat::Infinite).and_then(|()| {
        encoder.write_frame(&frame(&shown, [[0, size[0]], [0, size[1]]], MOVE))?;
        for (index, &column) in game.moves().iter().enumerate() {
            let cell = Cell::in_reading_order(position.setup())
                .rfind(|&cell| cell.column == column && position.disc(cell).is_none());
            position.play(column).expect("a game's moves are legal");
            let next = shown.after(&position, [last, cell]);
            last = cell;
            let delay = if index + 1 == game.moves().len() { END } else { MOVE };
            encoder.write_frame(&frame(&next, changed(&shown, &next), delay))?;
            shown = next;
        }
        Ok(())
    });
    written.expect("writing to a vector cannot fail");
    drop(encoder);
    bytes
}

/// A part of a picture as a frame.
fn frame(picture: &Picture, [columns, lines]: [[u16; 2]; 2], delay: u16) -> gif::Frame<'static> {
    let width = usize::from(picture.layout.size[0]);
    let part = |[from, to]: [u16; 2]| usize::from(from)..usize::from(to);
    let pixels = part(lines)
        .flat_map(|line| part(columns).map(move |column| picture.pixels[line * width + column]))
        .collect();
    let (palette, indices) = Picture { pixels, ..*picture }.palette();
    let mut frame = gif::Frame::from_palette_pixels(
        columns[1] - columns[0],
        lines[1] - lines[0],
        indices,
        palette.concat(),
        None,
    );
    frame.left = columns[0];
    frame.top = lines[0];
    frame.delay = delay;
    frame
}

/// The smallest rectangle outside of which two pictures are equal, as ranges of pixel columns and
/// rows.
fn changed(old: &Picture, new: &Picture) -> [[u16; 2]; 2] {
    let width = usize::from(new.layout.size[0]);
    let differing = old.pixels.iter().zip(&new.pixels).enumerate();
    let differing = differing.filter(|(_, (old, new))| old != new);
    let mut range = [[u16::MAX, 0]; 2];
    for (index, _) in differing {
        for (range, place) in range.iter_mut().zip([index % width, index / width]) {
            let place = place as u16;
            *range = [range[0].min(place), range[1].max(place + 1)];
        }
    }
    if range[0][1] == 0 { [[0, 1]; 2] } else { range }
}

fn nearest(palette: &[Rgb], colour: Rgb) -> u8 {
    let distance = |other: &Rgb| -> u32 {
        other.iter().zip(colour).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let nearest = (0..).zip(palette).min_by_key(|(_, other)| distance(other));
    nearest.map_or(0, |(index, _): (u16, _)| index as u8)
}

#[cfg(test)]
mod tests {
    use claimeven_game::{Cell, Column, Game, Player, Position, Ruleset, Setup};

    use super::{HOLE, Picture, RED, Rgb, WINNING, YELLOW, changed, game_gif};

    fn decode(bytes: &[u8]) -> (u32, u32, Vec<Rgb>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("it is a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
        let info = reader.next_frame(&mut pixels).expect("it has a picture");
        let pixels = pixels[..info.buffer_size()].chunks(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]);
        (info.width, info.height, pixels.collect())
    }

    #[test]
    fn discs_are_drawn_at_their_cells() {
        let position = Position::from_moves(Setup::STANDARD, "4453").expect("legal");
        let picture = Picture::of(&position, None, Player::Second, Picture::CARD);
        let (width, height, pixels) = decode(&picture.to_png());
        assert_eq!([width, height], [1200, 630]);
        for cell in Cell::in_reading_order(Setup::STANDARD) {
            // Between the mark and the rim.
            let [x, y] = picture.layout.centre(cell);
            let x = x + 0.3 * picture.layout.cell;
            let found = pixels[y as usize * width as usize + x as usize];
            let wanted = match position.disc(cell) {
                None => HOLE,
                Some(Player::Second) => RED[0],
                Some(Player::First) => YELLOW[0],
            };
            assert_eq!(found, wanted, "{cell}");
        }
    }

    #[test]
    fn the_winning_row_is_drawn_through_its_discs() {
        let position = Position::from_moves(Setup::STANDARD, "1122334").expect("legal");
        let picture = Picture::of(&position, None, Player::First, [700, 600]);
        for column in Column::all(Setup::STANDARD).take(4) {
            let [x, y] = picture.layout.centre(Cell { column, row: 0 });
            assert_eq!(picture.pixels[y as usize * 700 + x as usize], WINNING);
        }
        assert_eq!(position.lines(Player::First).len(), 1);
    }

    #[test]
    fn a_gif_has_a_frame_for_each_move_and_ends_with_the_final_position() {
        for (setup, moves) in [
            (Setup::STANDARD, "1122334"),
            (Setup::STANDARD, ""),
            (Setup::new(4, 5, 3, Ruleset::Lines).expect("a board"), "11223344"),
        ] {
            let game = Game::parse(setup, moves).expect("legal");
            let bytes = game_gif(&game, Player::First, [321, 283]);
            let mut options = gif::DecodeOptions::new();
            options.set_color_output(gif::ColorOutput::RGBA);
            let mut decoder = options.read_info(&bytes[..]).expect("it is a GIF");
            let mut screen = vec![[0; 3]; 321 * 283];
            let mut frames = 0;
            while let Some(frame) = decoder.read_next_frame().expect("the frames are whole") {
                frames += 1;
                for (index, rgba) in frame.buffer.chunks(4).enumerate() {
                    let (x, y) =
                        (index % usize::from(frame.width), index / usize::from(frame.width));
                    let place = (usize::from(frame.top) + y) * 321 + usize::from(frame.left) + x;
                    screen[place] = [rgba[0], rgba[1], rgba[2]];
                }
            }
            assert_eq!(frames, moves.len() + 1);
            let last = game.moves().last().and_then(|&column| {
                Cell::in_reading_order(setup)
                    .find(|&cell| cell.column == column && game.position().disc(cell).is_some())
            });
            let end = Picture::of(game.position(), last, Player::First, [321, 283]);
            let differing = screen.iter().zip(&end.pixels).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "{moves}");
        }
    }

    #[test]
    fn an_unchanged_picture_is_still_a_frame() {
        let picture = Picture::of(&Position::new(Setup::STANDARD), None, Player::First, [70, 60]);
        assert_eq!(changed(&picture, &picture), [[0, 1], [0, 1]]);
    }
}
