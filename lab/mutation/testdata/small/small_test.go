package small

import "testing"

func TestSign(t *testing.T) {
	if Sign(-5) != -1 || Sign(5) != 1 {
		t.Error("wrong sign")
	}
}

func TestLarger(t *testing.T) {
	if Larger(1, 2) != 2 || Larger(2, 1) != 2 || Larger(2, 2) != 2 {
		t.Error("not the larger")
	}
}

func TestWait(t *testing.T) {
	if Wait(3) != 3 {
		t.Error("not waited")
	}
}
