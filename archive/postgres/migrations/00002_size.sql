-- +goose Up
-- What is stored is the sum of these rows. Each transaction changes the one that its
-- connection falls on, so that several nodes seldom wait for each other.
CREATE TABLE messages_size (
    shard    INTEGER PRIMARY KEY,
    messages BIGINT  NOT NULL,
    bytes    BIGINT  NOT NULL -- archive.SizeOf
) WITH (fillfactor = 50);
LOCK TABLE messages IN SHARE MODE; -- until the end of the migration no row comes or goes
INSERT INTO messages_size SELECT shard, 0, 0 FROM generate_series(0, 15) AS shard;
UPDATE messages_size SET (messages, bytes) = (SELECT count(*), coalesce(sum(size), 0) FROM messages) WHERE shard = 0;

-- +goose Down
DROP TABLE messages_size;
