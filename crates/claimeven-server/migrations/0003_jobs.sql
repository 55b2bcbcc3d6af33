-- Long work: tournaments and training runs. Of what they are to be, and of what came of them, there is JSON.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    created BIGINT NOT NULL,
    touched BIGINT NOT NULL,
    -- queued, running, stopped, done or failed
    state TEXT NOT NULL,
    title TEXT NOT NULL,
    plan TEXT NOT NULL,
    done BIGINT NOT NULL,
    total BIGINT NOT NULL,
    result TEXT,
    error TEXT
);

CREATE INDEX jobs_by_owner ON jobs (owner, created);
CREATE INDEX jobs_by_state ON jobs (state, touched);

-- The games of a tournament, each a record.
CREATE TABLE job_games (
    job TEXT NOT NULL,
    number BIGINT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (job, number)
);
