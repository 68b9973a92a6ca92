package hooklog

import (
	"encoding/json"
	"hash/maphash"
	"testing"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// FuzzHashJSON hashes any value as it is and as this package writes it. The hashes are equal.
func FuzzHashJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[true,false,null,"x"]}`, ` {"b" : [ 1.50 , -2e+9 ] , "a" : "\u003c\n\ud800" } `, `"é"`,
		`[[],{},[{}]]`, `{"":{"":""}}`,
		"\"\xff\"", `1e999`, `[1,2`, ``, `{"a":1,"a":2}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hash := hashJSON(json.RawMessage(text))
		if wire.UnmarshalReply(t.Context(), []byte(text), new(any)) != nil {
			return // not JSON, or with a key that is given twice, which is then another payload
		}
		again := normal(nil, json.RawMessage(text))
		if hashJSON(again) != hash {
			t.Errorf("%s and %s have different hashes", text, again)
		}
	})
}

// TestHashesCannotBePredicted has payloads of which a hostile program could make many with equal hashes, if it could
// calculate them.
func TestHashesCannotBePredicted(t *testing.T) {
	seed := hashSeed
	defer func() { hashSeed = seed }()
	for _, text := range []string{`{}`, `[]`, `0`, `""`, `true`, `false`, `null`, `[[]]`, `[{},true,[false,null]]`} {
		hash := hashJSON(json.RawMessage(text))
		hashSeed = maphash.MakeSeed()
		if hashJSON(json.RawMessage(text)) == hash {
			t.Errorf("the hash of %s does not depend on the seed", text)
		}
	}
}

func TestDifferentPayloadsHaveDifferentHashes(t *testing.T) {
	seen := map[uint64]string{}
	for _, text := range []string{
		`{}`, `[]`, `""`, `0`, `1`, `true`, `false`, `null`, `{"a":1}`, `{"a":"1"}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`,
		`[1,2]`, `[2,1]`, `[[1],2]`, `[1,[2]]`, `{"a":{"b":1}}`, `{"b":{"a":1}}`, `["a"]`, `["a","a"]`, `{"a":"a"}`,
		`1.0`, `"1"`, `"true"`, `"{}"`, `[[]]`,
	} {
		hash := hashJSON(json.RawMessage(text))
		if other := seen[hash]; other != "" {
			t.Errorf("%s and %s have the same hash", text, other)
		}
		seen[hash] = text
	}
}
