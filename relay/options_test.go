package relay

import (
	"strings"
	"testing"

	"github.com/msgpath/msgpath/message"
)

func TestValidateReportsEverything(t *testing.T) {
	o := Options{
		Reach: 9, Hash: 9, Limits: message.Limits{MaxSize: -1, MaxMeta: -2},
		Topics:     []string{topicA, "", topicA, "\xff"},
		Validators: []Validator{nil}, Observers: []Observer{nil}, Stages: []Stage{nil},
		OutboundQueue: -3, ValidateQueue: -4, Validations: -5, Subscription: -6, MaxRPCSize: -7, SeenTTL: -8,
	}
	err := o.Validate()
	if err == nil {
		t.Fatal("valid")
	}
	for _, want := range []string{
		"Reach 9", "hash Algorithm(9)", "MaxSize -1", "MaxMeta -2",
		"Topics[1]", "Topics[2]", "named twice", "Topics[3]", "UTF-8",
		"Validators[0] is nil", "Observers[0] is nil", "Stages[0] is nil",
		"OutboundQueue -3", "ValidateQueue -4", "Validations -5", "Subscription -6", "MaxRPCSize -7", "SeenTTL -8ns",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in:\n%v", want, err)
		}
	}
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}

func TestValidateRPCSize(t *testing.T) {
	limits := message.Limits{MaxSize: 1 << 20}
	if err := (Options{Limits: limits}).Validate(); err == nil {
		t.Error("messages as large as an RPC are valid")
	}
	if err := (Options{Limits: limits, MaxRPCSize: 1<<20 + rpcOverhead}).Validate(); err != nil {
		t.Errorf("messages that fit: %v", err)
	}
}

func TestReachNames(t *testing.T) {
	for reach, name := range map[Reach]string{ReachStage: "baseline", ReachDispatch: "envelope", ReachNode: "zerocopy"} {
		if got, err := ParsePath(name); got != reach || err != nil || reach.String() != name {
			t.Errorf("%s: parsed %v, %v; printed %v", name, uint8(got), err, reach)
		}
	}
	if _, err := ParsePath("raw"); err == nil {
		t.Error("an unknown path is parsed")
	}
}

// TestNames: every value has a name of its own, and an unknown one is no panic.
func TestNames(t *testing.T) {
	names := make(map[string]bool)
	for c := range causes {
		names[c.String()] = true
	}
	for _, e := range []Event{Received, Validated, Sent} {
		names[e.String()] = true
	}
	if len(names) != int(causes)+3 || names[""] {
		t.Errorf("names are missing or used twice: %v", names)
	}
	if got := Cause(99).String() + Event(99).String() + Reach(99).String(); got != "Cause(99)Event(99)Reach(99)" {
		t.Errorf("unknown values: %s", got)
	}
}
