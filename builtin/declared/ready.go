package declared

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A Ready is a hook that files can use by name. [Of] makes one.
type Ready struct {
	name   string
	create func(with *value) (agent.Hook, error)
}

// Of returns the hook of type H, under the name of the type. For example, with declared.Of[limit.Steps]() a file can
// contain
//
//	{"name": "short runs", "use": "limit.Steps", "with": {"Max": 20}}
//
// The keys of with are the exported fields of the type. A duration is a text such as "30s", and a limit.Bound is its
// limit, or "none". Functions, interfaces and channels cannot be set.
func Of[H any, P interface {
	*H
	agent.Hook
}]() Ready {
	return Ready{reflect.TypeFor[H]().String(), func(with *value) (agent.Hook, error) {
		hook := new(H)
		if with != nil {
			if err := fill(reflect.ValueOf(hook).Elem(), *with); err != nil {
				return nil, err
			}
		}
		return P(hook), nil
	}}
}

// ready makes a ready-made hook. Its Bind is tried, because it panics if a field is invalid.
func (f *File) ready(d *declaration) (declared, error) {
	v := d.given["use"]
	name, err := v.text()
	if err != nil {
		return declared{}, err
	}
	var names []string
	for _, r := range f.Ready {
		names = append(names, r.name)
		if r.name != name {
			continue
		}
		var with *value
		if given, ok := d.given["with"]; ok {
			with, v = &given, given
		}
		hook, err := r.create(with)
		if err != nil {
			return declared{}, err
		}
		options := []hookkit.UseOption{hookkit.Named(d.name)}
		if d.priority != nil {
			options = append(options, hookkit.Priority(*d.priority))
		}
		if d.timeout > 0 {
			options = append(options, hookkit.Timeout(d.timeout))
		}
		if _, err := kit.Recover(func() (any, error) { return new(agent.Hooks).Use(hook, options...), nil }); err != nil {
			return declared{}, v.errorf("%s cannot be used: %w", name, err)
		}
		return declared{hook: hook, options: options}, nil
	}
	if meant := spelling.Suggest(name, names); meant != "" {
		return declared{}, v.errorf("unknown hook %q; did you mean %q?", name, meant)
	}
	return declared{}, v.errorf("the program offers no hook %q; it offers %q", name, names)
}

// fill sets a Go value from a JSON value.
func fill(to reflect.Value, v value) error {
	switch p := to.Addr().Interface().(type) {
	case *time.Duration:
		d, err := duration(v)
		*p = d
		return err
	case *limit.Bound[time.Duration]:
		if isNone(v) {
			*p = limit.None
			return nil
		}
		d, err := duration(v)
		*p = limit.AtMost(d)
		return err
	case *limit.Bound[int]:
		if isNone(v) {
			*p = limit.None
			return nil
		}
		var n int
		if v.kind != '0' || json.Unmarshal(v.raw, &n) != nil {
			return v.errorf(`a whole number or "none" is needed here`)
		}
		*p = limit.AtMost(n)
		return nil
	case json.Unmarshaler, encoding.TextUnmarshaler:
		return decodeInto(to, v)
	}
	switch to.Kind() {
	case reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
		return v.errorf("a %v cannot be set in a file", to.Type())
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return fill(to.Elem(), v)
	case reflect.Struct:
		return fillStruct(to, v)
	case reflect.Slice:
		if v.kind != '[' {
			return v.errorf("a list is needed here")
		}
		to.Set(reflect.MakeSlice(to.Type(), len(v.items), len(v.items)))
		for i, item := range v.items {
			if err := fill(to.Index(i), item); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return fillMap(to, v)
	}
	return decodeInto(to, v)
}

func fillStruct(to reflect.Value, v value) error {
	members, err := v.object()
	if err != nil {
		return err
	}
	var fields []string
	for _, f := range reflect.VisibleFields(to.Type()) {
		if f.IsExported() && len(f.Index) == 1 {
			fields = append(fields, f.Name)
		}
	}
	for _, m := range members {
		f, ok := to.Type().FieldByName(m.key)
		if !ok || !f.IsExported() || len(f.Index) != 1 {
			return unknown(v.doc, m, fields)
		}
		if err := fill(to.FieldByIndex(f.Index), m.value); err != nil {
			return err
		}
	}
	return nil
}

func fillMap(to reflect.Value, v value) error {
	members, err := v.object()
	if err != nil {
		return err
	}
	to.Set(reflect.MakeMap(to.Type()))
	for _, m := range members {
		key, element := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		quoted, _ := json.Marshal(m.key) // a text can always be encoded
		if key.Kind() != reflect.String {
			quoted = []byte(m.key) // the keys of a map[int]string are numbers
		}
		if err := json.Unmarshal(quoted, key.Addr().Interface()); err != nil {
			return v.doc.errorf(m.at, "the key %q is not a %v", m.key, key.Type())
		}
		if err := fill(element, m.value); err != nil {
			return err
		}
		to.SetMapIndex(key, element)
	}
	return nil
}

func decodeInto(to reflect.Value, v value) error {
	if err := json.Unmarshal(v.raw, to.Addr().Interface()); err != nil || v.kind == 'n' {
		return v.errorf("a %v is needed here", to.Type())
	}
	return nil
}

func duration(v value) (time.Duration, error) {
	text, err := v.text()
	if err == nil {
		var d time.Duration
		if d, err = time.ParseDuration(text); err == nil {
			return d, nil
		}
	}
	return 0, v.errorf(`a duration such as "30s" is needed here`)
}

func isNone(v value) bool {
	text, err := v.text()
	return err == nil && text == "none"
}
