// Command pack writes the archive of packages that a spec or a hook may import in the playground, with the export data
// of the compiler:
//
//	go run ./site/playground/pack FILE
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/hookgen/hookgen/site/playground"
)

// packages are what programs with hooks import.
var packages = strings.Fields(`
bufio bytes cmp context crypto/sha256 encoding/base64 encoding/hex encoding/json errors fmt html io io/fs iter log
log/slog maps math math/rand/v2 mime net/http net/mail net/netip net/url os path path/filepath reflect regexp slices
sort strconv strings sync sync/atomic testing text/template time unicode unicode/utf8
github.com/hookgen/hookgen/generated/agent
github.com/hookgen/hookgen/hookkit
github.com/hookgen/hookgen/hookkit/hookimpl
github.com/hookgen/hookgen/hookkit/hooklog
github.com/hookgen/hookgen/hookkit/wire
github.com/hookgen/hookgen/hookkit/wire/wireimpl
github.com/hookgen/hookgen/spec
github.com/hookgen/hookgen/spec/agentspec
`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run ./site/playground/pack FILE")
	}
	exports, err := load()
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := playground.WriteExports(&archive, exports); err != nil {
		return err
	}
	return os.WriteFile(args[0], archive.Bytes(), 0o644)
}

// load compiles the packages for linux/amd64, whose sizes of types the playground uses.
func load() (map[string][]byte, error) {
	list := exec.Command("go", append([]string{"list", "-export", "-trimpath", "-f", "{{.ImportPath}}\t{{.Export}}"},
		packages...)...)
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := make(map[string][]byte)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		data, err := section(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		exports[path] = data
	}
	return exports, nil
}

// section returns the export data in an object file.
func section(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()                     //nolint:errcheck // it was only read
	r, err := gcexportdata.NewReader(f) //nolint:staticcheck // what go list -export names is such an archive
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	_, err = data.ReadFrom(r)
	return data.Bytes(), err
}
