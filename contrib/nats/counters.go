package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hookgen/hookgen/generated/agent"
)

// Counters are numbers in a bucket that many processes add to, for example the tokens that a user has spent. It is safe
// for concurrent use, also by several processes.
//
//	counters := nats.Counters{Bucket: bucket}
//	_, err := counters.Add(ctx, nats.Key("tokens", tenant, user), 1200, 100_000)
//
// A number is never negative, and never above the limit of an Add that was accepted.
type Counters struct {
	Bucket *Bucket
}

const counterKeys = "counter/"

// An OverLimit is the error of an Add that would exceed its limit. The number is unchanged.
type OverLimit struct {
	Key   string
	Now   int64 // the number
	Add   int64
	Limit int64
}

// Error contains all fields.
func (e *OverLimit) Error() string {
	return fmt.Sprintf("%.80q is %d; adding %d would exceed the limit of %d", e.Key, e.Now, e.Add, e.Limit)
}

// Add adds n to a number and returns the sum. A missing number is 0. If the sum would be above the limit, nothing is
// added, and the error is a *OverLimit. A negative n takes back an earlier addition, whatever the limit; a sum below 0
// is an error.
//
// After another error, for example because the server did not answer in time, n may have been added or not. A budget
// counts it as spent: end the run, or ask [Counters.Get] first.
func (c Counters) Add(ctx context.Context, key string, n, limit int64) (sum int64, err error) {
	if key == "" {
		return 0, errNoKey
	}
	err = c.Bucket.retry(ctx, func(ctx context.Context) error {
		now, revision, err := c.get(ctx, key)
		if err != nil {
			return err
		}
		switch {
		case n > 0 && (now > limit || n > limit-now):
			sum = now
			return &OverLimit{key, now, n, limit}
		case now+n < 0:
			return fmt.Errorf("%.80q is %d; %d cannot be given back", key, now, -n)
		}
		sum = now + n
		_, err = c.Bucket.change(ctx, counterKeys+key, strconv.AppendInt(nil, sum, 10), revision)
		return err
	})
	return sum, err
}

// get returns a number and the revision of its last change; 0 for a missing number.
func (c Counters) get(ctx context.Context, key string) (now int64, revision uint64, err error) {
	e, err := c.Bucket.Get(ctx, counterKeys+key)
	if found := new(agent.NotFound); errors.As(err, &found) {
		return 0, 0, nil
	}
	if err == nil {
		now, err = strconv.ParseInt(string(e.Value), 10, 64)
		if err != nil || now < 0 {
			err = fmt.Errorf("the stored number %.80q is corrupt: %.80q; reset it", key, e.Value)
		}
	}
	return now, e.Revision, err
}

// Get returns a number. A missing number is 0.
func (c Counters) Get(ctx context.Context, key string) (int64, error) {
	if key == "" {
		return 0, errNoKey
	}
	now, _, err := c.get(ctx, key)
	return now, err
}

// Reset makes a number 0, for example at the begin of a month.
func (c Counters) Reset(ctx context.Context, key string) error {
	return c.Bucket.Delete(ctx, counterKeys+key)
}
