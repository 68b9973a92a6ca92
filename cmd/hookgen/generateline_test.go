package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGenerateLines(t *testing.T) {
	for line, want := range map[string]string{
		"//go:generate go tool hookgen":                                           "mail ->",
		"//go:generate hookgen":                                                   "mail ->",
		"//go:generate ./bin/hookgen.exe -o hooks":                                "mail -> mail/hooks",
		"//go:generate go tool hookgen -o ../hooks":                               "mail -> hooks",
		"//go:generate go tool hookgen -o=hooks ./letters":                        "mail/letters -> mail/hooks",
		"//go:generate go tool -n hookgen -json":                                  "mail ->",
		"//go:generate go run ../cmd/hookgen":                                     "mail ->",
		"//go:generate go run -modfile tools.mod example.com/hookgen@v1.2.3 -o x": "mail -> mail/x",
		"//go:generate go run -tags=a -race example.com/cmd/hookgen":              "mail ->",
		"//go:generate\tgo\ttool\thookgen  -o  $OUT":                              "problem",
		"//go:generate go tool \"hookgen\" \"-o\" \"two words\"":                  "problem",
		"//go:generate go run -C ../tools example.com/hookgen -o x ../mail":       "problem",
		"//go:generate go run -C=/tools example.com/hookgen":                      "problem",
		"//go:generate go tool hookgen check":                                     "",
		"//go:generate go tool hookgen version":                                   "",
		"//go:generate stringer -type Kind":                                       "",
		"//go:generate":                                                           "",
		"//go:generatego tool hookgen":                                            "",
		"// go:generate stringer -type Kind":                                      "",
		"// go:generate go tool hookgen":                                          "problem",
		"//  go:generate go tool hookgen":                                         "problem",
		"\t//go:generate go tool hookgen":                                         "problem",
		"//\t//go:generate go tool hookgen":                                       "",
		"// see go:generate go tool hookgen":                                      "",
		"//go:generate sh -c \"go tool hookgen\"":                                 "problem",
		"//go:generate make hookgen":                                              "problem",
		"//go:generate go build ../cmd/hookgen":                                   "problem",
		"//go:generate go tool stringer hookgen":                                  "problem",
		"//go:generate go tool hookgen one two":                                   "problem",
		"//go:generate go tool hookgen -unknown":                                  "problem",
		"//go:generate go tool hookgen \"open":                                    "problem",
		"//go:generate stringer \"open":                                           "",
		"//go:generate \"hookgen\"x":                                              "problem",
		"//go:generate -command hg go tool hookgen\n//go:generate hg -o x":        "problem",
		"//go:generate go tool hookgen\r":                                         "mail ->",
	} {
		t.Run(line, func(t *testing.T) {
			var got []string
			for _, l := range generateLines(filepath.FromSlash("mail/spec.go"), []byte("package mail\n"+line+"\n")) {
				if l.problem != "" {
					got = append(got, "problem")
					continue
				}
				got = append(got, strings.TrimSpace(filepath.ToSlash(l.dir)+" -> "+filepath.ToSlash(l.out)))
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Every text has lines with a position in it, and reading it twice gives the same.
func FuzzGenerateLines(f *testing.F) {
	for _, seed := range []string{
		"//go:generate go tool hookgen -o x\n", "//go:generate -command a hookgen\n//go:generate a",
		"//go:generate \"hookgen\" $", "// go:generate hookgen", "//go:generate hookgen ${", "\x00//go:generate hookgen",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := generateLines("p/spec.go", []byte(text))
		for _, l := range lines {
			if l.pos.Line < 1 || l.pos.Line > strings.Count(text, "\n")+1 || l.pos.Column < 1 {
				t.Errorf("position %v", l.pos)
			}
			if (l.dir == "") == (l.problem == "") {
				t.Errorf("neither a directory nor a problem, or both: %+v", l)
			}
		}
		if again := generateLines("p/spec.go", []byte(text)); !slices.Equal(lines, again) {
			t.Errorf("read twice: %v and %v", lines, again)
		}
	})
}
