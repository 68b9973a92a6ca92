module github.com/hookgen/hookgen/contrib/golangci

go 1.26.0

require (
	github.com/golangci/plugin-module-register v0.1.2
	github.com/hookgen/hookgen v0.0.0
	golang.org/x/tools v0.52.0
)

// Because this module lies in the other's tree. It has no effect on programs that use the plugin.
replace github.com/hookgen/hookgen => ../..
