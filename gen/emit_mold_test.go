package gen

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write molds.txt anew")

// TestMoldsAreFresh holds molds.txt to what the emitter emits, for every law that a point can have.
func TestMoldsAreFresh(t *testing.T) {
	e := newEmitter(&Spec{Package: "p", SpecPkg: Import{Name: "spec", Path: "example.org/spec"}}, Output{Package: "p"})
	made := map[string]*piece{}
	e.shapes(func(p *pointEmitter) {
		for _, part := range parts {
			key := moldKey(part.name, p.shape(), part.forget)
			raw := e.raw(func(f *jen.File) { part.emit(p, f) })
			if old := made[key]; old != nil && string(old.raw) != string(raw) {
				t.Fatalf("mold %s depends on more than its key:\n%s", key, cmp.Diff(string(old.raw), string(raw)))
			}
			made[key] = &piece{raw: raw}
		}
	})
	var todo []*piece
	var keys []string
	for key, m := range made {
		todo, keys = append(todo, m), append(keys, key)
	}
	if err := formatAll(todo); err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(moldMark + key + "\n")
		if text := strings.TrimSpace(string(made[key].text)); text != "" {
			b.WriteString(text + "\n")
		}
	}
	if *update {
		if err := os.WriteFile("molds.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), moldsText); diff != "" {
		t.Errorf("molds.txt is not what the emitter emits; run go generate ./gen (-want +got):\n%s", diff)
	}
}
