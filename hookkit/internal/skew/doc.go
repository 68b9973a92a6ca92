// Package skew lets a program and a service of different versions of one spec understand each other.
//
// [Of] makes the shape of a point, which each end sends. [Differences] compares two shapes. [TypesOf] reads one for
// [Complete], which gives the replacement of a service the fields that the service does not know. [Clean] and
// [Texts.Restore] do the same for texts that JSON cannot hold.
//
// Start with [Complete].
package skew
