//go:build js

// Command wasm is the program that the playground's page loads. It defines two functions of the page:
// hookgenExports(Uint8Array) takes the archive of packages, and hookgenAnswer(string) returns the answer to a question,
// both as JSON. Then it calls hookgenReady.
package main

import (
	"encoding/json"
	"syscall/js"

	"github.com/hookgen/hookgen/site/playground"
)

func main() {
	var player playground.Player
	js.Global().Set("hookgenExports", js.FuncOf(func(_ js.Value, args []js.Value) any {
		archive := make([]byte, args[0].Length())
		js.CopyBytesToGo(archive, args[0])
		exports, err := playground.ReadExports(archive)
		if err != nil {
			return err.Error()
		}
		player.Exports = exports
		return ""
	}))
	js.Global().Set("hookgenAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var q playground.Question
		if err := json.Unmarshal([]byte(args[0].String()), &q); err != nil {
			return `{"changesProblem":"the question is not valid JSON"}`
		}
		text, err := json.Marshal(player.Answer(q))
		if err != nil {
			return `{"changesProblem":"the answer cannot be encoded"}`
		}
		return string(text)
	}))
	js.Global().Call("hookgenReady")
	select {}
}
