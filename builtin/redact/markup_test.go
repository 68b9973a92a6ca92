package redact

import (
	"strings"
	"testing"
)

func TestElementsWithASecretNameAreRedacted(t *testing.T) {
	masks(t,
		`<password>«hunter2»</password>`, `<password> «hunter2» </password>`, "<password>\n  «hunter2»\n</password>",
		`<db:password>«hunter2»</db:password>`, `<password type="text">«hunter2»</password>`,
		`<Password>«hunter2»</Password>`,
		`<password><![CDATA[«hunter2»]]></password>`, `alone: <password><![CDATA[«hunter2»`,
		`<password><![CDATA[«hun<x>ter2»]]></password>`, `<password><![CDATA[]]></password>`,
		`<user>hunter2</user>`, `<password>hunter2<b>x</b></password>`, `<password></password>`, `<password/>`,
		`alone: <password>«hunter2»`,
		`<password>`, `<password> hunter2`, `<password>null</password>`, `<password>${x}</password>`,
		`<password>password</password>`,
		`<token>hunter2</token>`, "<adobe-token>\n  «c7237eff228cf0ee1e2ba24325666c37»\n</adobe-token>",
		`<api-key>«hunter2»</api-key>`, `<my.password>«hunter2»</my.password>`,
		`<_password>hunter2</_password>`,
		`a < b && password > c`, `<1password>hunter2</1password>`, `<>hunter2</>`,
		`<user>a</user><password>«hunter2»</password><x>b</x>`,
		`<password>«hunter2»</password><password>«hunter3»</password>`,
		`<password>«hunter2»<password>«hunter3»</password>`, `<password>«!hunter2»<password>«hunter3»</password>`,
		`alone: <password>«hunter2»<PASSWORD>«hunter3»`,
		"<password>«hunter2»\n<user>ann</user>",
		"<password>«hunter2»\n<password>«hunter3»\n<password>«hunter4»</password>",
		`&lt;password&gt;«hunter2»&lt;password&gt;«hunter3»&lt;/password&gt;`,
		`login <password>:<password>`, "login <password>, or\n<password>", "login <password> again\n<user>",
		"login <password>@x\n<host>", `login <password>abc<password>`, `login <password>user name<password>`,
		`login <password>hunter2<user>`, `<user>hunter2<user>`,
	)
}

func TestAttributesNameTheValue(t *testing.T) {
	masks(t,
		`<add key="Password" value="«hunter2»"/>`, `<add value="«hunter2»" key="Password"/>`,
		`<add name='Password' value='«hunter2»'/>`,
		`<property name="password">«hunter2»</property>`, `<property name="user">hunter2</property>`,
		`<add key="User" value="hunter2"/>`,
		`<add key="Password" name="User" value="«hunter2»"/>`, `<add key="User" name="Password" value="«hunter2»"/>`,
		`<add key="Password" value="${x}"/>`, `<add key="Password" value=""/>`, `<add key=Password value="«hunter2»"/>`,
		`<add key="Password" other="hunter2"/>`, `<add key="Password" value="«hunter2»"`,
		`<add key=\"Password\" value=\"«hunter2»\"/>`,
		`<add key="Password" data-value="hunter2"/>`, `<add key="Password" VALUE="«hunter2»"/>`,
		`<add key="Password" value="«hun>ter2»"/>`,
		`<add key = "Password" value="«hunter2»"/>`, `<add key="Password" value=`,
		`<add key="Password" <b value="«hunter2»"/>`,
		"<add\n  key=\"Password\"\n  value=\"«hunter2»\"/>",
	)
}

func TestKeysOfPropertyListsNameTheValue(t *testing.T) {
	masks(t,
		`<key>Password</key><string>«hunter2»</string>`, "<key>Password</key>\n  <string>«hunter2»</string>",
		`<key>User</key><string>hunter2</string>`, `<key>Password</key><data>hunter2</data>`,
		`<key>Password</key>`+strings.Repeat(" ", 40)+`<string>«hunter2»</string>`,
		`<key>Password</key>`+strings.Repeat(" ", 60)+`<string>hunter2</string>`, `<string>hunter2</string>`,
	)
}

func TestEscapedMarkupIsMarkup(t *testing.T) {
	masks(t,
		`&lt;password&gt;«hunter2»&lt;/password&gt;`, `\u003cpassword\u003e«hunter2»\u003c/password\u003e`,
		`\u003Cpassword\u003E«hunter2»\u003C/password\u003E`, `&lt;password>«hunter2»&lt;/password>`,
		`&amp;password&gt;hunter2`,
		`\u003dpassword\u003e hunter2`, `&lt;add key="Password" value="«hunter2»"/&gt;`,
	)
}

func TestTagsOverManyLinesAreNotTags(t *testing.T) {
	masks(t,
		"<a "+strings.Repeat("x", 1900)+"\nkey=\"Password\" value=\"«hunter2»\"/>",
		"<a "+strings.Repeat("x", 2010)+"\nkey=\"Password\" value=\"«hunter2»\"/>",
		"<a "+strings.Repeat("x", 2010)+" key=\"Password\" value=\"«hunter2»\"/>",
	)
}
