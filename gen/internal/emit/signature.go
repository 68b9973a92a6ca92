package emit

import "github.com/dave/jennifer/jen"

// A typeCode is the code of a type, and its approximate width in columns.
type typeCode struct {
	*jen.Statement
	width int
}

// named returns the code of a type that the generated package declares, or of a type parameter.
func named(name string) typeCode { return typeCode{jen.Id(name), len(name)} }

// A param is a parameter or a result. Its name may be empty.
type param struct {
	name string
	typ  typeCode
}

func ctxParam() param {
	return param{"ctx", typeCode{jen.Qual("context", "Context"), len("context.Context")}}
}

func runParam() param { return param{"run", typeCode{jen.Op("*").Id("Run"), len("*Run")}} }

func errorResult(name string) param { return param{name, named("error")} }

// maxColumns is the length of a line beyond which a list of parameters is broken: it gets a line of its own, or each
// parameter does if that would be too long, too.
const maxColumns = 112

// signature adds parameters and results to s, the beginning of a declaration with a width in columns.
func signature(s *jen.Statement, width int, params, results []param) *jen.Statement {
	s = list(s, params, width+widths(params)+widths(results) > maxColumns)
	switch {
	case len(results) == 0:
		return s
	case len(results) == 1 && results[0].name == "":
		return s.Add(results[0].typ)
	}
	return list(s, results, widths(results) > maxColumns)
}

func list(s *jen.Statement, params []param, broken bool) *jen.Statement {
	codes := make([]jen.Code, len(params))
	for i, p := range params {
		codes[i] = code(p)
	}
	if broken && widths(params) < maxColumns {
		codes = []jen.Code{jen.Custom(jen.Options{Separator: ","}, codes...)}
	}
	return s.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: broken && len(codes) > 0}, codes...)
}

// widths returns the columns of a list.
func widths(params []param) int {
	sum := 0
	for _, p := range params {
		sum += len(p.name) + len(" ") + p.typ.width + len(", ")
	}
	return sum
}

// names returns the names of parameters, to pass them on.
func names(params []param) []jen.Code {
	codes := make([]jen.Code, len(params))
	for i, p := range params {
		codes[i] = jen.Id(p.name)
	}
	return codes
}

// code returns a parameter.
func code(p param) jen.Code {
	if p.name == "" {
		return p.typ.Statement
	}
	return jen.Id(p.name).Add(p.typ)
}
