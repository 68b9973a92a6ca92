package golangci

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/hookgen/hookgen/hookvet"
)

func init() { register.Plugin("hookvet", newPlugin) }

// settings are the legal settings in the configuration of golangci-lint.
type settings struct {
	// Disable lists checks that do not run, for example unfired.
	Disable []string `json:"disable"`
}

type plugin struct{ settings settings }

func newPlugin(conf any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[settings](conf)
	if err != nil {
		return nil, fmt.Errorf("hookvet: %w", err)
	}
	for _, name := range s.Disable {
		if !slices.ContainsFunc(hookvet.Analyzers(), func(a *analysis.Analyzer) bool { return a.Name == name }) {
			return nil, fmt.Errorf("hookvet: disable: there is no check %q", name)
		}
	}
	return plugin{s}, nil
}

// BuildAnalyzers returns the checks that are not disabled.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return slices.DeleteFunc(hookvet.Analyzers(), func(a *analysis.Analyzer) bool {
		return slices.Contains(p.settings.Disable, a.Name)
	}), nil
}

// GetLoadMode says that the checks need types.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
