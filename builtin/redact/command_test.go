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
		`cd x; mysql -p«hunter22»`,
	)
}

func TestLongLinesAreNotReadAsCommands(t *testing.T) {
	masks(t, "curl -u bob:hunter2 "+strings.Repeat("x", 4096), "curl -u bob:«hunter2» "+strings.Repeat("x", 4000))
}
