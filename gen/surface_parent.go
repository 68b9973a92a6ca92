package gen

// envOf returns the environment of the spec in a package, or of one that this spec extends. It reports false if that
// cannot be read, for example because the package is generated and its spec is elsewhere.
func (r *surfaceReader) envOf(importPath string, met map[string]bool) (env Written, read bool) {
	in := r.packageOf(importPath)
	if in == nil || met[importPath] {
		return env, false
	}
	met[importPath] = true
	spec, found := outlineOfFiles("", r.Fset, in.files)
	switch {
	case len(found) > 0 || spec.Interface == nil:
		return env, false
	case len(spec.Parents) > 0: // all that it extends have the same environment
		return r.envOf(r.relative(spec.Parents[0].Import.Path), met)
	}
	return r.written(scopeOf{in: in, file: spec.file}, spec.Env.Expr), true
}
