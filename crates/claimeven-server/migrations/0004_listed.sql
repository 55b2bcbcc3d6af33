-- Whether strangers see a game in their lists. Games of people are unlisted unless they choose otherwise.
ALTER TABLE games ADD COLUMN listed BIGINT NOT NULL DEFAULT 0;
UPDATE games SET listed = 1 WHERE kind0 = 'agent' AND kind1 = 'agent';
CREATE INDEX games_by_listing ON games (listed, created, id);

-- A person who gave no name has none; the page says what fits.
UPDATE games SET name0 = '' WHERE kind0 = 'human' AND name0 IN ('Player 1', 'Player 2');
UPDATE games SET name1 = '' WHERE kind1 = 'human' AND name1 IN ('Player 1', 'Player 2');
