-- +goose Up
CREATE TABLE messages (
    timestamp        INTEGER NOT NULL, -- Unix time in ns; 0 where the message has none
    hash             BLOB    NOT NULL CHECK (length(hash) = 32),
    topic            TEXT    NOT NULL,
    content_topic    TEXT    NOT NULL,
    stamped          INTEGER NOT NULL, -- whether the message has a timestamp
    version          INTEGER,          -- NULL: the message has none; so below
    ephemeral        INTEGER,
    meta             BLOB,
    rate_limit_proof BLOB,
    payload          BLOB    NOT NULL, -- last: the columns before it are read without it
    PRIMARY KEY (timestamp, hash)
);
CREATE UNIQUE INDEX messages_hash ON messages (hash);

-- +goose Down
DROP TABLE messages;
