package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// A Corpus is messages that a node recorded, in the order of their arrival, for
// runs in place of generated ones. All that a message holds is as it was recorded.
//
// Left out are ephemeral messages, which no archive keeps, so that what is
// expected of every message of a run does not hold of them, and those that are the
// same as an earlier one on the benchmark's topic.
type Corpus struct {
	about    verdict.Corpus
	messages []*pb.WakuMessage
	contents []message.Hash // of each without its timestamp
}

// LoadCorpus reads a file that package corpus wrote, all of it. The error names
// the record, and its offset where the file was cut, is damaged or is something
// else; a message that a node with default limits would not publish is an error
// too.
func LoadCorpus(path string) (*Corpus, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("bench: load corpus: %w", err)
	}
	defer f.Close()
	c, digest := &Corpus{about: verdict.Corpus{File: filepath.Base(path)}}, sha256.New()
	if err := c.read(io.TeeReader(f, digest), path); err != nil {
		return nil, fmt.Errorf("bench: load corpus: %w", err)
	}
	c.about.Messages = len(c.messages)
	c.about.SHA256 = fileDigest(digest)
	if len(c.messages) == 0 {
		return nil, fmt.Errorf("bench: load corpus %s: no message to measure: %d records, %d of them ephemeral", path, c.about.Records, c.about.Ephemeral)
	}
	return c, nil
}

//msgpath:uncounted of a file
func fileDigest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func (c *Corpus) read(r io.Reader, path string) error {
	seen := make(map[message.Key]bool)
	for record, err := range corpus.Read(r, path) {
		if err != nil {
			return err
		}
		c.about.Records++
		if err := c.add(record.Message, seen); err != nil {
			return fmt.Errorf("%s: record %d: %w", path, c.about.Records, err)
		}
	}
	return nil
}

// add takes a message in unless it is to be left out.
func (c *Corpus) add(wire []byte, seen map[message.Key]bool) error {
	var none counters.Set
	m, err := message.Wrap(none, message.Format{}, PubsubTopic, wire).Message(siteApp)
	if err != nil {
		return err
	}
	if m.GetEphemeral() {
		c.about.Ephemeral++
		return nil
	}
	if _, err := message.Seal(none, message.Format{}, PubsubTopic, m, siteApp); err != nil {
		return err
	}
	timeless := &pb.WakuMessage{Payload: m.GetPayload(), ContentTopic: m.GetContentTopic(), Meta: m.GetMeta()}
	content := message.Blake3.Sum(PubsubTopic, timeless) //msgpath:uncounted before any run
	key := message.Key{Timestamp: m.GetTimestamp(), Hash: content}
	if seen[key] {
		c.about.Duplicates++
		return nil
	}
	seen[key] = true
	c.messages, c.contents = append(c.messages, m), append(c.contents, content)
	return nil
}

// Len returns how many different messages there are to measure.
func (c *Corpus) Len() int { return len(c.messages) }

// Messages returns n messages, each the caller's own, in the order of arrival and,
// when there are no more, from the first on again. A message that was taken before
// has a timestamp some ns later, as few as make it another.
func (c *Corpus) Messages(n int) []*pb.WakuMessage {
	all, taken := make([]*pb.WakuMessage, n), make(map[message.Key]bool, n)
	for i := range all {
		at, lap := i%len(c.messages), int64(i/len(c.messages))
		m := proto.CloneOf(c.messages[at])
		key := message.Key{Timestamp: m.GetTimestamp() + lap, Hash: c.contents[at]}
		for taken[key] {
			key.Timestamp++
		}
		if taken[key] = true; key.Timestamp != m.GetTimestamp() {
			m.Timestamp = proto.Int64(key.Timestamp)
		}
		all[i] = m
	}
	return all
}

// payloads yields the size of each payload of n messages.
func (c *Corpus) payloads(n int) iter.Seq2[int, int] {
	return func(yield func(size, messages int) bool) {
		for i := range n {
			if !yield(len(c.messages[i%len(c.messages)].GetPayload()), 1) {
				return
			}
		}
	}
}

// profile names the workload in a result: figures of two files are not those of
// one.
func (c *Corpus) profile() string { return "corpus@" + c.about.SHA256[:12] }

// settings says in s what n measured messages are.
func (c *Corpus) settings(s *verdict.Settings, n int) {
	about := c.about
	s.Corpus, s.Profile, s.Seed = &about, c.profile(), 0
	s.PayloadBytes, s.MetaBytes = 0, 0
	for i := range n {
		m := c.messages[i%len(c.messages)]
		s.PayloadBytes += uint64(len(m.GetPayload()) + len(m.GetMeta()))
		s.MetaBytes += uint64(len(m.GetMeta()))
	}
}

// validate says why n messages are nothing to measure, if there is one at all.
func (c *Corpus) validate(n int) error {
	if n < 1 {
		return nil
	}
	for size := range c.payloads(min(n, c.Len())) {
		if size > 0 {
			return nil
		}
	}
	return errors.New("corpus: none of the messages has a payload")
}

// Limitations says what a result of n measured messages does not show, and which
// records were left out, a sentence each.
func (c *Corpus) Limitations(n int) []string {
	all := []string{fmt.Sprintf(
		"Messages are those of corpus %s in the order in which they arrived, all on one topic; the times between arrivals are not played back.", c.about.File)}
	if left := c.about.Ephemeral + c.about.Duplicates; left > 0 {
		all = append(all, fmt.Sprintf("Of %d records of the corpus %d were left out: %d ephemeral messages, which no archive keeps, and %d that were there before.",
			c.about.Records, left, c.about.Ephemeral, c.about.Duplicates))
	}
	if n > c.Len() {
		all = append(all, fmt.Sprintf("The corpus has %d messages for %d to measure: they were repeated with timestamps some ns later.", c.Len(), n))
	}
	return all
}
