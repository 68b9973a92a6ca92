package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReasonsNameFilesThatExist(t *testing.T) {
	reasons, err := readReasons("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	for key := range reasons {
		file, _, _ := strings.Cut(key, " | ")
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}
