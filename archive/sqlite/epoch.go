package sqlite

import "context"

// An index by hash is met by each insert at another place: as it grows, each row
// costs a page of its own, read, written into the log and then into the file. Cut
// into pieces of EpochRows, of which inserts meet the latest only, a row costs the
// same however many there are; a look-up by hash looks into each piece.
const (
	beginEpochSQL = `INSERT INTO epochs SELECT max(number) + 1 FROM epochs`
	// dropEpochsSQL forgets epochs without rows, but the latest.
	dropEpochsSQL = `DELETE FROM epochs WHERE number < (SELECT max(number) FROM epochs)
	AND NOT EXISTS (SELECT 1 FROM messages WHERE epoch = epochs.number)`
	// epochSQL counts the rows of the latest epoch, up to a number.
	epochSQL = `SELECT count(*) FROM (SELECT 1 FROM messages WHERE epoch = (SELECT max(number) FROM epochs) LIMIT ?)`
)

// countEpoch finds how full the latest epoch is. Another process that inserts
// counts its own rows only, so that an epoch may hold as many for each.
func (d *Database) countEpoch(ctx context.Context) error {
	return d.writer.QueryRowContext(ctx, epochSQL, d.options.epoch).Scan(&d.inEpoch)
}

// enterEpoch begins an epoch if the latest is full.
func (b *batch) enterEpoch() error {
	if b.inEpoch < b.options.epoch {
		return nil
	}
	_, err := b.direct.exec(b.direct.beginEpoch)
	b.began = err == nil
	return err
}

// leaveEpoch counts what was committed.
func (b *batch) leaveEpoch() {
	if b.began {
		b.inEpoch = 0
	}
	for _, t := range b.tallies {
		b.inEpoch += t.messages
	}
}
