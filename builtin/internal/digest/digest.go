// Package digest identifies tool calls by a cryptographic hash, for security decisions such as a remembered approval.
// Package fingerprint is for other comparisons: its sums are cheaper, and a program with them alone does not link
// crypto/sha256.
//
// Start with [Call].
package digest

import (
	"crypto/sha256"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/generated/agent"
)

// Call returns equal texts of 32 bytes for calls of one tool with arguments that are equal for [fingerprint.Call].
func Call(call agent.ToolCallRequest) string {
	sum := sha256.Sum256(fingerprint.Canonical(call))
	return string(sum[:])
}
