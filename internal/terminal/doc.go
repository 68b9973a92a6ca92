// Package terminal recognizes terminals, and escapes untrusted text before it is written to one. For example, a model
// calls a tool with a text that clears the screen, or that shows "exe.txt" for "txt.exe".
package terminal
