package main

import "embed"

//go:embed help/*.txt
var helps embed.FS

// helpOf returns the help of a command, or that of all if the command is "hooklog".
func helpOf(command string) string {
	text, err := helps.ReadFile("help/" + command + ".txt")
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}
