// Command pagetest makes the screenshot of the page of hooklog. Its tests check the page in a browser. It is a module
// of its own, so that hookgen does not depend on a browser's protocol.
//
//	for task in "Is the cache full?" "How many packages were built?" ""; do
//		go -C examples/agent run . -yes -record /tmp/run.jsonl "$task"
//	done
//	export GOWORK=off
//	go -C cmd/hooklog/pagetest run . -record /tmp/run.jsonl -show '#event=139' \
//		-screenshot ../../../docs/hooks/hooklog.png
//	go -C cmd/hooklog/pagetest run . -record /tmp/run.jsonl -show '#event=139' -scheme dark \
//		-screenshot ../../../docs/hooks/hooklog-dark.png
//
// It needs Chromium or Chrome, which it finds in the PATH, or by the environment variable CHROMIUM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/hookgen/hookgen/lab/figures"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pagetest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	record := flag.String("record", "", "the record to show, a `FILE`")
	out := flag.String("screenshot", "", "write a picture of the page to `FILE`.png")
	scheme := flag.String("scheme", "light", "the color scheme: light or dark")
	width := flag.Int64("width", 1160, "the width of the window")
	height := flag.Int64("height", 800, "the height of the window")
	hash := flag.String("show", "", "what to open, as in the address of the page: #run=ID&event=NUMBER")
	flag.Parse()
	if *record == "" || *out == "" {
		return errors.New("-record and -screenshot are necessary")
	}
	dir, err := os.MkdirTemp("", "pagetest")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	page := filepath.Join(dir, "page.html")
	if err := writePage(ctx, page, *record); err != nil {
		return err
	}
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	ctx, end := startBrowser(ctx, browser)
	defer end()
	media := send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: *scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	err = chromedp.Do(ctx, chromedp.EmulateViewport(*width, *height), media,
		chromedp.Navigate("file://"+filepath.ToSlash(page)+*hash),
		until(`document.querySelector('.fires [data-row]') &&
			(!location.hash.includes('event') || document.querySelector('.detail'))`))
	if err != nil {
		return err
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return figures.WriteFile(*out, picture)
}

// root is the directory of the repository.
const root = "../../.."

// writePage writes the page of a record with the command hooklog of this tree.
func writePage(ctx context.Context, page, record string) error {
	record, err := filepath.Abs(record)
	if err != nil {
		return err
	}
	html := exec.CommandContext(ctx, "go", "-C", root, "run", "./cmd/hooklog", "html", "-o", page, record)
	html.Stderr = os.Stderr
	return html.Run()
}
