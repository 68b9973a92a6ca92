// Package jsonx reads and rewrites JSON as it is written: in order, with numbers and duplicate keys intact.
package jsonx
