package gen

import (
	"go/token"
)

// A Surface is a spec as hooks and programs see it: the points with their laws, and every type that a hook can reach
// from them. It is plain data, so that the surfaces of two versions of a spec can be compared.
type Surface struct {
	Package   string         // the name of the spec's package
	Interface string         // the name of the points interface
	Pos       token.Position // of its name
	Wire      bool           // other processes can speak the spec
	Env       Written        // the argument of spec.Env; zero without it
	Parents   []SurfaceParent
	Points    []*SurfacePoint // in source order
	Types     map[string]*SurfaceType
	Packages  map[string]string // the names of other packages of the module that it reads, by import path
	Consts    []SurfaceConst    // in order of their names
	Unread    []string          // types of the module that it names, and whose declarations are unknown; sorted
	Ignores   []SurfaceIgnore
}

// A Written is a type as a point or a field names it. Two are the same type if their names or their meanings are equal.
// For example, Text and string have the same meaning after type Text = string.
type Written struct {
	Text    string // for messages
	Name    string // with import paths; aliases keep their names
	Meaning string // with import paths; an alias is written as its type
	Types   []string
	Pos     token.Position
}

// IsZero reports whether w is the zero Written.
func (w Written) IsZero() bool { return w.Name == "" }

// String returns the text.
func (w Written) String() string { return w.Text }

// A SurfaceParent is an embedded Points interface of another generated package.
type SurfaceParent struct {
	Path string // the import path, relative to the module if the package is in it
	Env  Written
	Read bool // its spec was read, so that a zero Env means that it has none
	Pos  token.Position
}

// A SurfaceDecl is the part that the declarations of points, types, fields, methods and constants have in common.
type SurfaceDecl struct {
	Name       string
	Deprecated bool
	Pos        token.Position
}

// A SurfacePoint is one point.
type SurfacePoint struct {
	SurfaceDecl
	Payload Written
	Law[Written]
	Local   bool
	Ignores []SurfaceIgnore
}

// A SurfaceIgnore is a //hookgen:ignore line.
type SurfaceIgnore struct {
	Rule string
	Pos  token.Position
}

// A SurfaceType is a type of the spec's package, or of another package of its module, that hooks can reach. A type of
// another package has its import path in its name, relative to the module, for example ./mail.Message.
type SurfaceType struct {
	SurfaceDecl
	Exported     bool
	Exit         bool
	Params       string          // the constraints of its type parameters
	Alias        bool            // declared with a = sign
	Struct       bool            // Fields are its fields
	Interface    bool            // Methods are its methods
	Underlying   Written         // without Struct and Interface
	Incomparable string          // the reason why values cannot be compared by ==, or ""
	Fields       []SurfaceField  // in source order
	Methods      []SurfaceMethod // in order of their names
	Embeds       []Written       // of an interface
	Types        []string        // the names of the types that it mentions
}

// A SurfaceField is one field of a struct.
type SurfaceField struct {
	SurfaceDecl
	Type     Written
	Tag      string // without quotes
	Embedded bool
	Exported bool
}

// A SurfaceMethod is a method of a type, or of an interface.
type SurfaceMethod struct {
	SurfaceDecl
	Signature Written
	Pointer   bool // the receiver is a pointer
	Exported  bool
}

// A SurfaceConst is an exported constant of the spec's package, or of another package of its module if hooks can reach
// its type. One of another package has its import path in its name, like a type.
type SurfaceConst struct {
	SurfaceDecl
	Type    string // for example Kind or untyped int; "" if it is unknown
	Of      string // the name of Type, or of its alias, in Types; "" if it is another type
	Value   string // "" if it is unknown
	Written string // the value as written, with its number if it contains iota
}
