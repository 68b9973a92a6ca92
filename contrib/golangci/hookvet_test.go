package golangci

import (
	"slices"
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/hookgen/hookgen/hookvet"
)

func TestPluginIsRegistered(t *testing.T) {
	build, err := register.GetPlugin("hookvet")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		conf    any
		without []string
		problem string
	}{
		"without settings":  {nil, nil, ""},
		"without two":       {map[string]any{"disable": []string{"unfired", "options"}}, []string{"unfired", "options"}, ""},
		"an unknown check":  {map[string]any{"disable": []string{"unfird"}}, nil, `there is no check "unfird"`},
		"an unknown option": {map[string]any{"enable": []string{"unfired"}}, nil, "enable"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := build(c.conf)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.BuildAnalyzers()
			if err != nil || analysis.Validate(got) != nil || p.GetLoadMode() != register.LoadModeTypesInfo {
				t.Fatal(err, analysis.Validate(got), p.GetLoadMode())
			}
			for _, a := range hookvet.Analyzers() {
				has := slices.ContainsFunc(got, func(g *analysis.Analyzer) bool { return g.Name == a.Name })
				if has == slices.Contains(c.without, a.Name) {
					t.Errorf("has %s: %t", a.Name, has)
				}
			}
		})
	}
}
