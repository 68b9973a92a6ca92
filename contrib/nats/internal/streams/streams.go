// Package streams opens streams of a server. Start with [Open].
package streams

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Open opens a stream, and makes it with these settings if it is missing.
func Open(ctx context.Context, js jetstream.JetStream, config jetstream.StreamConfig) (jetstream.Stream, error) {
	found, err := js.Stream(ctx, config.Name)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return found, err
	}
	made, err := js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
		return js.Stream(ctx, config.Name)
	}
	return made, err
}
