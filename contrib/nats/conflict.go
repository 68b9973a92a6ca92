package nats

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Conflict is the error of a change that expected another revision.
type Conflict struct{ Key string }

// Error names the key.
func (e *Conflict) Error() string {
	return fmt.Sprintf("the value of %.80q was changed by another; read it again", e.Key)
}

// retry calls f, which reads a value and changes it, until another process has not changed the value meanwhile. The
// pauses between the calls are random and grow, so that many writers do not meet again.
func (b *Bucket) retry(ctx context.Context, f func(ctx context.Context) error) error {
	return b.conn.Do(ctx, func(ctx context.Context) error {
		for wait := time.Millisecond; ; wait = min(2*wait, 32*time.Millisecond) {
			err := f(ctx)
			if conflict := new(Conflict); !errors.As(err, &conflict) {
				return err
			}
			if err := (agent.SystemClock{}).Sleep(ctx, rand.N(wait)); err != nil {
				return err
			}
		}
	})
}
