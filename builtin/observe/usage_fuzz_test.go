package observe

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzUsageFrom checks that token counts are never negative and cached tokens never exceed the input.
func FuzzUsageFrom(f *testing.F) {
	for _, s := range append([]string{
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}`,
		`{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}`,
		`{"prompt_tokens":-10,"completion_tokens":20}`, `{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":-7}}`,
		`{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}`,
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`,
		`{"prompt_tokens":null,"input_tokens":3}`, `{"prompt_tokens":1.0}`, `{"prompt_tokens":1,"PROMPT_TOKENS":2}`,
		`{"prompt_tokens_details":null,"prompt_tokens":1}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u := UsageFrom(data)
		if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() < 0 ||
			u.CacheRead > u.Input-u.CacheWrite {
			t.Errorf("%s is %+v", data, u)
		}
		same := jsonx.Encode(map[string]int{
			"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": u.Output,
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		})
		if again := UsageFrom(same); again != u {
			t.Errorf("%+v, written as %s, is %+v", u, same, again)
		}
	})
}
