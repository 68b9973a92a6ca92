package eventpage

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

var (
	//go:embed assets/page.html
	pageHTML string
	//go:embed assets/page.css
	pageCSS string
	//go:embed assets/script
	scripts embed.FS
	pageJS  = joined("elements", "format", "source", "runs", "run", "timeline", "fire", "bars", "talk",
		"compare", "numbers", "search", "follow", "keys", "start")
)

// joined returns the script of the page, whose files have these names. A file may use the declarations of the files
// before it; its functions may use all.
func joined(names ...string) string {
	var script strings.Builder
	for _, name := range names {
		text, err := scripts.ReadFile("assets/script/" + name + ".js")
		if err != nil {
			panic(err) // the file is embedded
		}
		script.Write(text)
	}
	return script.String()
}

// policy is the Content-Security-Policy of the page, except for the parts that only one of its two forms has. The page
// may run its own script, use its own style, and nothing else. The script may not parse texts as HTML.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'", source(pageJS), source(pageCSS))
}

// livePolicy is the policy of the page that connects to its server.
func livePolicy() string { return policy() + "; connect-src 'self'; frame-ancestors 'none'" }

// source names a script or a style in a policy by its hash.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// writePage writes the page with data for its script.
func writePage(w io.Writer, policy string, data any) error {
	text, err := json.Marshal(data) // which escapes <, >, & and U+2028, so the text cannot end its element
	if err != nil {
		return err
	}
	parts := strings.NewReplacer( // which does not look for marks in the parts
		"{{policy}}", policy, "{{style}}", pageCSS, "{{data}}", string(text), "{{script}}", pageJS)
	_, err = parts.WriteString(w, pageHTML)
	return err
}
