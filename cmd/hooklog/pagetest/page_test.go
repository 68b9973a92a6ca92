package pagetest

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// root is the directory of the repository.
const root = "../../.."

// build builds hooklog and returns the path of the program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooklog.exe")
	command := exec.CommandContext(t.Context(), "go", "-C", root, "build", "-o", path, "./cmd/hooklog")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestPage checks the page in a browser, as hooklog serve shows it, and as hooklog html writes it. Both forms have the
// same scripts, so -short tries the second one with hostile records alone.
func TestPage(t *testing.T) {
	path, err := findBrowser()
	if err != nil {
		t.Skip(err)
	}
	hooklog := build(t)
	browser, end := startBrowser(context.Background(), path)
	t.Cleanup(end)
	if err := chromedp.Do(browser); err != nil {
		t.Fatal(err)
	}
	for _, form := range []struct {
		name string
		open opener
	}{{"serve", serve}, {"html", html}} {
		t.Run(form.name, func(t *testing.T) {
			for name, test := range map[string]func(*testing.T, *tab){
				"opens a run": opensRun, "nests runs": nestsRuns, "shows a difference": showsDifference,
				"searches": searches, "stops searches": stopsSearches, "filters": filters, "has keys": hasKeys,
				"is accessible":        isAccessible,
				"fits a narrow window": fitsNarrowWindow, "goes back": goesBack,
				"shows hostile texts": showsHostileTexts, "shortens long texts": shortensLongTexts,
				"shows damaged lines": showsDamagedLines, "connects to nothing else": connectsToNothingElse,
				"draws bars": drawsBars, "draws bars of any spec": drawsBarsOfAnySpec, "shows a conversation": showsConversation,
				"shows numbers": showsNumbers, "compares runs": comparesRuns, "orders runs": ordersRuns,
				"resists attacks": resistsAttacks, "pairs steps": pairsSteps, "shows more bars": showsMoreBars,
				"opens addresses": opensAddresses, "tries again": triesAgain, "compares all": comparesAll,
			} {
				hostile := name == "opens a run" || name == "resists attacks" || name == "shows hostile texts"
				if testing.Short() && form.name == "html" && !hostile {
					continue
				}
				t.Run(name, func(t *testing.T) { test(t, openTab(t, browser, hooklog, form.open)) })
			}
			t.Run("names runs", func(t *testing.T) {
				namesRuns(t, openTab(t, browser, hooklog, form.open, "-name", "BeforeSend.To"))
			})
		})
	}
	t.Run("finds a restarted server", func(t *testing.T) { findsRestartedServer(t, browser, hooklog) })
	// Both forms have the same elements and styles, so one of them is enough.
	for name, test := range map[string]func(*testing.T, *tab){
		"has colors that mean outcomes": colorsMeanOutcomes, "fits every window": fitsEveryWindow,
		"has an accessible tree": hasAccessibleTree, "shows views by keys": showsViewsByKeys,
	} {
		t.Run(name, func(t *testing.T) { test(t, openTab(t, browser, hooklog, html)) })
	}
	for name, test := range map[string]func(*testing.T, *tab){
		"shows pictures": showsPictures, "follows a live run": followsLiveRun, "lists new runs": listsNewRuns,
		"reads a shorter file again": readsShorterFile,
	} {
		t.Run(name, func(t *testing.T) { test(t, openTab(t, browser, hooklog, serve)) })
	}
}
