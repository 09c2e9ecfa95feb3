package relay

import "github.com/msgpath/msgpath/counters"

// The places where this package works on messages.
var (
	sitePublish     = counters.NewSite("relay.publish")
	siteGossipID    = counters.NewSite("relay.gossip_id")
	siteOnRecv      = counters.NewSite("relay.on_recv")
	siteOnSend      = counters.NewSite("relay.on_send")
	siteOnValidated = counters.NewSite("relay.on_validated")
	siteValidator   = counters.NewSite("relay.validator")
	siteHandler     = counters.NewSite("relay.handler")
	siteEnvelope    = counters.NewSite("relay.envelope")
)
