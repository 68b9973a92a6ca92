package eventline_test

import (
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/eventline"
)

func TestEventsOutOfOrder(t *testing.T) {
	at := func(seq int64, second int) eventline.Position {
		return eventline.Position{Seq: seq, Time: time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC)}
	}
	for _, c := range []struct {
		name string
		p    eventline.Position
		want bool
	}{
		{"the next one", at(6, 6), false},
		{"the one before", at(4, 4), true},
		{"the same number later", at(5, 6), false},
		{"the same number earlier", at(5, 4), true},
		{"numbers that begin again", at(1, 6), false},
		{"a concurrent fire", at(6, 4), false},
		{"the same event twice", at(5, 5), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.Before(at(5, 5)); got != c.want {
				t.Errorf("it is %v, want %v", got, c.want)
			}
		})
	}
}
