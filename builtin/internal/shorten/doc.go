// Package shorten truncates texts at character boundaries: at the end, in the middle, or to one line.
//
// Lengths are in characters (runes) unless a comment says otherwise. Start with [To].
package shorten
