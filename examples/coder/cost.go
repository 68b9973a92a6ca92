package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hookgen/hookgen/builtin/observe"
)

// readPrices reads the prices of models, in dollars per million tokens:
//
//	{"claude-sonnet-4-5": {"Input": 3, "Output": 15, "CacheRead": 0.3, "CacheWrite": 3.75}}
func readPrices(file string) (prices map[string]observe.Price, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	decoder := json.NewDecoder(text)
	decoder.DisallowUnknownFields() // a misspelt field would be a price of zero
	if err := decoder.Decode(&prices); err != nil {
		return nil, fmt.Errorf("-prices %s: %w; want {\"MODEL\": {\"Input\": 3, \"Output\": 15}}, in dollars per million "+
			"tokens", file, err)
	}
	for name, p := range prices {
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 {
			return nil, fmt.Errorf("-prices %s: a price of %q is negative", file, name)
		}
	}
	return prices, nil
}

// price computes the costs of calls from now on.
func (c *coder) price(prices map[string]observe.Price) {
	c.prices = prices
	if len(prices) > 0 {
		c.agent.Hooks.Use(&observe.Cost{
			Prices: prices,
			OnCall: func(call observe.CallCost) { slog.Debug("model", "call", call) },
		})
	}
}

// cost shows the use of each model since the start of the program.
func (c *coder) cost() string {
	if len(c.used) == 0 {
		return "No model was called yet.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "model\tinput\tof it cached\toutput\tcost\t")
	unknown := false
	for _, name := range slices.Sorted(maps.Keys(c.used)) {
		u, cost := c.used[name], "unknown"
		if _, free := c.prices[name]; u.Cost > 0 || free {
			cost = fmt.Sprintf("$%.4f", u.Cost)
		} else {
			unknown = true
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t\n", clean(name), u.Input, u.CacheRead, u.Output, cost)
	}
	_ = w.Flush() // it writes to memory
	if unknown {
		b.WriteString("Give the prices of models with -prices FILE.\n")
	}
	return b.String()
}
