// Package golangci adds the checks of package hookvet to golangci-lint, as its module plugin "hookvet". It is a module
// of its own, so that programs with hooks do not depend on golangci-lint. The page docs/hooks/hookvet.md has the
// configuration.
//
// Start with hookvet.go, which registers the plugin when golangci-lint imports the package.
package golangci
