// Package jsonx reads and rewrites JSON without losing its order, the notation of its numbers or duplicate keys.
//
// Comparison of JSON by value belongs in package fingerprint. Start with [Decode] and [Encode].
package jsonx
