-- When the turn of the person to move began in a game on the clock, and when their time will be up.
ALTER TABLE games ADD COLUMN turn_began BIGINT;
ALTER TABLE games ADD COLUMN flag_falls BIGINT;
CREATE INDEX games_by_flag ON games (flag_falls);
