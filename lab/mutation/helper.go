package main

// helperFile is added to the instrumented package. A program runs with one mutant. Or it runs without mutants and
// records in a file, one byte each, which mutants it reaches. The file is mapped into memory, so that a crash
// loses nothing.
const helperFile = `package helper

import (
	"cmp"
	"os"
	"strconv"
	"syscall"
)

const reachedSize = 0

var mutantChosen, mutantReached = mutantSettings()

func mutantSettings() (int, []byte) {
	if n, err := strconv.Atoi(os.Getenv("HOOKGEN_MUTANT")); err == nil {
		return n, nil
	}
	path := os.Getenv("HOOKGEN_MUTANTS_REACHED")
	if path == "" {
		return 0, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	if err := f.Truncate(reachedSize); err != nil {
		panic(err)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, reachedSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return 0, data
}

func mutantIs(id int) bool {
	if mutantReached != nil {
		mutantReached[id] = 1
	}
	return id == mutantChosen
}

func mutantInt(id, as, mutated int) int {
	if mutantIs(id) {
		return mutated
	}
	return as
}

func mutantLess[T cmp.Ordered](boundary, negated int, a, b T) bool {
	return mutantIs(negated) != (a < b || mutantIs(boundary) && a == b)
}

func mutantMore[T cmp.Ordered](boundary, negated int, a, b T) bool {
	return mutantIs(negated) != (a > b || mutantIs(boundary) && a == b)
}

func mutantLessOrSame[T cmp.Ordered](boundary, negated int, a, b T) bool {
	return mutantIs(negated) != (a < b || !mutantIs(boundary) && a == b)
}

func mutantMoreOrSame[T cmp.Ordered](boundary, negated int, a, b T) bool {
	return mutantIs(negated) != (a > b || !mutantIs(boundary) && a == b)
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

func mutantAdd[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a - b
	}
	return a + b
}

func mutantSub[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a + b
	}
	return a - b
}

func mutantMul[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a / b
	}
	return a * b
}

func mutantQuo[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a * b
	}
	return a / b
}

func mutantAnd[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a | b
	}
	return a & b
}

func mutantOr[T mutantInteger](id int, a, b T) T {
	if mutantIs(id) {
		return a & b
	}
	return a | b
}
`
