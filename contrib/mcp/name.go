package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maxServerName = 32
	maxToolName   = 64 // at the strictest of the common model providers
	separator     = "__"
	hashDigits    = 8
)

// toolName returns the name of a server's tool for models. Some names are illegal at model providers, for example
// "issues.create" or one with 100 letters. They are changed, and a hash of the original name keeps them apart.
func toolName(server, remote string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, remote)
	name := server + separator + legal
	if legal == remote && len(name) <= maxToolName {
		return name
	}
	hash := sha256.Sum256([]byte(remote))
	return name[:min(len(name), maxToolName-hashDigits-1)] + "_" + hex.EncodeToString(hash[:])[:hashDigits]
}
