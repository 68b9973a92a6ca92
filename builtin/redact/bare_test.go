package redact

import (
	"strings"
	"testing"
)

func TestValuesWithoutQuotesEnd(t *testing.T) {
	masks(t,
		`password=«hunter2» x`, "password=«hunter2»\tx", "password=«hunter2»\nx", `f(password=«hunter2») x`,
		`x[password=«hunter2»] x`,
		`{password=«hunter2»} x`, `password=«hun(ter)2» x`, `password=«hun)ter2» x`, `password=«hunter2», x`,
		`password=«hun,ter2» x`,
		`password=«hunter2»,user=bob`, `password=«hunter2»;user=bob`, `password=«hunter2»&user=bob`,
		`password=«hun&ter2»`,
		`password=«hunter2»; x`, `password=«hunter2»;"x"`, `password=«hunter2» && x`, `password=«hunter2»&&x`,
		`password=«hunter2»\nx`,
		`password=«hunter2»\tx`, `x password=«hunter2»<br>`, `password=«hun<ter2»`, `password=«hunter2»</p>`,
		`password=«hunter2»%26x=1`, `password=«hunter2»%20x`, `password=«hun%21ter2»`, `password: «hunter2%26x»`,
		`password=«hunter2»||x`,
		`password=«hun|ter2»`, `| password | «hunter2»| x`, `| password | «hunter2» | x`,
		`"x password=«hunter2»"`, `password=«hun"ter2»`,
		`password=«hunter2»" x`, `x password=«hunter2»>`, `password=«hunter2>»`, `password: «hunter2»; x`,
		`password=«hunter2`+strings.Repeat("x", maxJudged)+`» x`,
	)
}

func TestPunctuationIsNotAValue(t *testing.T) {
	masks(t, `password: ...`, `password: .`, `password: ?!`, `password: x...`, `password: hm...`,
		`password: «hunter...»`, `password: «hunter2.»`,
		`token: x.`)
}

func TestPassphrasesReachToTheEndOfLine(t *testing.T) {
	masks(t,
		"password: «correct horse battery»\nx", "password: «correct horse» # a comment",
		"password: «correct» horse = battery",
		"password: «correct» horse, battery", "password: «correct» (horse)", "password: «correct» /horse",
		"password=«correct» horse",
		"x password: «correct» horse", "  password: «correct horse»", "- password: «correct horse»",
		"password: «correct» ", "password: «correct»\r\nx",
		"password: «correct"+strings.Repeat(" abcdefghi", 12)+"»", "password: «correct»"+strings.Repeat(" abcdefghi",
			12)+"j",
	)
}

func TestTemplatesAreNotSecrets(t *testing.T) {
	masks(t,
		`password: ${{ secrets.TOKEN }} x`, `password: {{ .Values.password }}`, `password=${PASSWORD} x`,
		`password=$(pass show x)`,
		`password=<%= password %>`, `password=${PASS WORD}`, `password="{{ x }}"`, `password="${x}"`,
	)
}

func TestHeadersReachToTheEndOfLine(t *testing.T) {
	masks(t,
		"Cookie: «;sid=hunter2»", "Cookie: «a=b; c=d»\r\nHost: x", "Authorization: «Basic YWJjOmRlZg==»  \t\nx",
		"password: «abc1.»", "password: ab1..", "Set-Cookie: «a=b»  \nx", "Authorization: «Basic YWJjOmRlZg==»",
		"Proxy-Authorization: «Bearer abc123def»",
		"authorization=«Bearer abc123def»", `curl -H "Cookie: «a=b; c=d»" x`,
		`curl -H 'Authorization: «Token hunter22»' x`,
		"the Authorization: header", "the Authorization: «Bearer hunter22»", "see Cookie: «a=b» ",
		"the Cookie: «a=b; c»<br>", "Cookie: «a<b»", `"Cookie: «a=b»\nHost: x"`,
		"Authorization: null", "Authorization: ${TOKEN}", "Authorization: Bearer ${TOKEN}", "Authorization: token",
		"Authorization: «Bearer abc123def"+strings.Repeat("x1", 400)+"»",
		"Cookie: «a=b; "+strings.Repeat("c=dd; ", 100)+"e=f»  \nx",
		"cookies = jar.cookies()", "Authorization: «Token 0123456789abcdef»", "the Authorization: «k3v9x2m8q1z7w4»",
	)
}

func TestExpressionsAreNotSecrets(t *testing.T) {
	masks(t,
		`password = os.Getenv("X")`, `password=os.Getenv("X")`, `password = getpass()`, `password=getpass()`,
		`password=Config{}`,
		`password := hunter`, `password += hunter`, `password == hunter`, `password = (x)`, `password = cfg.Password`,
		`password = cfg.db.primary`,
		`password = settings["db"]`, `password = settings[0]`, `connect(user, password=settings.db)`,
		`connect(password=settings.db)`,
		`password = &value`, `password = *value`, `password=&value`, `password = hunter;`, `password = «hunter»`,
		`password = hunter + x`, `password = hunter | x`, `password = hunter ? x : y`, `password = hunter & x`,
		`password = hunter == x`,
		`password = hunter != x`, `password = «hunter - x»`, `password = hunter,`, `password = «hunter2»;`,
		`password = string`,
		`password=«hunter(x»`, `password = «2hunter.x»`, `alone: password=«hunter.x»`, `token: identifier`,
		`token: «identifierofmanycharacters»`,
		`token = «hunter2»`, `f(password=x(y))`, `f(a,password=x(y))`, `password=«x(y)»`, `password=abc("x")`,
		`password=«ab("x»")`,
	)
}

func TestBlocksOfYAMLAreValues(t *testing.T) {
	masks(t,
		"password: |\n  «hunter2»\nx: y", "password: >-\n  «hunter2\n  hunter3»\nx: y",
		"password: |2 # comment\n  «hunter2»", "password: «|x»\n  hunter2",
		"a:\n  password: |\n    «hunter2»\n  b: c", "password:\n  «hunter2»\nx: y",
		"passwords:\n«- hunter2\n- hunter3»\nx: y",
		"passwords:\n  «- hunter2\n  - hunter3»\nx: y", "credentials:\n  git: «hunter2»\n  type: x\nuser: bob",
		"\"password\": |\n  «hunter2»\nx: y",
		"credentials:\n  - git: «hunter2»\nuser: bob", "password:\n\n  «hunter2»", "password:\n  null",
		"password:\n  must be long", "password:\nx: y",
		"session:\n  hunter2",
	)
}

func TestLabelsHaveAWordBelow(t *testing.T) {
	masks(t,
		"Password:\n«hunter»\nx", "Password:\nhunts\nx", "Password:\n«hun7»\nx", "  Password:\nhunter2",
		"Password:\ntwo words", "Password:\nhunter2:",
		"Password:\n#hunter2", "Password:\n-hunter2", "Password:\n=hunter2", "Password:\n\nhunter2", "Password:\n",
		"Session:\nhunter2",
	)
}

func TestMappingsBeginWithANameAndColon(t *testing.T) {
	judged(t, isMapping, []string{"a: b", "a:", "a:\tb", "a:\r\nb", `"a": c`, "a:\nb c"},
		[]string{"", "a", "a:b", ": b", "a b: c", `a"b: c`, "a\nb: c", "http://x"})
}

func TestKubernetesSecretsAreRecognised(t *testing.T) {
	judged(t, kubernetesSecret.MatchString, []string{"kind: Secret", `"kind": "Secret"`, "kind: Secret\ndata:",
		"kind: 'Secret'", "Secret\nkind: Secret"},
		[]string{"", "Secret", "kind: SecretList", "kind: Secret-x", "mind: Secret", "kind                 : Secret"})
}
