// Package fingerprint compares calls of tools and their results by value, however their JSON is written.
package fingerprint
