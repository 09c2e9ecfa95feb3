package bench

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

// verifyArchive checks that the archive holds exactly the messages wanted, and
// that the hash recomputed from each stored message is the one it is stored by.
func verifyArchive(ctx context.Context, a *archive.Archive, hash message.Algorithm, want map[message.Key]bool) error {
	keys, err := verifyArchived(ctx, a, want)
	if err != nil {
		return err
	}
	for _, key := range keys {
		row, err := a.Get(ctx, key.Hash)
		if err != nil {
			return fmt.Errorf("bench: read archive: %w", err)
		}
		if sum := hash.Sum(row.Topic, row.Message); sum != key.Hash { //msgpath:uncounted verifies, after the run
			return invalid("archive: message stored by hash %v has hash %v: altered", key.Hash, sum)
		}
	}
	return nil
}

// verifyArchived checks that the archive holds exactly the keys wanted, and
// returns them.
func verifyArchived(ctx context.Context, a *archive.Archive, want map[message.Key]bool) (keys []message.Key, err error) {
	for key, err := range a.Keys(ctx) {
		if err != nil {
			return nil, fmt.Errorf("bench: read archive: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, verifyKeys("archive", slices.Values(keys), want)
}

// verifyKeys compares got and want as sets.
func verifyKeys(where string, got iter.Seq[message.Key], want map[message.Key]bool) error {
	found := make(map[message.Key]bool, len(want))
	for key := range got {
		switch {
		case !want[key]:
			return invalid("%s: holds %v at %d, which was not published", where, key.Hash, key.Timestamp)
		case found[key]:
			return invalid("%s: holds %v twice", where, key.Hash)
		}
		found[key] = true
	}
	for key := range want {
		if !found[key] {
			return invalid("%s: %d of %d messages are missing, among them %v", where, len(want)-len(found), len(want), key.Hash)
		}
	}
	return nil
}
