package eventlog

// entries are the entries of all events, in chunks: a slice would copy all of them when it grows, and have room for
// many more than there are.
type entries struct {
	chunks [][]entry
	count  int
}

// chunkSize is the number of entries of a chunk.
const chunkSize = 1 << 13

func (s *entries) add(e entry) {
	if s.count%chunkSize == 0 {
		s.chunks = append(s.chunks, make([]entry, 0, chunkSize))
	}
	last := &s.chunks[len(s.chunks)-1]
	*last = append(*last, e)
	s.count++
}

// at returns entry n, which must exist.
func (s *entries) at(n int) entry { return s.chunks[n/chunkSize][n%chunkSize] }
