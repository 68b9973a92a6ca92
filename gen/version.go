package gen

// Version is the version of hookgen in this source tree. Between releases it is the version that comes next. It is the
// only place with the number; RELEASE.md says when to change it.
const Version = "v0.1.0"

// runtimeConstant is the constant of the runtime that generated code names. Raise its number, and declare the new
// constant in hookkit/hookimpl, when generated code needs something that older runtimes do not have.
const runtimeConstant = "IsAtLeastVersion0_1_0"
