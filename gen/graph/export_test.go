package graph

// TextWidth is textWidth, for the tests of layouts.
var TextWidth = textWidth
