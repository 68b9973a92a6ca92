package redact

import (
	"strings"
	"testing"
)

func TestSchemesPrecedeACredential(t *testing.T) {
	masks(t,
		`Bearer «abcdef123456»`, `bearer «abcdef123456» x`, `Basic «YWJjOmRlZg==»`, `x Bearer%20«abcdef123456»`,
		`\nBearer «abcdef123456»`,
		`xBearer abcdef123456`, `Bearer abcdef1`, `Bearer abcdef12`, `Bearer «abcdef123»`, `Bearer ${TOKEN}`,
		`Bearer authentication`, `Basic Authentication`, `Basic understanding`,
		`Bearer «aBcDeFgHiJkL»`, `Bearer aBcDeFgHiJk`, `Bearer ABCDEFGHIJKL`, `Bearer «abcdefgh=»`, `Bearer`, `Basic`,
		`Bearer `, `Bearer «abcdef123456».`,
		`a big body, then bearer «abcdef123456»`, `Bearer «a1/b2+c3»`, `Bearer a1/b2+c`,
		`Bearer:«abcdef123456»`, `Bearer version1`, `Bearer «version12»`, `b`, `xx\Bearer «abcdef123456»`,
	)
}

func TestLinesOfPgpassHaveAPassword(t *testing.T) {
	masks(t,
		"localhost:5432:db:bob:«hunter2»", "localhost:*:*:bob:«hunter2»\nx", "localhost:543:db:bob:hunter2",
		"localhost:5432:1:bob:hunter2",
		"localhost:5432:db:bob:", "localhost:5432:db:bob:${X}", "a:5432:db:bob", "a:5432:b:c:d:e",
		"a b:5432:db:bob:hunter2", "/a:5432:db:bob:hunter2",
		"localhost:5432:db:bob:«hunter2»\r\nx", "localhost:port:db:bob:hunter2", "x\nlocalhost:5432:db:bob:«hunter2»",
	)
}

func TestOptionsOfCurlHaveAPassword(t *testing.T) {
	masks(t,
		`curl -u bob:«hunter2» x`, `curl --user bob:«hunter2» x`, `curl -U bob:«hunter2» x`,
		`curl --proxy-user bob:«hunter2» x`, `curl --user=bob:«hunter2» x`,
		`curl -ubob:«hunter2» x`, `curl -u "bob:«hunter2»" x`, `curl -u 'bob:«hunter2»'`, `curl -u bob x`,
		`curl -u bob: x`, `curl -u bob:$PASSWORD x`,
		`curl -x:hunter2 y`, `curl -Hx:hunter2`,
		`curl -u`, `curl -x bob:hunter2`, `wget -u bob:hunter2`, `curl x-u bob:hunter2`,
		`curl -u bob:«hunter2» -U eve:«hunter3»`, `curl --username`, `curl -ubob`,
	)
}

func TestProgramsHaveShortFlagsForPasswords(t *testing.T) {
	masks(t,
		`mysql -p«hunter22» db`, `mysql -p hunter22`, `mysql -uroot -p«hunter22»`, `mariadb -p«hunter22»`,
		`sshpass -p «hunter22» ssh x`, `sshpass -p«hunter22»`,
		`redis-cli -a «hunter22»`, `redis-cli -ahunter22`, `docker login -p «hunter22»`,
		`podman login -p «hunter22» x`, `docker run -p 80:80 mysql`,
		`docker run --name mysql -p3306:3306`, `/usr/bin/mysql -p«hunter22»`, `xmysql -phunter22`,
		`mysql; x -phunter22`, `mysql | x -phunter22`,
		`mysql & x -phunter22`, `mysql -p"«hunter22»" x`, `mysql -p'«hunter22»'`, `mysql -p`, `mysql -p-x`,
		`mysql x-phunter22`, `mysql -p$PASSWORD`,
		`cd x; mysql -p«hunter22»`, `mysqldump -uroot -p«hunter22» x`, `az login -u x -p «hunter22» --tenant y`,
		`mongosh -u a -p «hunter22» h`, `ssh-keygen -N "«hunter22»" -f k`, `ssh-keygen -N "" -f k`,
		`openssl enc -aes-256-cbc -k «hunter22» -in x`, `openssl enc -kfile key22 -in x`, `ldapsearch -w «hunter22»`,
		`sqlcmd -S h -P «hunter22»`, `zip -P «hunter22» x.zip y`, `unzip -p x.zip a22.txt`, `oc login -p «hunter22»`,
		`helm registry login -u x -p «hunter22» h`, `gh secret set TOKEN --body "«hunter22»"`,
		`gh secret set TOKEN --body=«hunter22»`, `mkdir -p mysql/data22`, `mongosh -p 27017`,
	)
}

func TestCommandsOverSeveralLinesHavePasswords(t *testing.T) {
	masks(t,
		"curl \\\n  -u bob:«hunter22» \\\n  https://example.org",
		"curl \\\r\n-u bob:«hunter22»", "curl `\n -u bob:«hunter22»",
		"curl ^\r\n -u bob:«hunter22»", "mysql \\\n -u root \\\n -p«hunter22» db", "redis-cli \\\n -a «hunter22»",
		"docker login \\\n -u me \\\n -p «hunter22» x", "sshpass \\\n -p «hunter22» ssh x", "curl x\n -u bob:hunter22",
		`{"cmd":"curl \\\n -u bob:«hunter22»"}`, "docker login -p«hunter22»",
	)
}

func TestPasswordsOfDocumentationsStay(t *testing.T) {
	masks(t, "curl -u user:password x", "curl -u <user:password> x", "curl --user neo4j:[PASSWORD] x", "curl -u test:test")
}

func TestLongLinesAreReadAsCommands(t *testing.T) {
	masks(t, "curl -u bob:«hunter2» "+strings.Repeat("x", 5000), strings.Repeat("mysql ", 1000)+"-p«hunter22»",
		"localhost:5432:db:bob:hunter2"+strings.Repeat("x", 5000))
}

func TestCommandsInJSONHavePasswords(t *testing.T) {
	masks(t,
		`{"cmd":"curl -H \"X-Api-Key: «a8Kd03LmQ9xZ71bc»\" x"}`, `{"cmd":"curl -u \"bob:«hunter2»\" x"}`,
		`{"cmd":"curl -u bob:«hunter2»"}`, `{"cmd":"mysql -u root -p«hunter22» db"}`,
		`{"cmd":"mysql -p\"«hunter22»\" db"}`, `{"cmd":"cd x\nmysql -p'«hunter22»'"}`,
		`{"cmd":"sshpass -p \"«hunter22»\" ssh x"}`, `{"a":"{\"cmd\":\"redis-cli -a \\\"«hunter22»\\\"\"}"}`,
		`{"cmd":"docker login -u me -p «hunter22» x"}`, `{"cmd":"export API_KEY=\"«hunter22»\" && x"}`,
		`{"cmd":"PGPASSWORD='«hunter22»' psql"}`, `{"cmd":"mysql x\nmkdir -pfoo"}`,
		`{"name":"mysql","args":"mkdir -pfoo"}`, `{"cmd":"mysql"}`, `{"cmd":"my_mysql -phunter22"}`,
	)
}

func TestPasswordsOnTheStandardInputAreRedacted(t *testing.T) {
	masks(t,
		`echo '«hunter22»' | docker login -u me --password-stdin`, `echo «hunter22» | docker login --password-stdin x`,
		`{"cmd":"echo \"«hunter22»\" | docker login --password-stdin"}`, `echo "$TOKEN" | docker login --password-stdin`,
		`cat x | docker login --password-stdin`, `echo -n x | docker login --password-stdin`, `echo hunter22 | x`,
		`xecho hunter22 | docker login --password-stdin`,
	)
}
