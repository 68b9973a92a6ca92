package nats_test

import (
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// BenchmarkServer measures calls of a server in the process.
func BenchmarkServer(b *testing.B) {
	for _, c := range []struct {
		name string
		opts []embedded.Option
	}{{"SyncAlways", nil}, {"SyncEveryMinute", []embedded.Option{embedded.SyncEvery(time.Minute)}}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := embedded.Start(b.TempDir(), c.opts...)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			conn := connect(b, s.URL())
			bucket := bucketOf(b, conn, nats.Limits{})
			events := eventsOf(b, conn, nats.EventLimits{})
			serve(b, connect(b, s.URL()), echo{})
			caller := nats.NewCaller(conn, "hooks")
			value := make([]byte, 4096)
			for name, do := range map[string]func() error{
				"Put":   func() error { _, err := bucket.Put(b.Context(), "key", value); return err },
				"Get":   func() error { _, err := bucket.Get(b.Context(), "key"); return err },
				"Event": func() error { e := event("a", time.Now().UnixNano()); return events.WriteEvent(b.Context(), e) },
				"Call": func() error {
					_, err := caller.Call(b.Context(), wire.Request{Point: "p", Payload: []byte("{}")})
					return err
				},
			} {
				if _, err := bucket.Put(b.Context(), "key", value); err != nil {
					b.Fatal(err)
				}
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if err := do(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
