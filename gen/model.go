package gen

import "github.com/hookgen/hookgen/gen/model"

// A Spec is one spec file, read and understood: its model, and the files from which it was read.
type Spec struct {
	model.Spec

	info *specInfo // what [CheckOutput] checks; nil in a Spec that was not read from files
}

// The parts of a Spec are declared in package model.
type (
	Import          = model.Import
	Parent          = model.Parent
	Group           = model.Group
	Type            = model.Type
	Point           = model.Point
	Ignore          = model.Ignore
	Exit            = model.Exit
	Field           = model.Field
	Export          = model.Export
	Law[T TypeForm] = model.Law[T]
	TypeForm        = model.TypeForm
	Kind            = model.Kind
	Policy          = model.Policy
)

// The kinds and policies of package model.
const (
	Observe  = model.Observe
	Collect  = model.Collect
	Flow     = model.Flow
	Vote     = model.Vote
	Around   = model.Around
	Check    = model.Check
	CheckAll = model.CheckAll

	NoPolicy   = model.NoPolicy
	FailClosed = model.FailClosed
	FailOpen   = model.FailOpen
)
