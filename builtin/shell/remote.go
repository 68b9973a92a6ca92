package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// destroyers are programs with their subcommands that destroy data or infrastructure irrecoverably.
var destroyers = map[string][]string{
	"terraform":  {"destroy", "apply -destroy", "state rm", "workspace delete"},
	"tofu":       {"destroy", "apply -destroy", "state rm"},
	"terragrunt": {"destroy", "run-all destroy", "run --all destroy", "apply -destroy", "state rm", "destroy-all"},
	"pulumi":     {"destroy", "down", "stack rm", "state delete"}, "cdk": {"destroy"}, "sls": {"remove"},
	"serverless": {"remove"}, "sam": {"delete"}, "amplify": {"delete"},
	"kubectl": {"delete", "drain", "replace --force"}, "k": {"delete", "drain"}, "oc": {"delete"},
	"helm": {"uninstall", "delete", "del"}, "argocd": {"app delete"}, "flux": {"uninstall"}, "velero": {"delete"},
	"istioctl": {"uninstall"},
	"docker": {"system prune", "volume rm", "volume prune", "container prune", "rm $()", "rmi $()", "compose down -v",
		"compose down --volumes", "stack rm", "swarm leave"},
	"podman":         {"system prune", "volume rm", "volume prune", "system reset", "rm $()", "rmi $()"},
	"docker-compose": {"down -v", "down --volumes"}, "nerdctl": {"system prune", "volume rm", "volume prune"},
	"vagrant": {"destroy"}, "virsh": {"undefine"}, "lxc": {"delete"}, "multipass": {"delete"}, "qm": {"destroy"},
	"vboxmanage": {"unregistervm --delete"},
	"heroku":     {"apps:destroy", "pg:reset", "addons:destroy"}, "fly": {"apps destroy", "destroy"},
	"flyctl": {"apps destroy", "destroy"}, "railway": {"down"},
	"gh":   {"repo delete", "release delete", "secret delete", "api delete", "api -xdelete"},
	"glab": {"repo delete"}, "npm": {"unpublish"}, "gsutil": {"rm", "rb"}, "doctl": {"delete"}, "hcloud": {"delete"},
	"eksctl": {"delete"}, "kops": {"delete"}, "kind": {"delete"}, "minikube": {"delete"}, "zfs": {"destroy"},
	"zpool": {"destroy", "labelclear"}, "btrfs": {"subvolume delete"}, "lvremove": {""}, "vgremove": {""},
	"pvremove": {""}, "userdel": {""}, "supabase": {"db reset"},
	"redis-cli": {"flushall", "flushdb"}, "valkey-cli": {"flushall", "flushdb"}, "influx": {"bucket delete"},
	"prisma": {"migrate reset", "db push --force-reset"}, "vercel": {"remove", "rm"}, "netlify": {"sites:delete"},
	"wrangler": {"delete"}, "firebase": {"firestore:delete", "projects:delete", "database:remove"},
	"crontab": {"-r"}, "gcloud": {"delete", "storage rm"}, "az": {"delete", "purge"}, "linode-cli": {"delete"},
	"aws": {"s3 rb", "s3 rm --recursive"}, "vault": {"delete", "kv delete", "kv destroy", "secrets disable"},
	"consul": {"kv delete"}, "etcdctl": {"del"}, "nomad": {"job stop -purge", "system gc"}, "rclone": {"purge", "delete"},
	"mc": {"rm --recursive", "rb"}, "s3cmd": {"del --recursive", "rb", "rm --recursive"},
	"azcopy": {"remove"}, "hdfs": {"dfs -rm"}, "hadoop": {"fs -rm"},
	"borg": {"delete"}, "rabbitmqctl": {"reset", "force_reset"}, "nats": {"stream rm", "kv rm", "object rm"},
	"kafka-topics": {"--delete"}, "kafka-topics.sh": {"--delete"},
	"rails": railsTasks, "rake": railsTasks, "mix": {"ecto.drop", "ecto.reset"},
	"artisan":   {"migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe"},
	"manage.py": {"flush", "reset_db"}, "sequelize": {"db:drop"},
	"sequelize-cli": {"db:drop"}, "dotnet": {"ef database drop"}, "flyway": {"clean"},
	"liquibase": {"dropall", "drop-all"},
	"alembic":   {"downgrade base"}, "dropuser": {""}, "typeorm": {"schema:drop"}, "knex": {"migrate:rollback --all"},
	"console": {"doctrine:database:drop --force", "doctrine:schema:drop --force"},
}

// railsTasks are the tasks of Rails that drop a database or empty its tables.
var railsTasks = []string{"db:drop", "db:reset", "db:migrate:reset", "db:purge", "db:truncate_all", "db:seed:replant"}

// awsDestroys matches the operations of aws that destroy something, for example terminate-instances.
var awsDestroys = regexp.MustCompile(`^(delete|terminate|deregister|purge)-|^(rb|delete|schedule-key-deletion)$`)

// flushes matches the commands of Redis that remove all keys, and flushesInScript a call of one in Lua.
var (
	flushes         = regexp.MustCompile(`(?im)^\s*flush(?:all|db)\b`)
	flushesInScript = regexp.MustCompile(`(?i)call\(\s*['"]flush(?:all|db)`)
)

// nests are programs whose subcommands follow the names of services and resources.
var nests = kit.Set("gcloud", "az", "doctl", "linode-cli", "eksctl", "argocd", "supabase", "prisma", "kops", "hcloud",
	"velero", "wrangler", "artisan")

// destroysRemotely matches commands that destroy infrastructure or data of other machines.
func destroysRemotely(c *Command) bool {
	for i, arg := range c.Args {
		if strings.HasPrefix(arg, "--dry-run") || arg == "--dryrun" || arg == "--help" || arg == "-h" && i+1 == len(c.Args) {
			return false
		}
	}
	if c.Program == "aws" && len(c.Args) > 1 && slices.ContainsFunc(c.Args[1:], awsDestroys.MatchString) {
		return true
	}
	if (c.Program == "redis-cli" || c.Program == "valkey-cli") && (flushes.MatchString(c.Stdin) ||
		slices.ContainsFunc(c.Args, flushesInScript.MatchString)) {
		return true
	}
	return slices.ContainsFunc(destroyers[c.Program], func(words string) bool {
		return c.hasSubcommand(strings.Fields(words))
	})
}

// hasSubcommand reports whether the subcommand consists of the words, in order and without regard to case. Options and
// their values can precede it. A word can have a suffix after a colon, as in db:drop:all.
func (c *Command) hasSubcommand(words []string) bool {
	found := 0
	for i, arg := range c.Args {
		if found == len(words) {
			break
		}
		arg = strings.ToLower(arg)
		switch {
		case arg == words[found], strings.HasPrefix(arg, words[found]+":"),
			strings.HasPrefix(words[found], "-") && arg == "-"+words[found]:
			found++
		case found > 0 || strings.HasPrefix(arg, "-") || i > 0 && strings.HasPrefix(c.Args[i-1], "-") || nests[c.Program]:
		default:
			return false // another subcommand
		}
	}
	return found == len(words)
}
