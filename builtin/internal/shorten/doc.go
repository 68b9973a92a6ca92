// Package shorten cuts texts at character boundaries: at the end, in the middle, or to one line.
package shorten
