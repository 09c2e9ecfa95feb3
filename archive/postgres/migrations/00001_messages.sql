-- +goose Up
CREATE TABLE messages (
    timestamp        BIGINT  NOT NULL, -- Unix time in ns; 0 where the message has none
    hash             BYTEA   NOT NULL CHECK (octet_length(hash) = 32),
    stamped          BOOLEAN NOT NULL, -- whether the message has a timestamp
    ephemeral        BOOLEAN,          -- NULL: the message has none; so below
    version          BIGINT,
    size             BIGINT  NOT NULL, -- archive.SizeOf, bytes
    topic            BYTEA   NOT NULL, -- not TEXT, which refuses a zero byte; so below
    content_topic    BYTEA   NOT NULL,
    meta             BYTEA,
    rate_limit_proof BYTEA,
    payload          BYTEA   NOT NULL,
    PRIMARY KEY (timestamp, hash) INCLUDE (size),
    CONSTRAINT messages_hash UNIQUE (hash)
);
-- Payloads are mostly encrypted: trying to compress them is work for nothing.
ALTER TABLE messages ALTER COLUMN payload SET STORAGE EXTERNAL;

-- +goose Down
DROP TABLE messages;
