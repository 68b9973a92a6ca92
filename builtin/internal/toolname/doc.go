// Package toolname matches names of tools and bounds them where they are shown or stored, because a model can make
// them up.
package toolname
