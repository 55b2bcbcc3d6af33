-- The same text for SQLite and PostgreSQL. Times are milliseconds since 1970, durations microseconds.
CREATE TABLE settings (
    name TEXT PRIMARY KEY NOT NULL,
    content TEXT NOT NULL
);

CREATE TABLE games (
    id TEXT PRIMARY KEY NOT NULL,
    -- Every change names the version that it was made from; of two changes at once, one finds another.
    version BIGINT NOT NULL,
    created BIGINT NOT NULL,
    touched BIGINT NOT NULL,
    owner TEXT,
    kind0 TEXT NOT NULL,
    kind1 TEXT NOT NULL,
    holder0 TEXT,
    holder1 TEXT,
    name0 TEXT NOT NULL,
    name1 TEXT NOT NULL,
    agent0 TEXT,
    agent1 TEXT,
    board_cols BIGINT NOT NULL,
    board_rows BIGINT NOT NULL,
    connect BIGINT NOT NULL,
    ruleset TEXT NOT NULL,
    first_player BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    opening BIGINT NOT NULL,
    clock_initial BIGINT,
    clock_increment BIGINT,
    left0 BIGINT,
    left1 BIGINT,
    status TEXT NOT NULL,
    winner BIGINT,
    reason TEXT,
    rematch TEXT,
    -- The moves as text, for lists; the table of moves has what is known of each.
    line TEXT NOT NULL,
    -- Moves taken back and open offers, as JSON.
    pending TEXT NOT NULL
);

CREATE INDEX games_by_time ON games (created, id);
CREATE INDEX games_by_owner ON games (owner, created);
CREATE INDEX games_by_holder0 ON games (holder0, created);
CREATE INDEX games_by_holder1 ON games (holder1, created);
CREATE INDEX games_by_status ON games (status, touched);

CREATE TABLE moves (
    game TEXT NOT NULL,
    ply BIGINT NOT NULL,
    board_col BIGINT NOT NULL,
    took BIGINT NOT NULL,
    nodes BIGINT,
    said TEXT,
    PRIMARY KEY (game, ply)
);
