package main

import "testing"

func TestModulePath(t *testing.T) {
	for text, want := range map[string]string{
		"module example.com/m\n":                           "example.com/m",
		"\ufeffmodule example.com/m\r\n\r\ngo 1.26\r\n":    "example.com/m",
		"// Copyright.\n\nmodule example.com/m // of us\n": "example.com/m",
		"module \"example.com/m\"\n":                       "example.com/m",
		"module `example.com/m`\n":                         "example.com/m",
		"module (\n\t// why not\n\texample.com/m\n)\n":     "example.com/m",
		"go 1.26\nmodule m":                                "m",
		"go 1.26\n":                                        "",
		"module\n":                                         "",
		"modules example.com/m\n":                          "",
		"":                                                 "",
	} {
		if got := modulePath([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestInternalParent(t *testing.T) {
	for path, want := range map[string]string{
		"example.com/m/internal":           "example.com/m",
		"example.com/m/internal/a":         "example.com/m",
		"example.com/internal/a/internal/": "example.com/internal/a",
		"example.com/internals/a":          "",
		"internal/a":                       "",
		"example.com/m":                    "",
	} {
		if got, _ := internalParent(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestPackageNamed(t *testing.T) {
	for dir, want := range map[string]string{
		"mail": "mail", "Mail-Room": "mailroom", "2026": "mail2026", "": "mail", "/": "mail", "func": "funchooks",
		"main": "mainhooks", "Über": "ber", "a.b": "ab",
	} {
		if got := packageNamed(dir); got != want {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}
