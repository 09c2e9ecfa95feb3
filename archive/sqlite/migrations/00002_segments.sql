-- +goose Up
ALTER TABLE messages ADD COLUMN segment  INTEGER; -- NULL: the payload is in the row; else the row's is empty
ALTER TABLE messages ADD COLUMN "offset" INTEGER; -- of the payload in its segment, bytes
ALTER TABLE messages ADD COLUMN length   INTEGER; -- bytes
ALTER TABLE messages ADD COLUMN checksum INTEGER; -- CRC-32C
CREATE INDEX messages_place ON messages (segment, "offset", length) WHERE segment IS NOT NULL;

-- One row: payloads in front of this place are known to be on the disk. Those
-- behind are looked at when the file is opened.
CREATE TABLE synced (
    segment  INTEGER NOT NULL,
    "offset" INTEGER NOT NULL
);
INSERT INTO synced VALUES (1, 0);

-- +goose Down
DELETE FROM messages WHERE segment IS NOT NULL;
DROP TABLE synced;
DROP INDEX messages_place;
ALTER TABLE messages DROP COLUMN segment;
ALTER TABLE messages DROP COLUMN "offset";
ALTER TABLE messages DROP COLUMN length;
ALTER TABLE messages DROP COLUMN checksum;
