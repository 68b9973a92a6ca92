package wire

// A Shape is what one end knows of a point: its law, and the fields of its payload and its decisions. Two ends of
// different versions compare their shapes, so that neither misreads the other. [Description] has those of a service.
//
// A type is "bool", "string", or the Go name of a number; "any" for any JSON; "bytes" for base64; "(time.Time)" for a
// type that writes and reads itself; "quoted T" for a number in a string; "*T", "[]T", "[4]T" or "map[K]T"; or
// "{mail.Message}" for a name in Objects.
type Shape struct {
	Law       string                       `json:"law"` // the result list as the spec has it
	Payload   string                       `json:"payload"`
	Decisions map[string]string            `json:"decisions,omitempty"` // of Edit and the exits, by their names in replies
	Collected string                       `json:"collected,omitempty"` // of one contribution; "" without any
	Objects   map[string]map[string]string `json:"objects,omitempty"`   // by name: the types of the fields
}
