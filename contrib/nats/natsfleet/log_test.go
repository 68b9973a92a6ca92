package natsfleet

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/hookgen/hookgen/loop/fleet"
)

// TestLongLogsAreReadWhole reads logs that need several batches, and compares them with their events read one by one.
func TestLongLogsAreReadWhole(t *testing.T) {
	store, _ := open(t, Config{})
	log := store.Log.(natsLog)
	for name, c := range map[string]struct{ events, size int }{
		"None": {0, 0}, "One": {1, 10}, "ABatch": {batchEvents, 10}, "OneMore": {batchEvents + 1, 10},
		"Large": {9, 900_000},
	} {
		t.Run(name, func(t *testing.T) {
			last, middle := uint64(0), uint64(0)
			for i := range c.events {
				data := append(bytes.Repeat([]byte{'x'}, c.size), fmt.Sprint(i)...)
				n, err := log.Append(t.Context(), name, data, last)
				if err != nil {
					t.Fatal(err)
				}
				if last = n; i == c.events/2 {
					middle = n
				}
				if i%100 == 0 {
					if _, err := log.Append(t.Context(), fmt.Sprint(name, i), []byte("other"), 0); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, after := range []uint64{0, middle, last} {
				got, err := log.Read(t.Context(), name, after)
				if err != nil {
					t.Fatal(err)
				}
				var want []fleet.Entry
				for number, more := after, true; more; {
					next, again, err := log.one(t.Context(), name, number)
					if err != nil {
						t.Fatal(err)
					}
					if more = again; more {
						want, number = append(want, next...), next[0].Number
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("after %d: %d events in batches, and %d one by one", after, len(got), len(want))
				}
			}
		})
	}
}
