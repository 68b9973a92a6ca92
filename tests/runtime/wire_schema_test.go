package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/export"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote"
	"pgregory.net/rapid"
)

// TestMessagesMatchExportedSchemas: payloads and replies on the wire are valid by the schemas of hookgen export.
func TestMessagesMatchExportedSchemas(t *testing.T) {
	spec, found := gen.Read("../fixture")
	if len(found) > 0 {
		t.Fatal(found)
	}
	exported, err := export.Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	model := exported.Model()
	schemas := map[string]*jsonschema.Resolved{}
	for _, d := range exported.Documents() {
		if schemas[d.Name], err = d.Schema.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	validate := func(t *rapid.T, name string, message any) []byte {
		text, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); err != nil {
			t.Fatal(err)
		}
		if schemas[name] == nil {
			t.Fatalf("there is no %s", name)
		}
		if err := schemas[name].Validate(value); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		return text
	}
	for i, point := range wirePoints(new(fixture.Hooks)) {
		if strings.Contains(point.Name, "Back") || strings.HasSuffix(point.Name, "Closed") {
			continue // messages depend neither on the order nor on the policy
		}
		t.Run(point.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var service fixture.Hooks
				service.HandleFailures(func(context.Context, *hookkit.Failure) {})
				for range rapid.IntRange(0, 3).Draw(t, "hooks") {
					wirePoints(&service)[i].AddAny(remote.DrawHook(t, point))
				}
				payload := remote.DrawValue(t, reflect.TypeOf(point.New()).Elem(), "payload").Interface()
				reply, err := fixture.Serve(&service, nil).Call(t.Context(), wire.Request{
					Protocol: wire.Protocol, Spec: model.Path, Point: point.Name,
					Payload: validate(t, point.Name+".payload.schema.json", payload),
				})
				if err != nil {
					t.Fatal(err)
				}
				validate(t, point.Name+".reply.schema.json", reply)
			})
		})
	}
}
