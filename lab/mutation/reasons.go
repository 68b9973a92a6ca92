package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// reasons are the explanations of equivalent.txt, by the keys of mutants.
type reasons map[string]string

// readReasons reads blocks of keys, one per line, each block followed by a line with a colon and the reason. Lines
// that begin with # are comments.
func readReasons(path string) (reasons, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	rs := reasons{}
	var open []string
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		reason, is := strings.CutPrefix(line, ":")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case is && len(open) > 0:
			for _, key := range open {
				rs[key] = strings.TrimSpace(reason)
			}
			open = nil
		case is || strings.Count(line, " | ") != 3:
			return nil,
				fmt.Errorf("%s:%d: not a key; write file | function | mutant | number, and a reason after a colon on a line below",
					path, n+1)
		default:
			open = append(open, line)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%s: no reason below %s", path, open[0])
	}
	return rs, nil
}
