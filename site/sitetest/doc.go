// Package sitetest checks the built site in a browser. It is a module of its own, so that hookgen does not depend on a
// browser's protocol. It needs Chromium, and the folder that npm run build wrote:
//
//	cd site && npm ci && npm run build
//	cd sitetest && GOWORK=off go test .
package sitetest
