package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/gateway/points"
)

// A Config is the content of a configuration file. README.md describes it.
type Config struct {
	Listen  string
	Routes  map[points.Route][]string // the URLs of the upstreams of each prefix
	Plugins []PluginConfig

	dir string // of the file; plug-ins are relative to it
}

// A PluginConfig describes a plug-in. It has one of Go, Process and Wasm.
type PluginConfig struct {
	Name    string
	Go      string         // a name in native
	Process []string       // a program and its arguments
	Wasm    string         // a file
	Routes  []points.Route // all routes if it is missing
	Timeout string         // of a call to another process or to a guest; one second if it is missing
	timeout time.Duration
}

// The keys of a configuration and of a plug-in.
var (
	configKeys = []string{"listen", "routes", "plugins"}
	pluginKeys = []string{"name", "go", "process", "wasm", "routes", "timeout"}
)

// readConfig reads and checks a file, and starts nothing. It reports all mistakes, each with its place and a remedy.
func readConfig(file string) (*Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &source{file: file, text: text, places: map[string]int64{}}
	d := json.NewDecoder(bytes.NewReader(text))
	s.walk(d, "")
	if _, err := d.Token(); len(s.wrong) == 0 && err != io.EOF {
		s.mistake(d.InputOffset(), "text after the configuration; remove it")
	}
	c := &Config{dir: filepath.Dir(file)}
	if len(s.wrong) == 0 {
		err := json.Unmarshal(text, c)
		if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
			s.mistake(wrong.Offset-1, "%s is a %s; make it a %v", wrong.Field, wrong.Value, wrong.Type)
		} else if err == nil {
			c.check(s)
		}
	}
	return c, errors.Join(s.wrong...)
}

func (c *Config) check(s *source) {
	if c.Listen == "" {
		s.at(".listen", `listen is missing; add for example "listen": "127.0.0.1:8080"`)
	}
	if len(c.Routes) == 0 {
		s.at(".routes", `no route; add for example "routes": {"/": ["http://127.0.0.1:9000"]}`)
	}
	for route, upstreams := range c.Routes {
		place := ".routes." + string(route)
		if !strings.HasPrefix(string(route), "/") || !strings.HasSuffix(string(route), "/") {
			s.at(place, "the route %q is not a prefix; begin and end it with a slash", route)
		}
		if len(upstreams) == 0 {
			s.at(place, "the route %q has no upstream; add a URL", route)
		}
		for i, upstream := range upstreams {
			if u, err := url.Parse(upstream); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				s.at(fmt.Sprintf("%s[%d]", place, i), "the upstream %q is not a URL; write http://HOST:PORT", upstream)
			}
		}
	}
	names := map[string]bool{}
	for i := range c.Plugins {
		p, place := &c.Plugins[i], fmt.Sprintf(".plugins[%d]", i)
		if p.Name == "" || names[p.Name] {
			s.at(place, "the name %q is empty or has another plug-in; give each a name of its own", p.Name)
		}
		names[p.Name] = true
		p.check(s, place, c)
	}
}

func (p *PluginConfig) check(s *source, place string, c *Config) {
	kinds := 0
	for _, has := range []bool{p.Go != "", len(p.Process) > 0, p.Wasm != ""} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		s.at(place, "the plug-in %q needs one of go, process and wasm", p.Name)
	}
	if _, ok := native[p.Go]; p.Go != "" && !ok {
		s.at(place+".go", "there is no plug-in in Go with the name %q; use %s", p.Go, strings.Join(nativeNames(), ", "))
	}
	if _, given := s.places[place+".routes"]; given && len(p.Routes) == 0 {
		s.at(place+".routes", "the plug-in %q has no route; name one, or leave routes out for all", p.Name)
	}
	for i, r := range p.Routes {
		if c.Routes[r] == nil {
			s.at(fmt.Sprintf("%s.routes[%d]", place, i), "there is no route %q; add it to routes, or correct it", r)
		}
	}
	p.timeout = time.Second
	if p.Timeout != "" && p.Go != "" {
		s.at(place+".timeout", "a plug-in in Go has no timeout; remove it")
	} else if p.Timeout != "" {
		var err error
		if p.timeout, err = time.ParseDuration(p.Timeout); err != nil || p.timeout <= 0 {
			s.at(place+".timeout", `the timeout %q is not a positive duration; write for example "500ms"`, p.Timeout)
		}
	}
}

// A source is the text of a configuration, with the place of each value by its path.
type source struct {
	file   string
	text   []byte
	places map[string]int64
	wrong  []error
}

// walk reads a value and notes the places of all values in it.
func (s *source) walk(d *json.Decoder, path string) {
	s.places[path] = d.InputOffset()
	t, err := d.Token()
	for i := 0; err == nil && len(s.wrong) == 0 && (t == json.Delim('{') || t == json.Delim('[')) && d.More(); i++ {
		if t == json.Delim('[') {
			s.walk(d, fmt.Sprintf("%s[%d]", path, i))
			continue
		}
		at := d.InputOffset()
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		name, inside := key.(string), fmt.Sprint(path, ".", key)
		if _, twice := s.places[inside]; twice {
			s.mistake(at, "%q is given twice; remove one", name)
		}
		known := configKeys
		if strings.HasPrefix(path, ".plugins[") {
			known = pluginKeys
		}
		if !strings.HasPrefix(path, ".routes") && !slices.Contains(known, name) {
			s.mistake(at, "%q is not known here; use %s", name, strings.Join(known, ", "))
		}
		s.walk(d, inside)
	}
	if err == nil && (t == json.Delim('{') || t == json.Delim('[')) && len(s.wrong) == 0 {
		_, err = d.Token()
	}
	if err != nil && len(s.wrong) == 0 {
		s.mistake(d.InputOffset(), "the file is not JSON: %v; correct it here", err)
	}
}

// at reports a mistake in the value with a path.
func (s *source) at(path, format string, args ...any) { s.mistake(s.places[path], format, args...) }

func (s *source) mistake(offset int64, format string, args ...any) {
	rest := bytes.TrimLeft(s.text[min(int(offset), len(s.text)):], " \t\r\n:,")
	before := s.text[:len(s.text)-len(rest)]
	line, column := bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
	s.wrong = append(s.wrong, fmt.Errorf("%s:%d:%d: %s", s.file, line, column, fmt.Sprintf(format, args...)))
}
