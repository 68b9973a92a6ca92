package releases_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/loop/testdata/releases"
)

func TestReleasesChangeOnePlaceEach(t *testing.T) {
	got := make(map[string]string)
	for what, data := range releases.Of([]byte(`{"a":[{"n":1}],"args":{"b":2},"none":null}`), "args") {
		got[what] = string(data)
	}
	want := map[string]string{
		"type of ": `"text"`, "field of ": `{"a":[{"n":1}],"added_later":1,"args":{"b":2},"none":null}`,
		"type of .a":      `{"a":{"changed":1},"args":{"b":2},"none":null}`,
		"type of .a[0]":   `{"a":["text"],"args":{"b":2},"none":null}`,
		"type of .a[0].n": `{"a":[{"n":"text"}],"args":{"b":2},"none":null}`,
		"field of .a[0]":  `{"a":[{"added_later":1,"n":1}],"args":{"b":2},"none":null}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(maps.Collect(releases.Of([]byte(`[]`)))); n != 1 {
		t.Errorf("%d changes of an empty array", n)
	}
}
