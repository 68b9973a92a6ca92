// Package pagetest checks the page of hooklog in a browser, and makes the pictures of it in the documentation. It is a
// module of its own, so that hookgen does not depend on a browser's protocol.
//
//	GOWORK=off go -C cmd/hooklog/pagetest test . -run Pictures -update
//
// The tests need Chromium or Chrome, which they find in the PATH, or by the environment variable CHROMIUM.
package pagetest
