-- What exact scores say of the moves of finished games. It can be found again at any time.
CREATE TABLE reviews (
    game TEXT PRIMARY KEY NOT NULL,
    -- The moves that it is about: a game may go on after its end.
    line TEXT NOT NULL,
    accuracy0 DOUBLE PRECISION,
    accuracy1 DOUBLE PRECISION,
    -- The review itself, as JSON.
    content TEXT NOT NULL
);
