package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSecretsOfEveryProviderAreRecognised(t *testing.T) {
	for i, p := range providers {
		t.Run(fmt.Sprintf("%d %s", i, p.names), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(i)))
			list := providerList{&p}
			for _, n := range p.sizes {
				value := drawn(r, p.body, n, func(s string) bool { return hasDigit(s) && variety(s) >= 6 })
				if !list.make(value) {
					t.Errorf("%q is not recognised", value)
				}
				if longer := value + "1"; !slices.Contains(p.sizes, n+1) && list.make(longer) {
					t.Errorf("%q is recognised", longer)
				}
				if other := value[1:] + "!"; list.make(other) {
					t.Errorf("%q is recognised", other)
				}
			}
			if uuid := structured[0]; p.sizes == nil && (!list.make(uuid) || list.make(uuid[1:])) {
				t.Error("UUIDs are not the secrets")
			}
		})
	}
}

func TestRangesOfSizesIncludeBothEnds(t *testing.T) {
	if got := between(3, 5); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("got %v", got)
	}
}

func TestNamesMentionProviders(t *testing.T) {
	judged(t, func(name string) bool { return providersOf(name) != nil },
		[]string{"heroku", "HEROKU_API", "my_heroku", "new_relic_key", "newRelic", "new_yorktimes_key",
			"okta_client_id", "okta_access_id", "heroku_type_key", "type_heroku"},
		[]string{"", "hero", "heroku_type", "okta_id", "okta_user_id", "new_x_relic", "client_id"})
}
