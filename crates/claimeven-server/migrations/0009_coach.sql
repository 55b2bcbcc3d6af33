-- What the mistake that decided a game was about, for the player who made it.
ALTER TABLE reviews ADD COLUMN theme0 TEXT;
ALTER TABLE reviews ADD COLUMN theme1 TEXT;

-- How many visitors tried a puzzle, and how many found its move at the first try.
CREATE TABLE puzzles (
    moves TEXT PRIMARY KEY NOT NULL,
    tried BIGINT NOT NULL,
    solved BIGINT NOT NULL
);
