package peers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message/pb"
)

// Verify implements bench.Verifier: the database has one row for each message,
// with its content, under the hash of the bytes that were sent.
func (t *target) Verify(ctx context.Context) error {
	rows, err := t.b.store.db.QueryContext(ctx, `SELECT id, topic, content_topic, version, timestamp, meta, payload FROM messages`)
	if err != nil {
		return fmt.Errorf("peers: read database: %w", err)
	}
	seen := make(map[uint64]bool, len(t.messages))
	for rows.Next() {
		index, err := t.verifyRow(rows)
		if err == nil && seen[index] {
			err = fmt.Errorf("message %d is there twice", index)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("peers: verify database: %w", err), rows.Close())
		}
		seen[index] = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("peers: read database: %w", err)
	}
	if len(seen) != len(t.messages) {
		return fmt.Errorf("peers: verify database: it has %d of %d messages", len(seen), len(t.messages))
	}
	return nil
}

// verifyRow returns the number of the message in a row, and an error where it is
// not what was published.
func (t *target) verifyRow(rows *sql.Rows) (index uint64, err error) {
	var (
		id    []byte
		topic string
		got   pb.WakuMessage
	)
	if err := rows.Scan(&id, &topic, &got.ContentTopic, &got.Version, &got.Timestamp, &got.Meta, &got.Payload); err != nil {
		return 0, err
	}
	index, ok := bench.PayloadIndex(got.Payload)
	if !ok || index >= uint64(len(t.messages)) {
		return 0, errors.New("a row is of no message of the run")
	}
	if want := t.messages[index]; topic != bench.PubsubTopic || !proto.Equal(&got, want) {
		return 0, fmt.Errorf("message %d was altered", index)
	}
	data, err := proto.Marshal(&got)
	if err != nil {
		return 0, err
	}
	if sum := sha256.Sum256(data); !bytes.Equal(id, sum[:]) {
		return 0, fmt.Errorf("message %d is kept under another hash", index)
	}
	return index, nil
}
