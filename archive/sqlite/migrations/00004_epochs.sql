-- +goose Up
-- Messages are found by their hash through an index of short pieces, one for each
-- epoch, so that an insert meets only the latest piece, however many rows there are.
-- What was there before is epoch 0. A hash is stored once because (timestamp, hash)
-- is: the hash covers the timestamp.
CREATE TABLE epochs (
    number INTEGER PRIMARY KEY -- of rows that are there, and the latest
);
INSERT INTO epochs VALUES (0);
ALTER TABLE messages ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
DROP INDEX messages_hash;
CREATE INDEX messages_hash ON messages (epoch, substr(hash, 1, 8));

-- +goose Down
DROP INDEX messages_hash;
CREATE UNIQUE INDEX messages_hash ON messages (hash);
ALTER TABLE messages DROP COLUMN epoch;
DROP TABLE epochs;
