module github.com/hookgen/hookgen/contrib/mcp

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/hookgen/hookgen v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

// Because this module lies in the other's tree. It has no effect on programs that use it.
replace github.com/hookgen/hookgen => ../..
