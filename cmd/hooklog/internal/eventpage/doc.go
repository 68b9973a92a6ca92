// Package eventpage shows a record that package hooklog has written as a page for a browser. [NewHandler] serves the
// page of a record that may still grow, and [Write] writes the page of a record into one file.
//
// The texts in a record come from models, tools and people, so no text is trusted. The server sends texts as JSON, and
// the script of the page only ever makes text nodes of them. The page is allowed to run that script alone, and to
// connect to its own server alone.
//
// Start reading at page.go, then view.go and handler.go. The script is in assets/script.
package eventpage
