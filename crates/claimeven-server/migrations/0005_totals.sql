-- Whether a finished game is part of the totals below: 0 not yet, 1 without a review of its moves, 2 with one.
-- Existing games are counted in batches while the server runs.
ALTER TABLE games ADD COLUMN counted BIGINT NOT NULL DEFAULT 0;
-- With a plain comparison SQLite would prefer the index of all finished games.
CREATE INDEX games_to_count ON games (id) WHERE status || '' = 'finished' AND counted = 0;
CREATE INDEX games_to_review ON games (touched) WHERE counted = 1 AND line <> '';
-- Games that share their first moves, for the explorer beyond the table of openings.
CREATE INDEX games_by_opening ON games (board_cols, board_rows, connect, ruleset, SUBSTR(line, 1, 8), created)
    WHERE counted > 0;

-- Finished games in numbers: by whose games they are (empty for everyone's), by category and name.
CREATE TABLE totals (
    whose TEXT NOT NULL,
    category TEXT NOT NULL,
    name TEXT NOT NULL,
    games BIGINT NOT NULL,
    won BIGINT NOT NULL,
    drawn BIGINT NOT NULL,
    lost BIGINT NOT NULL,
    reviewed BIGINT NOT NULL,
    -- The sum over the reviewed games, in millionths.
    accuracy BIGINT NOT NULL,
    moves BIGINT NOT NULL,
    own_moves BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    PRIMARY KEY (whose, category, name)
);
CREATE INDEX totals_by_games ON totals (whose, category, games);
CREATE INDEX totals_empty ON totals (games) WHERE games = 0;

-- The results of all finished games that begin with some moves, for the first 0 to 8 of them.
CREATE TABLE openings (
    whose TEXT NOT NULL,
    setup TEXT NOT NULL,
    line TEXT NOT NULL,
    games BIGINT NOT NULL,
    won BIGINT NOT NULL,
    drawn BIGINT NOT NULL,
    lost BIGINT NOT NULL,
    PRIMARY KEY (whose, setup, line)
);
CREATE INDEX openings_empty ON openings (games) WHERE games = 0;

-- Lists are read in the order of these indexes.
DROP INDEX games_by_owner;
DROP INDEX games_by_holder0;
DROP INDEX games_by_holder1;
CREATE INDEX games_by_owner ON games (owner, created, id);
CREATE INDEX games_by_holder0 ON games (holder0, created, id);
CREATE INDEX games_by_holder1 ON games (holder1, created, id);

CREATE INDEX jobs_in_line ON jobs (kind, state, touched);
CREATE INDEX jobs_by_kind ON jobs (kind, created);
