-- The servers of a fleet, which share this database. A server whose time is up has gone.
CREATE TABLE servers (
    id TEXT PRIMARY KEY NOT NULL,
    -- In milliseconds since 1970, by the clock of the database.
    expires BIGINT NOT NULL,
    -- A hash of the key that signs cookies, which all servers have in common.
    signing_key TEXT NOT NULL
);

-- Which server lets agents think, flags fall and leavers lose in a game, and which one runs a job. A lease
-- ends with its server.
CREATE TABLE leases (
    name TEXT PRIMARY KEY NOT NULL,
    server TEXT NOT NULL
);
