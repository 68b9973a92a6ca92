package numbers

import (
	"math/bits"
	"time"
)

// A histogram counts durations, to find quantiles of any number of them in a few kilobytes. Its buckets are the wider
// the longer the durations in them are, so that a quantile is within 1/64 of its value. The maximum is exact.
type histogram struct {
	counts map[uint16]int
	total  int
	max    time.Duration
}

// fineness is the number of buckets for each doubling of a duration. It is a power of two.
const fineness = 32

// add counts a duration. A negative one, from a clock that was set back, counts as 0.
func (h *histogram) add(d time.Duration) {
	if h.counts == nil {
		h.counts = map[uint16]int{}
	}
	d = max(d, 0)
	h.counts[bucketOf(d)]++
	h.total++
	h.max = max(h.max, d)
}

// bucketOf returns the bucket of a duration: its leading bits, and how far they are shifted.
func bucketOf(d time.Duration) uint16 {
	v := uint64(d)
	if v < 2*fineness {
		return uint16(v)
	}
	shift := bits.Len64(v) - bits.Len64(fineness)
	return uint16(shift*fineness) + uint16(v>>shift)
}

// middle returns the duration in the middle of a bucket.
func middle(bucket uint16) time.Duration {
	if bucket < 2*fineness {
		return time.Duration(bucket)
	}
	shift := bucket/fineness - 1
	lowest := uint64(bucket-shift*fineness) << shift
	return time.Duration(lowest + 1<<shift/2)
}

// quantile returns the shortest duration that is not shorter than a percentage of all durations; 0 without any.
func (h *histogram) quantile(percent int) time.Duration {
	rank := (h.total*percent + 99) / 100
	for bucket := range bucketOf(h.max) + 1 {
		if rank -= h.counts[bucket]; rank <= 0 && h.total > 0 {
			return min(middle(bucket), h.max)
		}
	}
	return 0
}
