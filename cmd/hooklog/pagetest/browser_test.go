package pagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// errNoBrowser reports that this machine has no browser for the tests.
var errNoBrowser = errors.New("there is no Chromium here: install it, or name it in the environment variable CHROMIUM")

// findBrowser returns the path of Chromium or Chrome.
func findBrowser() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// startBrowser starts a browser without a window, which makes no requests of its own.
func startBrowser(ctx context.Context, path string) (context.Context, context.CancelFunc) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("headless", true),
		chromedp.Flag("no-sandbox", true), // the sandbox does not work as root, and the browser only shows this page
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-component-update", true))
	ctx, endProcess := chromedp.NewExecAllocator(ctx, options...)
	ctx, endTab := chromedp.NewContext(ctx)
	return ctx, func() { endTab(); endProcess() }
}

// until waits until an expression in JavaScript is true in the page.
func until(expression string) chromedp.Action[chromedp.Void] {
	wait := chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise(done => {
		const look = () => { if (%s) { clearInterval(timer); done(); } };
		const timer = setInterval(look, 20);
		look();
	})`, expression), chromedp.EvalAwaitPromise)
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := wait(ctx, t)
		if err != nil {
			err = fmt.Errorf("waiting for %s: %w", expression, err)
		}
		return chromedp.Void{}, err
	}
}

// send sends a command of the browser's protocol.
func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}
