package node

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/relay"
)

// metrics tells Prometheus what the node did. Counts are read from the relay
// and the archive when asked; nothing here decodes or hashes a message.
type metrics struct {
	node      *Node
	registry  *prometheus.Registry
	sizes     *prometheus.HistogramVec // by topic and direction
	validated *prometheus.CounterVec   // by topic
	inserts   prometheus.Histogram
}

func newMetrics(n *Node) *metrics {
	m := &metrics{
		node:     n,
		registry: prometheus.NewRegistry(),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "msgpath_message_size_bytes",
			Help:    "Encoded size of message copies, by topic and direction.",
			Buckets: prometheus.ExponentialBuckets(256, 4, 6), // 256 B to 256 KiB
		}, []string{"topic", "direction"}),
		validated: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "msgpath_validated_total",
			Help: "Messages of peers that validation accepted.",
		}, []string{"topic"}),
		inserts: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "msgpath_archive_insert_seconds",
			Help:    "Time of one archive transaction, failed ones included.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9), // 0.1 ms to 6.5 s
		}),
	}
	m.registry.MustRegister(m, m.sizes, m.validated, m.inserts, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// observe is the node's own observer of traffic. It uses sizes only.
func (m *metrics) observe(o relay.Observation) {
	topic := label(o.Topic)
	switch o.Event {
	case relay.Received:
		m.sizes.WithLabelValues(topic, "in").Observe(float64(o.Size))
	case relay.Sent:
		m.sizes.WithLabelValues(topic, "out").Observe(float64(o.Size))
	case relay.Validated:
		m.validated.WithLabelValues(topic).Inc()
	}
	if m.node.logger.Enabled(context.Background(), slog.LevelDebug) {
		m.node.logger.Debug("message", "event", o.Event.String(), "topic", o.Topic, "peer", o.Peer, "size", o.Size)
	}
}

func (m *metrics) inserted(_ int, took time.Duration, _ error) { m.inserts.Observe(took.Seconds()) }

// label returns s as a label's value, which must be UTF-8. Joined topics are;
// one that is not would otherwise end the process in gossipsub's event loop.
func label(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("msgpath_"+name, help, labels, nil)
}

// Descriptions of what is read from relay.Stats, archive.Stats and filter.Stats.
var (
	descCopies      = desc("message_copies_total", "Copies of messages received, and handed to peers' outbound queues, by topic and direction.", "topic", "direction")
	descBytes       = desc("message_bytes_total", "Encoded bytes of these copies.", "topic", "direction")
	descWritten     = desc("message_written_total", "Copies written to peers' streams.", "topic")
	descDuplicates  = desc("message_duplicates_total", "Copies received of a message known already.", "topic")
	descForeign     = desc("message_foreign_total", "Copies received on topics that are not joined.")
	descPublished   = desc("published_total", "Messages that the node itself published or tried to, by outcome.", "topic", "outcome")
	descDelivered   = desc("delivered_total", "Messages that passed every stage.", "topic")
	descKnown       = desc("known_total", "Messages accepted that the archive held already.", "topic")
	descRejected    = desc("rejected_total", "Messages that validation rejected or ignored, by cause.", "topic", "cause")
	descDropped     = desc("dropped_total", "Messages dropped after they were received or accepted, and copies dropped on their way out (outbound_queue), by cause.", "topic", "cause")
	descMesh        = desc("mesh_peers", "Peers in the topic's mesh.", "topic")
	descPeers       = desc("connected_peers", "Peers connected.")
	descArchive     = desc("archive_messages_total", "Messages that the archive accepted and answered, by outcome.", "outcome")
	descArchiveWait = desc("archive_queue_messages", "Messages accepted and not yet committed.")
	descRecovered   = desc("recovered_total", "Messages that came by store-sync rather than by gossip.", "topic")
	descPruned      = desc("archive_pruned_messages_total", "Messages that the retention deleted.")
	descPruneFails  = desc("archive_prune_failures_total", "Passes of the retention that failed, to be made up for by the next.")
	descRecorded    = desc("recorded_messages_total", "Messages to record, by outcome.", "outcome")
	descRecordBytes = desc("recorded_bytes_total", "Encoded bytes of the messages that reached the recording.")
	descRecording   = desc("recording", "1 while messages are recorded, 0 after a write has failed.")
	descSyncSet     = desc("storesync_messages", "Messages in the sync set.")

	descFilterPeers    = desc("filter_subscribers", "Light peers subscribed.")
	descFilterTopics   = desc("filter_topics", "Pairs of pubsub and content topic that light peers are subscribed to, over all peers.")
	descFilterWait     = desc("filter_queue_messages", "Copies that wait in the queues of light peers.")
	descFilterMessages = desc("filter_messages_total", "Messages that a light peer was subscribed to, by outcome; forgotten ones are pushed again if they come again.", "outcome")
	descFilterPushes   = desc("filter_pushes_total", "Copies for light peers, by outcome: pushed, or why not.", "outcome")
	descFilterRequests = desc("filter_requests_total", "Requests of light peers, by outcome: accepted, or why not.", "outcome")
	descFilterRemoved  = desc("filter_removed_total", "Light peers that are no longer subscribed, by cause.", "cause")
)

// sink takes what one scrape reads.
type sink chan<- prometheus.Metric

func (s sink) counter(d *prometheus.Desc, v uint64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (s sink) gauge(d *prometheus.Desc, v int, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
}

// Describe sends nothing, which makes the collector an unchecked one: which
// metrics there are depends on the node's parts.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads the counts of the parts, once there are any.
func (m *metrics) Collect(metrics chan<- prometheus.Metric) {
	if !closed(m.node.ready) {
		return
	}
	out := sink(metrics)
	out.gauge(descPeers, len(m.node.host.Network().Peers()))
	out.counter(descForeign, m.node.relay.Foreign())
	for _, s := range m.node.relay.Stats() {
		out.topic(label(s.Topic), s)
	}
	if m.node.archive != nil {
		out.archive(m.node.archive.Stats())
	}
	if m.node.set != nil {
		out.gauge(descSyncSet, m.node.set.Len())
	}
	if m.node.recording != nil {
		out.recording(m.node.recording.Stats(), m.node.recording.Err())
	}
	if m.node.filter != nil {
		out.filter(m.node.filter.Stats())
	}
	if m.node.syncer != nil {
		out.sync(m.node.syncer.Stats())
	}
}

func (s sink) recording(r corpus.Stats, failure error) {
	s.counter(descRecorded, r.Recorded, "recorded")
	s.counter(descRecorded, r.Dropped, "dropped")
	s.counter(descRecorded, r.Failed, "failed")
	s.counter(descRecordBytes, r.Bytes)
	on := 1
	if failure != nil {
		on = 0
	}
	s.gauge(descRecording, on)
}

func (s sink) filter(f filter.Stats) {
	s.gauge(descFilterPeers, f.Subscribers)
	s.gauge(descFilterTopics, f.Topics)
	s.gauge(descFilterWait, f.Waiting)
	s.counter(descFilterMessages, f.Due, "due")
	s.counter(descFilterMessages, f.Repeated, "repeated")
	s.counter(descFilterMessages, f.Forgotten, "forgotten")
	s.counter(descFilterPushes, f.Pushed, "pushed")
	for c, v := range f.Dropped {
		s.counter(descFilterPushes, v, filter.Drop(c).String())
	}
	s.counter(descFilterRequests, f.Requests, "accepted")
	for c, v := range f.Refused {
		s.counter(descFilterRequests, v, filter.Refusal(c).String())
	}
	for c, v := range f.Removed {
		s.counter(descFilterRemoved, v, filter.Removal(c).String())
	}
}

func (s sink) archive(a archive.Stats) {
	s.counter(descArchive, a.Stored, "stored")
	s.counter(descArchive, a.Duplicates, "duplicate")
	s.counter(descArchive, a.Failed, "failed")
	s.counter(descArchive, a.Ephemeral, "ephemeral")
	s.gauge(descArchiveWait, int(a.Queued))
	s.counter(descPruned, a.Pruned)
	s.counter(descPruneFails, a.PruneFailures)
}

func (s sink) topic(topic string, t relay.Stats) {
	s.counter(descCopies, t.Received, topic, "in")
	s.counter(descBytes, t.ReceivedBytes, topic, "in")
	s.counter(descCopies, t.Sent, topic, "out")
	s.counter(descBytes, t.SentBytes, topic, "out")
	s.counter(descWritten, t.Written, topic)
	s.counter(descDuplicates, t.Duplicates, topic)
	s.counter(descPublished, t.Published, topic, "accepted")
	s.counter(descPublished, t.PublishDuplicates, topic, "duplicate")
	s.counter(descPublished, t.PublishNoPeers, topic, "no_peers")
	s.counter(descPublished, t.PublishRefused, topic, "refused")
	s.counter(descRecovered, t.Recovered, topic)
	s.counter(descDelivered, t.Delivered, topic)
	s.counter(descKnown, t.Known, topic)
	s.counter(descDropped, t.SendDropped, topic, "outbound_queue")
	for c, v := range t.Causes {
		d := descDropped
		if relay.Cause(c).Rejects() {
			d = descRejected
		}
		s.counter(d, v, topic, relay.Cause(c).String())
	}
	s.gauge(descMesh, t.Mesh, topic)
}
