package hookkit

// RuntimeIsAtLeast1 is named by generated code, so that code generated for a newer runtime than this one does
// not compile. Each version that adds to what generated code needs adds a constant.
const RuntimeIsAtLeast1 = true
