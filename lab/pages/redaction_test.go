package main

import "testing"

func TestOrdinaryTextsOfTheRepositoryStay(t *testing.T) {
	for _, o := range ordinary() {
		t.Run(o.name, func(t *testing.T) {
			if len(o.text) < 5000 {
				t.Errorf("the text has %d bytes", len(o.text))
			}
			if n := places(o.text); n > 0 {
				t.Errorf("%d places change", n)
			}
		})
	}
}
