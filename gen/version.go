package gen

// Version is the version of hookgen in this source tree. Between releases it is the version that comes next. It is the
// only place with the number; RELEASE.md says when to change it.
const Version = "v0.1.0"
