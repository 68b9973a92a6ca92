package main

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/hookgen/hookgen/builtin/redact"
)

// TestSamplesOfGitleaksAreRedacted draws the samples of the rules of gitleaks, as a module of its version.
func TestSamplesOfGitleaksAreRedacted(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator of gitleaks, which needs a network the first time")
	}
	download := exec.Command("go", "mod", "download", "-json", gitleaks)
	download.Dir = t.TempDir()
	data, err := download.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(data, &module)
	}
	if err != nil {
		t.Fatalf("go mod download: %v\n%s", err, data)
	}
	rules, err := gitleaksRules(module.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &redact.Redactor{KeepPersonal: true}
	if n := negatives(r, rules); n.negative < 370 || n.changed > 60 {
		t.Errorf("%d of %d negative samples are changed, more than 60", n.changed, n.negative)
	}
	if len(contexts) < 25 {
		t.Errorf("%d contexts", len(contexts))
	}
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			if n := positives(r, rules, c); n.positive < 6000 || 100*n.found < 97*n.positive {
				t.Errorf("%d of %d positive samples are found, less than 97 %%", n.found, n.positive)
			}
		})
	}
}
