-- Addresses and ranges whose requests the server refuses.
CREATE TABLE bans (
    addresses TEXT PRIMARY KEY NOT NULL,
    created BIGINT NOT NULL,
    -- The largest number for those without an end.
    expires BIGINT NOT NULL,
    reason TEXT NOT NULL
);
