package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A slowWriter holds each Write back.
type slowWriter struct {
	strings.Builder
	begun chan struct{}
	goOn  chan struct{}
}

func (w *slowWriter) Write(p []byte) (int, error) {
	close(w.begun)
	<-w.goOn
	return w.Builder.Write(p)
}

// TestSay: quiet waits for a line that is being written.
func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{begun: make(chan struct{}), goOn: make(chan struct{})}
		quiet := say(w, "loading", time.Minute)
		<-w.begun
		isQuiet := make(chan struct{})
		go func() { quiet(); close(isQuiet) }()
		synctest.Wait()
		select {
		case <-isQuiet:
			t.Error("quiet returns while the line is being written")
		default:
		}
		close(w.goOn)
		<-isQuiet
		if got := w.String(); got != "loading\n" {
			t.Errorf("said %q", got)
		}
	})
}

// TestSayNothing: what ends in time leaves nothing behind.
func TestSayNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		say(&text, "loading", time.Minute)()
		<-time.After(time.Hour)
		if text.Len() > 0 {
			t.Errorf("said %q", &text)
		}
	})
}
