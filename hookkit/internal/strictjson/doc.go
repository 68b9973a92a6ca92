// Package strictjson reads the messages of other processes more strictly than encoding/json: a key given twice, a text
// that is not valid Unicode and a value of the wrong type are errors that name their place.
//
// Start with [Mode.Unmarshal].
package strictjson
