package redact

import "strings"

// elements redacts secrets in XML and similar formats:
//
//	<password>hunter2</password>
//	<add key="Password" value="hunter2"/>
//	<property name="password">hunter2</property>
//	<key>Password</key><string>hunter2</string>
//
// Markup that is escaped, as in &lt;password&gt; and \u003cpassword\u003e, is decoded before.
func (n *named) elements() {
	s := n.s
	key := -1 // the position after <key>Password</key>
	for at := 0; at < len(s); {
		begin, more := index(s, at, "<")
		if !more {
			break
		}
		at = begin + 1
		t, ok := tagAt(s, at)
		if !ok {
			continue
		}
		name := s[t.name.from:t.name.to]
		next, _ := index(s, t.text, "<")
		closed := next == len(s) || strings.HasPrefix(s[next+1:], "/") || unclosed(s, t, next)
		text := span{t.text, next, ""}
		if data := past(s, t.text, "<![CDATA["); data > t.text {
			end, _ := index(s, data, "]]>")
			text, closed = span{data, end, ""}, true
		}
		a := assignment{nameInfo: n.about(name), name: name}
		if a.kind == onlyTexts { // an element named token is often that of a parser
			a.kind = weak
		}
		if name == "string" && key >= 0 && t.name.from-key < 60 {
			a.kind = everything
		}
		if t.key.to > 0 && n.about(s[t.key.from:t.key.to]).kind > weak {
			a.kind = everything
			if n.hidden(s[t.value.from:t.value.to], everything) {
				n.found = append(n.found, t.value)
			}
		}
		content := strings.TrimSpace(s[text.from:text.to])
		complete := next < len(s) || content != "" && !isSpace(s[t.text])
		if closed && complete && n.hides(&a, content) {
			lead := strings.Index(s[text.from:], content)
			n.found = append(n.found, span{text.from + lead, text.from + lead + len(content), ""})
		}
		if name == "key" && n.about(content).kind > weak {
			key = next
		}
		at = t.text
		if closed {
			at = max(at, text.to)
		}
	}
}

// unclosed reports whether an element ends at the opening tag at next, because its closing tag was forgotten:
//
//	<password>hunter2<password>hunter3
//	<password>hunter2
//	<user>ann</user>
//
// In a usage text such as "login <password>, <user>" no word follows the first tag.
func unclosed(s string, t tag, next int) bool {
	content := strings.TrimRight(s[t.text:next], " \t\r\n")
	if len(content) < 4 || strings.IndexByte(".,:;/|)]=@", content[0]) >= 0 || strings.ContainsAny(content, " \t\r\n") {
		return false
	}
	other, ok := tagAt(s, next+1)
	again := ok && strings.EqualFold(s[other.name.from:other.name.to], s[t.name.from:t.name.to])
	return again || strings.Contains(s[t.text+len(content):next], "\n")
}

// A tag is the opening tag of an element.
type tag struct {
	name  span
	key   span // the value of the attribute key or name; empty: there is none
	value span // the value of the attribute value
	text  int  // the position after the tag
}

// maxTag bounds the bytes of a tag outside of the values of its attributes.
const maxTag = 1000

// tagAt parses the opening tag whose name begins at at. The name has no prefix of a namespace.
func tagAt(s string, from int) (t tag, ok bool) {
	at := from
	defer func() { visit(at - from) }()
	at = tagName.skip(s, at, len(s))
	t.name = span{from + strings.LastIndexByte(s[from:at], ':') + 1, at, ""}
	if t.name.from == t.name.to || !isLetter(s[t.name.from]) {
		return t, false
	}
	for outside := 0; at < len(s); outside++ {
		switch s[at] {
		case '>':
			t.text = at + 1
			return t, true
		case '<':
			return t, false
		}
		if outside > maxTag {
			break
		}
		if s[at] != '=' {
			at++
			continue
		}
		attribute := strings.ToLower(s[max(attributeName.back(s, at, maxTag), t.name.to):at])
		at++
		if at == len(s) || !isQuote(s[at]) {
			continue
		}
		value := span{at + 1, quoteEnd(s, at+1, s[at]), ""}
		switch attribute {
		case "key", "name":
			if t.key.to == 0 {
				t.key = value
			}
		case "value":
			t.value = value
		}
		at = min(value.to+1, len(s))
	}
	t.text = at
	return t, t.key.to > 0 && t.value.to > 0
}

var tagName, attributeName = chars("A-Za-z0-9\x80-\xff_.:-"), chars("A-Za-z0-9\x80-\xff-")
