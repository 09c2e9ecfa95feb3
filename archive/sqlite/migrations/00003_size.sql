-- +goose Up
-- What each segment holds, and in number 0 what lies in rows: a segment has a row
-- from its first payload on, until none is left and a later one was begun. So the
-- last tells where the next payload goes, whatever was deleted, and their sum is
-- the archive's size.
CREATE TABLE segments (
    number   INTEGER PRIMARY KEY,
    messages INTEGER NOT NULL,
    bytes    INTEGER NOT NULL, -- archive.SizeOf
    "end"    INTEGER NOT NULL  -- where its next payload goes; never falls
);
INSERT INTO segments SELECT ifnull(segment, 0), count(*),
    sum(octet_length(topic) + octet_length(content_topic) + ifnull(length(meta), 0) + ifnull(length(rate_limit_proof), 0)
        + ifnull(length, length(payload))),
    ifnull(max("offset" + length), 0)
    FROM messages GROUP BY ifnull(segment, 0);
INSERT INTO segments SELECT segment, 0, 0, "offset" FROM synced WHERE "offset" > 0
    ON CONFLICT (number) DO UPDATE SET "end" = max("end", excluded."end");

-- Rows are in the order of their places, so that the latest are found without it.
DROP INDEX messages_place;

-- +goose Down
CREATE INDEX messages_place ON messages (segment, "offset", length) WHERE segment IS NOT NULL;
DROP TABLE segments;
