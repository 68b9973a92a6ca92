package redact

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSecretsOfEveryProviderAreRecognised(t *testing.T) {
	for name, list := range providersBy {
		for i, p := range list {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				only := providerList{p}
				r := rand.New(rand.NewPCG(3, uint64(i)))
				for _, n := range []int{p.least, p.most} {
					value := drawn(r, p.of, n, func(s string) bool { return hasDigit(s) && variety(s) >= 6 })
					if !only.make(value) {
						t.Errorf("%q is not recognised", value)
					}
					if other := value[1:] + "!"; only.make(other) {
						t.Errorf("%q is recognised", other)
					}
					if longer := value + "1"; n == p.most && only.make(longer) {
						t.Errorf("%q is recognised", longer)
					}
				}
			})
		}
	}
}

func TestNamesMentionProviders(t *testing.T) {
	judged(t, func(name string) bool { return new(Redactor).about(name).makers != nil },
		[]string{"heroku", "HEROKU_API", "my_heroku", "new_relic_key", "newRelic", "new_yorktimes_key",
			"okta_client_id", "okta_access_id", "heroku_type_key", "type_heroku"},
		[]string{"", "hero", "heroku_type", "okta_id", "okta_user_id", "new_x_relic", "client_id"})
}
