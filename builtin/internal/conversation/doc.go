// Package conversation splits messages into turns that are kept or dropped as a whole, so that no tool result loses
// its call.
package conversation
