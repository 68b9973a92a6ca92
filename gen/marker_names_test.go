package gen

// MarkerNames are the names of all markers.
var MarkerNames = markerNames

// TypedMarker reports whether the marker takes a type argument.
func TypedMarker(name string) bool {
	m, _ := markerNamed(name)
	return m.Typed
}
