package redact

import "strings"

// A provider describes secrets that are recognisable only after the provider's name, as in HEROKU_API=... and
// "datadog_app": "...". Their form alone is that of many other texts.
type provider struct {
	names string // words in a name, separated by blanks; one of them must occur
	body  *alphabet
	sizes []int // the lengths of a secret; nil: UUIDs
}

var providers = []provider{
	{"adafruit", slug, []int{32}},
	{"adobe", hex, []int{32}},
	{"airtable", lower, []int{17}},
	{"algolia", lower, []int{32}},
	{"alibaba aliyun", alnum, []int{30}},
	{"asana", lower, []int{16, 32}},
	{"assemblyai", hex, []int{32}},
	{"atlassian confluence jira", alnum, []int{24}},
	{"auth0", slug, []int{32, 64}},
	{"bitbucket", equals, []int{32, 64}},
	{"bittrex", lower, []int{32}},
	{"contribsys", chars("0-9a-f:"), []int{17}},
	{"cloudflare", slug, []int{37, 40}},
	{"codecov", lower, []int{32, 36}},
	{"cohere", alnum, []int{40}},
	{"coinbase", slug, []int{64}},
	{"confluent", std64, []int{16, 64}},
	{"contentful", equals, []int{43}},
	{"datadog", alnum, []int{32, 40}},
	{"deepgram", hex, []int{40}},
	{"discord", equals, []int{18, 32, 64}},
	{"droneci drone", lower, []int{32}},
	{"dropbox", lower, []int{15}},
	{"elastic elasticsearch", equals, []int{60}},
	{"etsy", lower, []int{24}},
	{"facebook", hex, []int{32}},
	{"fastly", equals, []int{32}},
	{"finicity", lower, []int{20, 32}},
	{"finnhub", lower, []int{20}},
	{"flickr", lower, []int{32}},
	{"freshbooks", lower, []int{64}},
	{"gitea forgejo", hex, []int{40}},
	{"gitter", slug, []int{40}},
	{"heroku hubspot postmark sendbird squarespace snyk splunk opsgenie messagebird kucoin dockerhub", anyHex, nil},
	{"hetzner", alnum, []int{64}},
	{"intercom", equals, []int{60}},
	{"jenkins", hex, []int{32, 34}},
	{"jfrog artifactory bintray xray", alnum, []int{64, 73}},
	{"kraken", any64, between(80, 90)},
	{"kucoin", hex, []int{24}},
	{"launchdarkly", equals, []int{40}},
	{"linear", hex, []int{32}},
	{"linkedin", alnum, []int{14, 16}},
	{"linode", hex, []int{64}},
	{"looker", lower, []int{20, 24}},
	{"mailgun", chars("0-9a-h-"), []int{32, 50}},
	{"mattermost", lower, []int{26}},
	{"meraki", hex, []int{40}},
	{"messagebird", alnum, []int{25}},
	{"mistral", alnum, []int{32}},
	{"netlify", equals, between(40, 46)},
	{"newrelic", alnum, []int{40, 64}},
	{"ngrok", word, []int{43, 49}},
	{"nytimes newyorktimes", equals, []int{32}},
	{"okta", equals, []int{42}},
	{"pagerduty", any64, []int{20, 32}},
	{"plaid", lower, []int{24, 30}},
	{"privateai", lower, []int{32}},
	{"rapidapi", slug, []int{50}},
	{"sendbird", hex, []int{40}},
	{"sentry", hex, []int{32, 64}},
	{"session sid", hex, []int{32, 40, 64}},
	{"sonar", equals, []int{40}},
	{"sourcegraph", anyHex, []int{40}},
	{"spotify", hex, []int{32}},
	{"sumologic sumo", alnum, []int{14, 64}},
	{"together", hex, []int{64}},
	{"travis", alnum, []int{22}},
	{"twitch", lower, []int{30}},
	{"twitter", alnum, []int{25, 45, 50}},
	{"twitter", chars("A-Za-z0-9-"), between(36, 66)},
	{"wandb", hex, []int{40}},
	{"zendesk", alnum, []int{40}},
}

// between returns the numbers from least to most.
func between(least, most int) []int {
	var sizes []int
	for n := least; n <= most; n++ {
		sizes = append(sizes, n)
	}
	return sizes
}

// providersBy holds the providers by the words of their names.
var providersBy = func() map[string]providerList {
	by := make(map[string]providerList)
	for i := range providers {
		for _, w := range strings.Fields(providers[i].names) {
			by[w] = append(by[w], &providers[i])
		}
	}
	return by
}()

// A providerList holds the kinds of secrets of one provider.
type providerList []*provider

// providersOf returns the kinds of secrets of the provider that a name mentions, or nil.
func providersOf(name string) providerList {
	if len(name) > maxName {
		return nil
	}
	var buffer [maxWords]string
	words, _ := split(buffer[:0], name)
	for i, w := range words {
		found := providersBy[w]
		if found == nil && i > 0 && len(w)+len(words[i-1]) < 16 {
			found = providersBy[words[i-1]+w] // new_relic
		}
		if found == nil {
			continue
		}
		if i == len(words)-1 {
			return found
		}
		before, last := words[len(words)-2], words[len(words)-1]
		client := last == "id" && (before == "client" || before == "access")
		if describes[singular(last)] && !client {
			return nil
		}
		return found
	}
	return nil
}

// make reports whether a value has the form of one of the secrets.
func (l providerList) make(value string) bool {
	for _, p := range l {
		if p.sizes == nil && isUUID(value) {
			return true
		}
		for _, n := range p.sizes {
			if len(value) == n && p.body.all(value) && hasDigit(value) && variety(value) >= 6 {
				return true
			}
		}
	}
	return false
}
