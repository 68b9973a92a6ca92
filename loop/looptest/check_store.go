package looptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// CheckStore runs the conformance suite for implementations of [agent.Store]. The function open returns a new, empty
// store each time. For example:
//
//	looptest.CheckStore(t, func(t *testing.T) agent.Store { return session.Dir{Path: t.TempDir()} })
//
// The suite checks that a key can be any text but "", that values are copied, that a Put is done whole or not at all,
// that lists are sorted, that a missing value is an [*agent.NotFound], that a done context ends a call without an
// effect, and that concurrent calls are safe. Run it with the race detector too.
//
// A store for suspended runs also has the method Swap of session.SwapStore. The suite checks that it changes nothing if
// the value is not the old one, and that one of many concurrent calls with the same old value succeeds.
func CheckStore(t *testing.T, open func(t *testing.T) agent.Store) {
	t.Helper()
	for _, c := range storeChecks {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// storeChecks are the checks of CheckStore, each of an empty store.
var storeChecks = []struct {
	name  string
	check func(t testing.TB, s agent.Store)
}{
	{"nothing is stored", checkEmptyStore},
	{"keys are any text", checkKeys},
	{"values are any bytes", checkValues},
	{"values are copied", checkCopies},
	{"lists have a prefix", checkPrefixes},
	{"deleted values are gone", checkDelete},
	{"done contexts have no effect", checkDoneContext},
	{"values are whole", checkWhole},
	{"many keys", checkManyKeys},
	{"one of many swaps a value", checkSwap},
}

// A swapper is a store in which one of several callers replaces a value.
type swapper interface {
	Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error)
}

// missing reports an error that is not an *agent.NotFound.
func missing(t testing.TB, what string, err error) {
	t.Helper()
	if found := new(agent.NotFound); !errors.As(err, &found) {
		t.Errorf("%s: the error is %v; want an *agent.NotFound", what, err)
	}
}

// put stores a value, or ends the check.
func put(t testing.TB, s agent.Store, key string, value []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, value); err != nil {
		t.Fatalf("Put(%.100q): %v", key, err)
	}
}

// has checks the value of a key.
func has(t testing.TB, s agent.Store, key string, want []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("Get(%.100q) = %.100q, %v; want %.100q", key, got, err, want)
	}
}

// lists checks the keys with a prefix.
func lists(t testing.TB, s agent.Store, prefix string, want ...string) {
	t.Helper()
	got, err := s.Keys(t.Context(), prefix)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Keys(%q) = %.300q, %v; want %.300q", prefix, got, err, want)
	}
}

func checkEmptyStore(t testing.TB, s agent.Store) {
	_, err := s.Get(t.Context(), "a")
	missing(t, `Get("a") of an empty store`, err)
	if found := new(agent.NotFound); errors.As(err, &found) && found.Key != "a" {
		t.Errorf(`the *agent.NotFound of Get("a") has the key %q`, found.Key)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Errorf("Delete of a missing key: %v; want no error", err)
	}
	lists(t, s, "")
	if s.Put(t.Context(), "", []byte("x")) == nil {
		t.Error(`Put("") was accepted; want an error`)
	}
	if got, err := s.Get(t.Context(), ""); err == nil {
		t.Errorf(`Get("") = %q; want an error`, got)
	}
	lists(t, s, "")
}

// hostileKeys are keys that differ, but that a careless store takes for equal, for a path or for the end of a text.
func hostileKeys() []string {
	long := strings.Repeat("long/", 800)
	return []string{
		" ", "a", "A", "a ", " a", "a.", "a/", "/a", "a//b", "a/b", "a\\b", ".", "..", "../a", "/etc/passwd", "a/../b", "~",
		"a\x00", "a\x00b", "\x00", "a\nb", "a\xff", "a\xfe", "\xff\xff", "ä", "a\u0308", "\u212a", "K", "日本", "😀",
		"%61", "a%2fb",
		"CON", "nul.txt", "a:b", "a*", "a?", "a_", "a%", "'", `"`, "a;--", "$(a)", long + "1", long + "2", long + "2\xff",
	}
}

func checkKeys(t testing.TB, s agent.Store) {
	keys := hostileKeys()
	for i, key := range keys {
		if i%2 == 0 {
			put(t, s, key, []byte("old"))
		}
	}
	for _, key := range keys {
		put(t, s, key, []byte("value of "+key))
	}
	for _, key := range keys {
		has(t, s, key, []byte("value of "+key))
	}
	slices.Sort(keys)
	lists(t, s, "", keys...)
}

func checkValues(t testing.TB, s agent.Store) {
	for _, value := range [][]byte{
		[]byte("first"), {}, nil, {0}, []byte("\xff\xfe\x00"), []byte("'\"; --"),
		bytes.Repeat([]byte("0123456789abcdef"), 1<<16), []byte("short again"),
	} {
		put(t, s, "key", value)
		has(t, s, "key", value)
	}
}

func checkCopies(t testing.TB, s agent.Store) {
	value := []byte("value")
	put(t, s, "key", value)
	value[0] = '!'
	got, _ := s.Get(t.Context(), "key")
	if string(got) != "value" {
		t.Errorf("a change of the slice after Put changed the stored value to %q", got)
	}
	if len(got) > 0 {
		got[0] = '!'
	}
	if again, _ := s.Get(t.Context(), "key"); string(again) != "value" {
		t.Errorf("a change of the slice from Get changed the stored value to %q", again)
	}
	if keys, _ := s.Keys(t.Context(), ""); len(keys) > 0 {
		keys[0] = "changed"
	}
	lists(t, s, "", "key")
}

func checkPrefixes(t testing.TB, s agent.Store) {
	for _, key := range []string{"b", "a%", "a", "a_b", "axb", "a/b", "A", "ab", "a*", "a[b]", "ä", "a\xffb", "a\xff"} {
		put(t, s, key, nil)
	}
	lists(t, s, "", "A", "a", "a%", "a*", "a/b", "a[b]", "a_b", "ab", "axb", "a\xff", "a\xffb", "b", "ä")
	lists(t, s, "a", "a", "a%", "a*", "a/b", "a[b]", "a_b", "ab", "axb", "a\xff", "a\xffb")
	lists(t, s, "a%", "a%")
	lists(t, s, "a_", "a_b")
	lists(t, s, "a*", "a*")
	lists(t, s, "a[", "a[b]")
	lists(t, s, "a/b", "a/b")
	lists(t, s, "a\xff", "a\xff", "a\xffb")
	lists(t, s, "\xff")
	lists(t, s, "\xc3", "ä")
	lists(t, s, "a/bc")
}

func checkDelete(t testing.TB, s agent.Store) {
	for _, key := range []string{"a", "ab", "b"} {
		put(t, s, key, []byte(key))
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	_, err := s.Get(t.Context(), "a")
	missing(t, "Get of a deleted key", err)
	has(t, s, "ab", []byte("ab"))
	lists(t, s, "", "ab", "b")
	put(t, s, "a", []byte("again"))
	has(t, s, "a", []byte("again"))
}

func checkDoneContext(t testing.TB, s agent.Store) {
	put(t, s, "kept", []byte("old"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, got := s.Get(ctx, "kept")
	_, listed := s.Keys(ctx, "")
	for _, c := range []struct {
		call string
		err  error
	}{
		{"Get", got}, {"Keys", listed}, {"Put", s.Put(ctx, "kept", []byte("new"))}, {"Delete", s.Delete(ctx, "kept")},
	} {
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v; want an error that wraps context.Canceled", c.call, c.err)
		}
	}
	has(t, s, "kept", []byte("old"))
}

// checkWhole writes values of different lengths to two keys, and reads them meanwhile.
func checkWhole(t testing.TB, s agent.Store) {
	values := [][]byte{
		bytes.Repeat([]byte("a"), 50_000), bytes.Repeat([]byte("b"), 10), bytes.Repeat([]byte("c"), 5000),
	}
	put(t, s, "0", values[0])
	put(t, s, "1", values[1])
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 15 {
				key := fmt.Sprint(i % 2)
				if err := s.Put(t.Context(), key, values[(w+i)%len(values)]); err != nil {
					t.Errorf("a concurrent Put: %v", err)
				}
			}
		})
		all.Go(func() {
			for i := range 15 {
				got, err := s.Get(t.Context(), fmt.Sprint(i%2))
				if err != nil || !slices.ContainsFunc(values, func(v []byte) bool { return bytes.Equal(v, got) }) {
					t.Errorf("during a Put, Get returned %d bytes, %v; want one of the values that were put", len(got), err)
				}
				if keys, err := s.Keys(t.Context(), ""); err != nil || len(keys) != 2 {
					t.Errorf("during a Put, Keys returned %q, %v; want both keys", keys, err)
				}
			}
		})
	}
	all.Wait()
}

func checkManyKeys(t testing.TB, s agent.Store) {
	var want []string
	for i := range 300 {
		key := fmt.Sprintf("many/%03d", i)
		want = append(want, key)
		put(t, s, key, []byte(key))
	}
	lists(t, s, "many/", want...)
	lists(t, s, "many/12", want[120:130]...)
	has(t, s, "many/299", []byte("many/299"))
}

func checkSwap(t testing.TB, s agent.Store) {
	in, ok := s.(swapper)
	if !ok {
		return
	}
	swaps := func(key string, old, value []byte, want bool) {
		t.Helper()
		if swapped, err := in.Swap(t.Context(), key, old, value); err != nil || swapped != want {
			t.Errorf("Swap(%.100q, %.100q, %.100q) = %t, %v; want %t", key, old, value, swapped, err, want)
		}
	}
	if _, err := in.Swap(t.Context(), "", nil, []byte("x")); err == nil {
		t.Error(`Swap of "" was accepted; want an error`)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 10 {
		key := fmt.Sprint("suspended/", i, strings.Repeat("/long", 20*i))
		first, second := []byte(key), []byte(key+" again")
		swaps(key, first, second, false)
		swaps(key, nil, first, true)
		swaps(key, nil, second, false)
		swaps(key, first[1:], second, false)
		if _, err := in.Swap(done, key, first, second); !errors.Is(err, context.Canceled) {
			t.Errorf("Swap with a cancelled context: %v; want an error that wraps context.Canceled", err)
		}
		has(t, s, key, first)
		oneSwaps(t, in, key, first)
		now, err := s.Get(t.Context(), key)
		if err != nil || bytes.Equal(now, first) {
			t.Errorf("after a Swap, Get(%.100q) = %.100q, %v", key, now, err)
		}
		swaps(key, first, nil, false)
		swaps(key, now, nil, true)
		_, err = s.Get(t.Context(), key)
		missing(t, "Get of a key that was swapped for nil", err)
	}
	lists(t, s, "")
}

// oneSwaps swaps a value in several goroutines, each for another value.
func oneSwaps(t testing.TB, s swapper, key string, old []byte) {
	var (
		won  atomic.Int32
		wait sync.WaitGroup
	)
	for i := range 4 {
		wait.Go(func() {
			swapped, err := s.Swap(t.Context(), key, old, fmt.Append(nil, "by ", i))
			if err != nil {
				t.Errorf("Swap of a value that others swap: %v", err)
			}
			if swapped {
				won.Add(1)
			}
		})
	}
	wait.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d of 4 concurrent calls of Swap succeeded; want 1", n)
	}
}
