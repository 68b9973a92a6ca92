package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

var (
	dropStatement  = regexp.MustCompile(`(?i)\bdrop\s+(table|database|schema|keyspace|owned)\b`)
	emptyStatement = regexp.MustCompile(`(?im)(?:^|;)\s*(?:truncate\s+(?:table\s+)?["\w]|` +
		`delete\s+from\s+[^\s;]+\s*(?:;|\z))`)
	emptyMongo = regexp.MustCompile(`\.(?:drop\(|(?:deleteMany|remove)\(\s*(?:\{\s*\})?\s*\))`)
	sqlComment = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	sqlClients = kit.Set("psql", "mysql", "mariadb", "sqlite", "sqlite3", "duckdb", "sqlcmd", "sqlplus",
		"clickhouse-client", "clickhouse",
		"cockroach", "snowsql", "usql", "isql", "bq", "trino", "presto", "hive", "beeline", "impala-shell", "spark-sql",
		"mycli", "pgcli", "litecli", "cqlsh", "influx")
)

// drops matches the SQL statement, or a database client whose arguments or input contain it.
func drops(c *Command) bool {
	switch {
	case c.Program == "dropdb":
		return true
	case c.Program == "drop":
		return dropStatement.MatchString("drop " + strings.Join(c.Args, " "))
	case c.Program == "mysqladmin":
		return slices.ContainsFunc(c.Args, func(arg string) bool { return strings.EqualFold(arg, "drop") })
	case c.Program == "mongo" || c.Program == "mongosh":
		return strings.Contains(strings.Join(c.Args, " ")+c.Stdin, "dropDatabase(")
	case sqlClients[c.Program]:
		return c.hasStatement(dropStatement)
	}
	return false
}

// emptiesTable matches a database client that removes all rows of a table, or a whole collection.
func emptiesTable(c *Command) bool {
	if c.Program == "mongo" || c.Program == "mongosh" {
		return emptyMongo.MatchString(strings.Join(c.Args, " ") + c.Stdin)
	}
	return sqlClients[c.Program] && c.hasStatement(emptyStatement)
}

// hasStatement reports whether an argument or the input contains a statement, also between comments.
func (c *Command) hasStatement(statement *regexp.Regexp) bool {
	return slices.ContainsFunc(append(slices.Clone(c.Args), c.Stdin), func(text string) bool {
		return statement.MatchString(sqlComment.ReplaceAllString(text, " ")) || statement.MatchString(text)
	})
}
