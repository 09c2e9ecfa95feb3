package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/node"
)

// serve runs a node, and its HTTP server on address unless that is "", until ctx
// ends.
func serve(ctx context.Context, o node.Options, address string, logger *slog.Logger) error {
	counts := counters.New()
	o.Relay.Counts, o.Logger = counts, logger
	n, err := node.New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopStatus, err := startStatus(address, n, logger, cancel)
	if err != nil {
		return err
	}
	err = n.Run(ctx)
	err = errors.Join(err, stopStatus())
	report(counts, logger)
	if err == nil {
		logger.Info("node stopped")
	}
	return err
}

// report logs what a build that counts has counted.
func report(counts counters.Set, logger *slog.Logger) {
	if !counters.Enabled {
		return
	}
	for _, s := range counters.Load(counts) {
		logger.Info("counted", "site", s.Site, "decodes", s.Decodes, "decoded_bytes", s.DecodedBytes,
			"hashes", s.Hashes, "hashed_bytes", s.HashedBytes, "id_hashes", s.IDHashes,
			"encodes", s.Encodes, "copies", s.Copies, "copied_bytes", s.CopiedBytes)
	}
}
