package eventlog

// A list has its elements in chunks: a slice would copy all of them when it grows, and have room for many more than
// there are.
type list[T any] struct {
	chunks [][]T
	count  int
}

// chunkSize is the number of elements of a chunk.
const chunkSize = 1 << 10

func (l *list[T]) add(element T) {
	if l.count%chunkSize == 0 {
		l.chunks = append(l.chunks, make([]T, 0, chunkSize))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, element)
	l.count++
}

// at returns element n, which must exist. It stays where it is when the list grows.
func (l *list[T]) at(n int) *T { return &l.chunks[n/chunkSize][n%chunkSize] }

// An entry has the place and the kind of an event.
type entry struct {
	offset       int64
	length, line uint32
	run          int32
	kind
}

// A kind is what many events of a record have in common.
type kind struct {
	point, by, choice     int32
	file                  uint16
	exits, fails, alters  bool
	decided, slow, spoken bool
}

// entries are the entries of all events. A kind is kept once.
type entries struct {
	list[packed]
	kinds   []kind
	numbers map[kind]uint32
}

type packed struct {
	offset       int64
	length, line uint32
	run          int32
	kind         uint32 // its number
}

func (s *entries) add(e entry) {
	number, ok := s.numbers[e.kind]
	if !ok {
		if s.numbers == nil {
			s.numbers = map[kind]uint32{}
		}
		number = uint32(len(s.kinds))
		s.kinds, s.numbers[e.kind] = append(s.kinds, e.kind), number
	}
	s.list.add(packed{e.offset, e.length, e.line, e.run, number})
}

// at returns entry n, which must exist.
func (s *entries) at(n int) entry {
	p := s.list.at(n)
	return entry{p.offset, p.length, p.line, p.run, s.kinds[p.kind]}
}
