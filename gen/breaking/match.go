package breaking

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// match finds the points of both versions, and the types and points that were renamed. A rename looks like a removal
// and an addition, so two declarations are one if their contents agree. A deprecated declaration that is gone was not
// renamed: it was announced to go, and the new one with the same contents is another.
func (c *comparison) match() {
	old := map[string]*gen.SurfacePoint{}
	for _, p := range c.old.Points {
		old[p.Name] = p
	}
	partner := map[*gen.SurfacePoint]*gen.SurfacePoint{}
	for _, p := range c.now.Points {
		if before := old[p.Name]; before != nil {
			partner[p], partner[before] = before, p
		}
	}
	c.matchTypes(partner)
	c.matchPoints(partner)
	for _, p := range c.now.Points {
		if before := partner[p]; before != nil {
			c.pairs = append(c.pairs, pair{before, p})
		} else {
			c.added = append(c.added, p)
		}
	}
	for _, p := range c.old.Points {
		if partner[p] == nil {
			c.removed = append(c.removed, p)
		}
	}
}

// matchTypes finds renamed types. A renamed type can be the reason why another looks changed, so it repeats until it
// finds nothing more.
func (c *comparison) matchTypes(partner map[*gen.SurfacePoint]*gen.SurfacePoint) {
	if c.old.Part {
		return
	}
	taken := map[string]bool{}
	for again := true; again; {
		again = false
		for _, from := range slices.Sorted(maps.Keys(c.old.Types)) {
			if c.now.Types[from] != nil || c.renamed[from] != "" {
				continue
			}
			best, most := "", -1
			for _, to := range slices.Sorted(maps.Keys(c.now.Types)) {
				if c.old.Types[to] != nil || taken[to] || !c.alike(c.old.Types[from], c.now.Types[to]) {
					continue
				}
				score := likeness(from, to)
				if c.old.Types[from].Exit {
					listed := c.listed(partner, from, to)
					if listed == 0 {
						continue
					}
					score += listed
				}
				if score > most {
					best, most = to, score
				}
			}
			if best != "" {
				c.renamed[from], taken[best], again = best, true, true
			}
		}
	}
}

// listed says how much the lists of exits speak for a rename, as the best of these:
//
//	0    no point that listed the old exit lists the new one
//	1    one does, at another place
//	50   a point that may have been renamed lists it at the same place
//	100  the same point does
func (c *comparison) listed(partner map[*gen.SurfacePoint]*gen.SurfacePoint, from, to string) int {
	most := 0
	for _, p := range c.old.Points {
		at := slices.Index(p.Exits, from)
		if at < 0 {
			continue
		}
		if now := partner[p]; now != nil {
			switch slices.Index(now.Exits, to) {
			case -1:
			case at:
				most = 100
			default:
				most = max(most, 1)
			}
			continue
		}
		for _, q := range c.now.Points {
			if partner[q] == nil && slices.Index(q.Exits, to) == at && c.sameLaw(p, q, c.alikeExits) {
				most = max(most, 50)
			}
		}
	}
	return most
}

// alikeExits reports whether the exits of two points have the same contents, in the same order.
func (c *comparison) alikeExits(old, now []string) bool {
	return slices.EqualFunc(old, now, func(from, to string) bool {
		was, is := c.old.Types[from], c.now.Types[to]
		return c.newName(from) == to ||
			was != nil && is != nil && c.renamed[from] == "" && c.now.Types[from] == nil && c.alike(was, is)
	})
}

// sameExits reports whether two points have the same exits, in the same order.
func (c *comparison) sameExits(old, now []string) bool { return slices.Equal(c.newNames(old), now) }

// alike reports whether two types of different names have the same contents. Types without any contents are not alike,
// because a rename could not be distinguished from a removal.
func (c *comparison) alike(old, now *gen.SurfaceType) bool {
	if old.Exit != now.Exit || old.Struct != now.Struct || old.Interface != now.Interface || old.Alias != now.Alias ||
		len(old.Fields)+len(old.Methods) == 0 || len(old.Fields) != len(now.Fields) ||
		len(old.Methods) != len(now.Methods) || old.Params != now.Params || old.Deprecated && !now.Deprecated {
		return false
	}
	// While it compares, the rename counts, because a type may contain itself.
	c.renamed[old.Name] = now.Name
	defer delete(c.renamed, old.Name)
	for i, f := range old.Fields {
		if g := now.Fields[i]; f.Name != g.Name && !(f.Embedded && g.Embedded) || f.Embedded != g.Embedded ||
			!c.same(f.Type, g.Type) {
			return false
		}
	}
	for i, m := range old.Methods {
		if n := now.Methods[i]; m.Name != n.Name || !c.same(m.Signature, n.Signature) {
			return false
		}
	}
	return old.Struct || old.Interface || c.same(old.Underlying, now.Underlying)
}

// matchPoints finds renamed points: a point that is gone, and a new one with the same payload and law.
func (c *comparison) matchPoints(partner map[*gen.SurfacePoint]*gen.SurfacePoint) {
	var all []candidate[*gen.SurfacePoint]
	for i, p := range c.old.Points {
		for j, q := range c.now.Points {
			if partner[p] != nil || partner[q] != nil || !c.sameLaw(p, q, c.sameExits) {
				continue
			}
			score := likeness(p.Name, q.Name)
			if p.Doc == q.Doc && p.Doc != "" {
				score += sameDoc
			}
			if sameNeighbour(c.old.Points, i, c.now.Points, j, partner) {
				score += samePlace
			}
			all = append(all, candidate[*gen.SurfacePoint]{p, q, score})
		}
	}
	for old, now := range best(all) {
		partner[old], partner[now] = now, old
	}
}

// A candidate is a possible rename.
type candidate[T comparable] struct {
	old, now T
	score    int
}

// best returns the renames with the highest scores, from the old to the new. Among equal scores the first wins.
func best[T comparable](all []candidate[T]) map[T]T {
	slices.SortStableFunc(all, func(a, b candidate[T]) int { return cmp.Compare(b.score, a.score) })
	renames, taken := map[T]T{}, map[T]bool{}
	for _, a := range all {
		if _, renamed := renames[a.old]; !renamed && !taken[a.now] {
			renames[a.old], taken[a.now] = a.now, true
		}
	}
	return renames
}

// sameNeighbour reports whether two points have the same point before or after them.
func sameNeighbour(old []*gen.SurfacePoint, i int, now []*gen.SurfacePoint, j int,
	partner map[*gen.SurfacePoint]*gen.SurfacePoint) bool {
	before := i > 0 && j > 0 && partner[old[i-1]] == now[j-1]
	after := i+1 < len(old) && j+1 < len(now) && partner[old[i+1]] == now[j+1]
	return before || after
}

// sameLaw reports whether two points of different names have the same payload and law, so that one may be the other.
func (c *comparison) sameLaw(p, q *gen.SurfacePoint, sameExits func(old, now []string) bool) bool {
	if !c.same(p.Payload, q.Payload) || p.Deprecated && !q.Deprecated || !sameExits(p.Exits, q.Exits) ||
		!c.same(p.Edit, q.Edit) || !c.same(p.Collect, q.Collect) || !c.same(p.Around, q.Around) {
		return false
	}
	law := p.Law
	law.Edit, law.Collect, law.Around, law.Exits = q.Edit, q.Collect, q.Around, q.Exits
	law.EditField, law.List = q.EditField, q.List // which a renamed field or type changes
	return reflect.DeepEqual(law, q.Law)
}

// The scores of a rename. An equal comment says more than an equal place. A name scores less than either, so that it
// only decides between candidates that are equal in these.
const (
	sameDoc   = 50 // the comment, or the tag of a field
	samePlace = 25
	maxName   = 24
)

// likeness returns the number of characters with which two names begin and end alike, at most maxName.
func likeness(a, b string) int {
	begin := 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return min(begin+end, maxName)
}

// same reports whether a type of the old version is a type of the new one. A type may have become an alias: then what
// its name means now is compared.
func (c *comparison) same(old, now gen.Written) bool {
	return c.rename(old.Name) == now.Name || c.rename(old.Meaning) == now.Meaning ||
		substitute(old.Name, c.aliases) == now.Meaning
}

// typeName returns the name of a type, or of the type that a pointer points to, without its type arguments.
func typeName(w gen.Written) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(w.Name, "*"), "[")
	return name
}

// typeWord matches a name in a canonical type, with its import path.
var typeWord = regexp.MustCompile(`[\pL\pN_./~-]+`)

// rename returns a canonical type of the old version with the new names of renamed types.
func (c *comparison) rename(canonical string) string { return substitute(canonical, c.renamed) }

// substitute returns a canonical type with other names.
func substitute(canonical string, names map[string]string) string {
	if len(names) == 0 {
		return canonical
	}
	return typeWord.ReplaceAllStringFunc(canonical, func(word string) string {
		name := strings.TrimPrefix(word, "...")
		if to := names[name]; to != "" {
			return word[:len(word)-len(name)] + to
		}
		return word
	})
}

// newName returns the name that an old type has now.
func (c *comparison) newName(name string) string {
	if to := c.renamed[name]; to != "" {
		return to
	}
	return name
}

func (c *comparison) newNames(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, c.newName(name))
	}
	return all
}

// explain notes that another finding reports that the types in w may be gone.
func (c *comparison) explain(w gen.Written) {
	for _, name := range w.Types {
		c.explained[name] = true
	}
}
