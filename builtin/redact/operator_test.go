package redact

import (
	"strings"
	"testing"
)

// masks redacts texts. In a pattern, each value between « and » must be redacted, and everything else must stay.
func masks(t *testing.T, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		p, alone := strings.CutPrefix(p, alone)
		t.Run(p, func(t *testing.T) {
			text, want := strings.NewReplacer("«", "", "»", "").Replace(p), ""
			for i, part := range strings.Split(p, "«") {
				if _, after, ok := strings.Cut(part, "»"); ok && i > 0 {
					part = Redacted + after
				}
				want += part
			}
			r := &Redactor{KeepPersonal: true}
			if got := unkinded(r.Text(text)); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if alone {
				return
			}
			if got := unkinded(r.Text("x\n" + text + "\n\nx\n")); got != "x\n"+want+"\n\nx\n" {
				t.Errorf("between lines: got %q", got)
			}
			if got := unkinded(r.Text(text + "\n\n" + text)); got != want+"\n\n"+want {
				t.Errorf("twice: got %q", got)
			}
		})
	}
}

// alone begins patterns whose text is cut, or means something else if text precedes or follows it.
const alone = "alone: "

func TestOperatorsConnectNamesAndValues(t *testing.T) {
	masks(t,
		`password=«hunter2»`, `password = «hunter2»`, `password: «hunter2»`, `password:«hunter2»`,
		`password := "«hunter2»"`,
		`password => "«hunter2»"`, `password -> "«hunter2»"`, `password == "«hunter2»"`, `password === "«hunter2»"`,
		`password != "«hunter2»"`, `password !== "«hunter2»"`, `password =~ "hunter2"`, `password :: "hunter2"`,
		`password += "«hunter2»"`, `password ?= «hunter2»`, `password ??= "«hunter2»"`, `password ?? "«hunter2»"`,
		`password ||= "«hunter2»"`, `password || "«hunter2»"`, `password%3D«hunter2»`, `password%3d«hunter2»`,
		`password%3A«hunter2»`, `password%3a«hunter2»`, `password&#61;«hunter2»`, `password&#58;«hunter2»`,
		`password ?? hunter2`, `password || hunter2`, `password := hunter2`, `password == hunter2`, `password += hunter2`,
		`| password | «hunter2» |`, `a password | hunter2 |`, `password & "hunter2"`, `password % "hunter2"`,
		`password?: «hunter2»`, `password!: «hunter2»`, `password ! "hunter2"`, `password - "hunter2"`,
		`password + "hunter2"`, `password ? "hunter2"`, `password://hunter2`, `token == "hunter"`, `["token", "hunter"]`,
		`f("password", "repository_names")`, `f("password", "«Basic hunter two x»")`,
		`$password .= "«hunter2»"`, `password ::= «hunter2»`, `PASSWORD :::= "«hunter2»"`, `password <- "«hunter2»"`,
		`password <- hunter2`, `GH_PAT=«hunter2»`, `my.pat: «hunter2»`, `pat=hunter2`, `X-Key: «DB_PASSWORD: hunter2»`,
		`alone: arn:aws:secretsmanager:eu:1:secret:db-hunter2`,
	)
}

func TestNamesMayHaveQuotesAndMarks(t *testing.T) {
	masks(t,
		`a\ncsrf=«hunter2»`,
		`"password": "«hunter2»"`, `'password' => '«hunter2»'`, "`password`: `«hunter2»`",
		`env["PASSWORD"] = "«hunter2»"`,
		`env['PASSWORD']="«hunter2»"`, `**Password**: «hunter2»`, `**Password:** «hunter2»`,
		`Password**: «hunter2»`,
		`&quot;password&quot;: &quot;«hunter2»&quot;`, `Password [none]: «hunter2»`, `Password (again): «hunter2»`,
		`Password [a"b]: hunter2`, "Password (a\nb): hunter2",
		`char password[] = "«hunter2»";`, `char password[16] = "«hunter2»";`, `char password[16]= "«hunter2»";`,
		`char password[n] = "hunter2";`, `char password[16]; "hunter2"`, `char password[123456] = "«hunter2»";`,
		`char password[1234567] = "hunter2";`, `password[`,
	)
}

func TestSettersTakeTheSecretAsALiteral(t *testing.T) {
	masks(t,
		`c.setPassword("«hunter2»")`, `c.SetPassword('«hunter2»')`, `c.WithPassword("«hunter2»")`,
		`c.checkPassword("hunter2")`,
		`c.setPassword(hunter2)`, `c.setPassword("hunter2"`, `c.setPassword("hunter2", 1)`, `c.setPassword("hunter2`,
		`r.SetBasicAuth("bob", "«hunter2»")`, `r.basicAuth("bob", "«hunter2»")`, `r.SetBasicAuth("bob","«hunter2»")`,
		`r.SetBasicAuth("bob" "hunter2")`, `r.SetBasicAuth(user, password)`, `r.SetBasicAuth("bob", password)`,
		`c.setPassword(`, `c.setUser("hunter2")`,
		`c.setPassword("`+strings.Repeat("hunter2", 50)+`")`, strings.Repeat("x", 100)+`.setPassword("«hunter2»")`,
	)
}

func TestFlagsTakeTheNextWord(t *testing.T) {
	masks(t,
		`login --password «hunter2» --user bob`, `login -password «hunter2»`, `login --password --user bob`,
		"login --password\nhunter2",
		"login --password \nhunter2", `login --password=«hunter2»`, `["--password", "«hunter2»"]`,
		`["-password", "«hunter2»"]`,
		`["password", "hunter2"]`, `["x--password", "hunter2"]`, `["--password", "--user"]`, `["--password", "two words"]`,
		`["--password", ""]`, `["--password", hunter2]`, `login --session morning`, `login --password id=hunter2`,
		`docker build --secret id=npm,src=x`, `["--user", "bob", "--api-key", '«hunter2»']`,
	)
}

func TestBlanksConnectSomeNamesAndValues(t *testing.T) {
	masks(t,
		`the password is «hunter2»`, `the password was «hunter2»`, `the password is "«hunter»"`,
		`the password is hunter`,
		`the password is`, `the password is `, `the token is «hunter2»`, `enable secret 5 «$1$abcd$hunter2»`,
		`password 7 «0822455D0A16»`,
		`password 0 «hunter2»`, `password 4 «hunter2»`, `password 6 «hunter2»`, `password 8 «hunter2»`,
		`password 9 «hunter2»`,
		`password 1 hunter2`, `password 7`, `password 7 `, `token 7 hunter2`, `const password string = "«hunter2»"`,
		`var password str = "«hunter2»"`, `var password string ="«hunter2»"`, `var password string`,
		`var password string == "x"`,
		`ALTER USER bob PASSWORD '«hunter2»'`, `ALTER USER bob PASSWORD "«hunter2»"`, `password "a" {`,
		`ALTER USER bob IDENTIFIED BY '«hunter2»'`, `written by 'hunter2'`,
		`aws configure set aws_secret_access_key «hunter22»`,
		`aws configure set aws_secret_access_key hunter2`, `aws configure set aws_secret_access_key hunterhunter`,
		`aws configure set aws_secret_access_key f(hunter2)`, `ENV DB_PASSWORD «hunter2»`, `ARG DB_PASSWORD «hunter2»`,
		`setx DB_PASSWORD «hunter2»`, `set -x DB_PASSWORD «hunter2»`, `set -gx DB_PASSWORD «hunter2»`,
		`set -Ux DB_PASSWORD «hunter2»`,
		`put DB_PASSWORD hunter2`, `requirepass «hunter2»`, `masterauth «hunter2»`, `bindpw «hunter2»`,
		`rootpw «hunter2»`,
		`secret hunter2`, `ENV SESSION morning`,
	)
}

func TestNetrcFilesHavePasswords(t *testing.T) {
	masks(t,
		`machine h login me password «hunter2»`, "machine h\n\tlogin me\n\tpassword «hunter2»",
		`login me password «hunter2»`,
		`machine h password «hunter2»`, `account a password «hunter2»`, `default password «hunter2»`,
		`a default password hunter2`,
		"machine h login me password \n  «hunter2»", `host h password hunter2`, `machine h login me password`,
		`alone: machine h login me password `,
		`machine h login me passwort hunter2`, "machine h\ndefault password «hunter2»", `me password hunter2`,
		`password hunter2`,
	)
}

func TestTypesMayPrecedeTheValue(t *testing.T) {
	masks(t,
		`password: str = "«hunter2»"`, `password: String = "«hunter2»"`, `password: &str = "«hunter2»"`,
		`password: Optional[str] = "«hunter2»"`, `password: str | None = "«hunter2»"`,
		`password: Option<String> = "«hunter2»"`,
		`password: str == "hunter2"`, `password: str => "hunter2"`, `password: str`, `password: string = `,
		`"password": string = x`, `password: str = «hunter2»`, `password: str=«hunter2»`,
	)
}

func TestContinuedLinesHoldTheValue(t *testing.T) {
	masks(t,
		"password=\\\n  «hunter2»", "password = \\\r\n  «hunter2»", "password=\\\n\\\n«hunter2»",
		"password:\n  «hunter2»",
		"password =\n  \"«hunter2»\"", "password =\n  hunter2", "password=", "password: ", "password=\\", "password=\\\n",
	)
}
