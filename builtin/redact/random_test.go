package redact

import (
	"strings"
	"testing"
)

func TestRandomTextsAreRecognised(t *testing.T) {
	judged(t, isRandom,
		[]string{
			"a8Kd03LmQ9xZ71bc", "z1y2c3d4e5f6", "A8KD03LMQ9XZ71BC", "prefix_a8Kd03LmQ9xZ71bc", "a8Kd03LmQ9xZ71bc==",
			"word-word-word.k3v9x2m8q1z7", strings.Repeat("word-", 99) + "a8Kd03LmQ9xZ71bc",
		},
		[]string{
			"", "a8Kd03LmQ9x", "hunterhunter", "123456789012", "2026-11-22T10:00:00", "123e4567-e89b-42d3-a456-426614174000",
			"0123456789abcdef0123456789abcdef", "sha256:a8Kd03LmQ9xZ71bc", "aaaa1aaaa1aaaa1", "a8Kd-03Lm-Q9xZ-71bc",
			"releaseCandidate2", "a1a1a1a1a1a1", strings.Repeat("word-", 103) + "a8Kd03LmQ9xZ71bc",
		})
}

func TestMixedTextsAreRecognised(t *testing.T) {
	judged(t, isMixed, []string{"abcde1", "aBcDeF", "aaaaaaaaaaaaaBcDeFgHiJ"},
		[]string{"abcdef", "aaaaa1", "abcdE", "Abcdefghij", "estimator-label", strings.Repeat("abcdefgh", 8) + "1"})
}

func TestVariedTextsAreRecognised(t *testing.T) {
	judged(t, isVaried, []string{"abcde", "aabbccddee", "x\x00\x40\x80\xc0"}, []string{"", "abcd", "aaaaaaaa",
		strings.Repeat("a", 64) + "bcdef"})
}

func TestOpaqueTextsAreRecognised(t *testing.T) {
	judged(t, isOpaque, []string{"a8Kd03LmQ9xZ71bc", "0123456789abcdef0123456789abcdef"},
		[]string{"0123456789abcdef0123456789abcde", strings.Repeat("a", 32), strings.Repeat("word", 10)})
}

func TestUUIDsAreRecognised(t *testing.T) {
	judged(t, isUUID, []string{"123e4567-e89b-42d3-a456-426614174000", "123E4567-E89B-42D3-A456-426614174000"},
		[]string{
			"", "123e4567-e89b-42d3-a456-42661417400", "123e4567-e89b-42d3-a456-4266141740000",
			"123e4567ae89b-42d3-a456-426614174000",
			"123e4567-e89ba42d3-a456-426614174000", "123e4567-e89b-42d3aa456-426614174000",
			"123e4567-e89b-42d3-a456a426614174000",
			"123e456--e89b-42d3-a456-426614174000", "123g4567-e89b-42d3-a456-426614174000",
		})
}

func TestHashesAreRecognised(t *testing.T) {
	judged(t, isHash,
		[]string{
			"0123456789abcdef", "sha1:x", "sha256:abc", "SHA256:abc", "sha384-abc=", "sha512-abc", "md5:abc", "h1:abc=",
			"blake3:abc",
		},
		[]string{"sha256", "sha256:a b", "sha224:abc", "hunter2", "x-0123"})
}
