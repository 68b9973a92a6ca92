package eventpage

import "testing"

func TestNamesThatPermitAreGood(t *testing.T) {
	for name, want := range map[string]bool{
		"Allow": true, "allowed": true, "Permitted": true, "completed": true, "finish_reason": true, "Done": true, "OK": true,
		"Success": true, "succeeded": true, "Approved": true, "PasswordRequired": false, "AcceptanceFailed": false,
		"CompletedWithErrors": false, "Deny": false, "Passive": false, "": false,
	} {
		if got := IsGood(name); got != want {
			t.Errorf("IsGood(%q) = %t", name, got)
		}
	}
}
