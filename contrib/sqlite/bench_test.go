package sqlite

import (
	"fmt"
	"testing"
)

// BenchmarkPut measures a write of 4 KB that is on the disk when the call returns.
func BenchmarkPut(b *testing.B) {
	s, value := Store{newDB(b)}, make([]byte, 4096)
	for i := 0; b.Loop(); i++ {
		if err := s.Put(b.Context(), fmt.Sprint(i%1000), value); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGet measures a read of 4 KB.
func BenchmarkGet(b *testing.B) {
	s, value := Store{newDB(b)}, make([]byte, 4096)
	if err := s.Put(b.Context(), "key", value); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), "key"); err != nil {
			b.Fatal(err)
		}
	}
}
