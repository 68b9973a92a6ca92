package redact

import (
	"strings"
	"testing"
)

func TestQuotedValuesEndWithTheirQuote(t *testing.T) {
	masks(t,
		`password="«hunter2»" x`, `password='«hunter2»' x`, "password=`«hunter2»` x", `password="«hun ter2»" x`,
		`password="" x`,
		`password="«hun\"ter2»" x`, `password="«hun\\»" x`, `"{\"password\":\"«hunter2»\",\"a\":1}"`,
		`"{\\\"password\\\":\\\"«hunter2»\\\",\\\"a\\\":1}"`, `password=&quot;«hunter2»&quot; x`,
		`password=&#34;«hunter2»&#34; x`,
		`password=&#39;«hunter2»&#39; x`, `password=%22«hunter2»%22 x`, `password=%27«hunter2»%27 x`,
		`password=\u0022«hunter2»\u0022 x`, `password=\u0027«hunter2»\u0027 x`, `password="""«hun"ter2»""" x`,
		`password='''«hun'ter2»''' x`,
		`alone: password="""«hunter2»`,
		`alone: password=&quot;«hunter2»`, `password=b"«hunter2»"`, `password=rb"«hunter2»"`,
		`password=u'«hunter2»'`,
		`password=L"«hunter2»"`, `password=@"«hunter2»"`, `password=$'«hunter2»'`, `password=f"«hunter2»"`,
	)
}

func TestJoinedLiteralsAreOneValue(t *testing.T) {
	masks(t,
		`password = "«hun»" + "«ter2»"; x`, `password = "«hun»" . "«ter2»"; x`,
		`password = "«hun»" & "«ter2»"; x`,
		"password = \"«hun»\" \\\n \"«ter2»\"; x", `password='«hun»'"«ter2»" x`, `password = "«hun»", "ter2"`,
		`password = "«hun»" "ter2"`,
		`password = "«hun»" + ter2`, "password = \"«hun»\" +\n  \"«ter2»\"", `password = "«hun»" +`,
		`password = "«hun»" \`, `password = "«hun»" - "ter2"`,
		`password = "«hun»" + "" + "«ter2»"`,
	)
}

func TestClosingQuotesBeginNoValue(t *testing.T) {
	masks(t,
		`x = "token=" + token`, `x = "a token=" + token`, `x = 'a token=' + token`, `x = "a" + "token=" + token`,
		`print("password: ")`,
		`print("password: ", x)`, `x["a token="]`, `f("a token="; y)`, `f("a token="}`, `f("a token=":y)`,
		`f("a token="&y)`, `f("a token="|y)`,
		`f("a token="?y)`, `f("a token=".y)`, `f("a token=",y)`, "\"a token=\"\ny", `"a token="`,
		`print("the password: " + x + " is wrong")`,
		`x password="«hunter2»"`,
		`"a" password="«hunter2»"`, `"a password="«hunter2»"`,
	)
}

func TestOpenQuotesEndWithTheirLine(t *testing.T) {
	masks(t,
		"password=\"«hunter2»\nnext", "password=\"«hunter2»", "password=\"«hun\nter2»\"\nnext",
		"x \\\"password\\\": \\\"«hunter2\nnext »\\\"",
		"password=\"«hun\n"+strings.Repeat("x", maxQuoted-1)+"»\"", "password=\"«hun»\n"+strings.Repeat("x",
			maxQuoted+1)+"\n\"",
	)
}

func TestListsOfSecretsAreRedacted(t *testing.T) {
	masks(t,
		`passwords = «["a", "b"]» x`, `passwords: «['a']» x`, `passwords = [] x`, `passwords = [""] x`,
		`passwords = [1, 2.5] x`, `passwords = «["1", "2"]» x`, `passwords = [a, b](c)`, `tokens = [a, b] x`,
		`alone: passwords = «["a", "b"»`,
		"passwords = «[a\n]»", `passwords = «[hunter2, b1]» x`, `passwords = «[hunter]» x`, `passwords = {{ x }}`,
		`session = ["a"]`,
		`credentials = {"git": "«hunter2»", "type": "y"}`,
		`credentials = {"git": "«hunter2»", "hub": "«hunter3»"} x="hunter4"`,
		`credentials = {"git": «["hunter2", "hunter3"]»}`, `credentials = [{"git": "«hunter2»"}]`,
		`credentials = {"a": {"b": "«hunter2»"}}`,
	)
}

func TestHereDocumentsAreValues(t *testing.T) {
	masks(t,
		"password=<<EOF\n«hunter2»\nEOF\nx", "password=<<-EOF\n«hunter2»\n  EOF\nx",
		"password=<<~'EOF'\n«hunter2\nhunter3»\nEOF\nx",
		"alone: password=<<EOF\n«hunter2»", "password=<<\"EOF\"\n«hunter2»\nEOF", "password=«<<» EOF",
		"password=<<EOF\nEOF\nx", "password=«<<"+strings.Repeat("E", 41)+"»\nhunter2",
	)
}

func TestTagsOfYAMLPrecedeTheValue(t *testing.T) {
	masks(t,
		"password: !!str «hunter2»", "password: &anchor «hunter2»", "password: &anchor !!str «hunter2»",
		"password: !vault hunter2", "password: «!!str»",
		"password: &anchor\nx", "password: "+Redacted+"«hunter2»", "password: "+Redacted+" x",
	)
}

func TestTextsAfterAnOpenTextAreRedacted(t *testing.T) {
	masks(t,
		"password=\"«hunter2»\nx\npassword=\"«hunter3»\"\nx", "password='«hunter2»\nx\ntoken: '«hunter3»'",
		"password=\"«hunter2»\nx = \"a\"", "password=\"«aGVsbG8\nd29ybGQ=»\"\nx", "password=\"«hunter2:»\" x",
		"credentials = {\"git\": \"«hunter2»\", \"user\": \"y\"}\ncredentials = {\"git\": \"«hunter3»\"}",
		"credentials = {\"user\": \"y\"}\nx = \"a\"\npassword=\"«hunter2»\"",
	)
}
