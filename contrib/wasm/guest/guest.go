// Package guest is the other end of package wasm: a program that imports it answers the calls of a host, when it is
// built with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared. Start with [Serve].
package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"unsafe"

	"github.com/hookgen/hookgen/hookkit/wire"
)

var (
	handler wire.Handler
	request []byte // the last one
	reply   []byte // the last one; kept so that it is not collected before the host has read it
)

// Serve sets the handler that answers the host. Call it in a function init: the function main of a guest does not run.
// The last call counts.
//
// One call at a time reaches the handler, and goroutines of the guest run during calls only. The context of hooks has
// the deadline of the host.
func Serve(h wire.Handler) { handler = h }

// buffer returns the address to which the host writes the next request.
//
//go:wasmexport hookgen_buffer
func buffer(size uint32) uint32 {
	if uint32(cap(request)) < size {
		request = make([]byte, size)
	}
	request = request[:size]
	return address(request)
}

//go:wasmexport hookgen_describe
func describe() uint64 {
	d, err := handler.Describe(context.Background())
	return answer(d, err)
}

//go:wasmexport hookgen_call
func call() uint64 {
	var q wire.Request
	if err := wire.UnmarshalRequest(context.Background(), request, &q); err != nil {
		return answer(nil, err)
	}
	r, err := handler.Call(context.Background(), q)
	return answer(r, err)
}

// answer returns the address of a message in the upper half and its size in the lower half. An error is an empty
// message, and its text goes to standard error.
func answer(message any, err error) uint64 {
	if err == nil {
		reply, err = json.Marshal(message)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 0
	}
	return uint64(address(reply))<<32 | uint64(len(reply))
}

// address returns the address of a text, which has 32 bits in WebAssembly.
func address(text []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(text)))) }
