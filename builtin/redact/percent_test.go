package redact

import "testing"

func TestPercentEncodedSecretsAreRedacted(t *testing.T) {
	masks(t,
		`https://h/?x=password%3D«hunter2»`, `x=%22api_token%22%3A%22«abcd1234efgh5678»%22&y=1`,
		`https%3A%2F%2F«bob%3Ahunter2»%40host%2Fx`, `pass%77ord=«hunter2»`,
		`x=password%3D«hunter2»%26page=2`, `x=curl+-u+%22bob:«hunter2hunter2»%22`,
		`https://h/?q=a%20b%3Dc`, `100%25+of+x`, `%`, `%4`, `a%zz=b`, `https://h/%E2%82%AC?x=1`,
		`x=Bearer%20«abcdef1234567890abcdef»`, `%70%61%73%73%77%6f%72%64%3D«%68%75%6E%74%65%72%32»`,
		`u=https%253A%252F%252F«bob%253Ahunter2»%2540host`, `x=password%253D«hunter2»%2526page%253D2`,
		`x=password%25253D«hunter2»`, `x=password%25252525253Dhunter2`, `a=%252Fb%252Fc&q=100%2525`,
	)
}
