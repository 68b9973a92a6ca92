package shell_test

// ordinaryText has one command per line, with \n for a line break.
const ordinaryText = `
go test ./...
go test -run TestX -count=1 -race ./pkg/... 2>&1 | tail -n 50
go build -o bin/app ./cmd/app && ./bin/app --help
go vet ./... && gofmt -l .
go mod tidy
go generate ./...
go run ./cmd/x -v
GOOS=linux GOARCH=arm64 go build ./...
CGO_ENABLED=0 go build -ldflags="-s -w" .
go test -bench=. -benchmem -run='^$' ./...
go list -m -f '{{.Dir}}' example.org/x
go clean -testcache
golangci-lint run --fix
npm ci
npm install --save-dev jest
npm run build -- --watch
npm test -- --coverage
npx tsc --noEmit
npx prettier --write .
npx eslint . --fix
npx -y create-react-app x
yarn install --frozen-lockfile
yarn add rimraf
pnpm i && pnpm -r build
pnpm dlx tsx script.ts
node -e 'console.log(process.version)'
node --test
node -p "require('./package.json').version"
bun test
deno test
python -m pytest -x -q tests/
python3 -m venv .venv && . .venv/bin/activate
python3 -c "print('hello')"
python3 -c 'import sys; print(sys.version)'
python3 -c "import json,sys; json.load(open('x.json'))"
python3 - <<'EOF'\nimport os\nprint(os.listdir("."))\nEOF
pip install -r requirements.txt
pip install -e ".[dev]"
uv pip install x
uv run pytest
poetry install
poetry run pytest -k "not slow"
ruff check --fix .
black .
mypy src
tox -e py311
cargo test --all
cargo build --release
cargo clippy -- -D warnings
cargo clean
rustc --version
mvn -q test
gradle build --no-daemon
./gradlew test
make
make -j8 all
make clean
make test VERBOSE=1
cmake -S . -B build && cmake --build build
bundle exec rspec
bundle install
rake db:migrate
rails server
composer install
php artisan migrate
dotnet build
swift build
git status
git status --short --branch
git diff
git diff --stat HEAD~3
git diff --cached -- '*.go'
git log --oneline -n 20
git log --graph --all --decorate
git log -p -S 'rm -rf' -- script.sh
git show HEAD:README.md
git add -A
git add -p
git commit -m "fix: handle the case"
git commit -m "remove rm -rf from scripts; use trash"
git commit -m "$(cat <<'EOF'\nfix: don't run rm -rf / in tests\n\nIt's dangerous; use a temp dir (see #12).\nEOF\n)"
git commit --amend --no-edit
git commit -am 'wip'
git push
git push origin main
git push -u origin feature/x
git push --tags
git push origin HEAD:refs/for/main
git push --dry-run --force
git pull --rebase
git fetch --all --prune
git checkout -b feature/x
git checkout main
git checkout -- src/x.go
git checkout HEAD~1 -- src/x.go
git switch -c feature/x
git restore src/x.go
git restore --staged .
git reset
git reset HEAD src/x.go
git reset --soft HEAD~1
git reset --mixed HEAD~1
git stash
git stash pop
git stash list
git stash push -m "x"
git rebase main
git rebase -i HEAD~3
git rebase --continue
git rebase --abort
git merge --no-ff feature/x
git merge --abort
git cherry-pick abc123
git branch -a
git branch -d merged
git branch --show-current
git tag -a v1.0.0 -m "v1.0.0"
git tag -d v1
git clean -n
git clean -ndx
git clean --dry-run -fdx
git rm --cached file
git rm -r --cached build
git rm -rf old
git mv a b
git blame -L 10,20 x.go
git grep -n "rm -rf"
git bisect start
git bisect run go test ./...
git submodule update --init --recursive
git submodule foreach git pull
git worktree add ../x
git worktree remove ../x
git config user.name "A B"
git config --global init.defaultBranch main
git config --get remote.origin.url
git config alias.st status
git -c user.name=x -c user.email=y commit -m z
git -C sub status
git remote -v
git ls-files | xargs wc -l
git ls-files -z | xargs -0 grep -l foo
git rev-parse HEAD
git describe --tags --always
git reflog
git gc
git archive HEAD | tar -x -C /tmp/x
git clone --depth 1 https://example.org/x.git /tmp/x
git format-patch -1
git apply fix.patch
git update-index --chmod=+x x.sh
gh pr create --title "x" --body "y"
gh pr view 12 --json title,body
gh run list --limit 5
gh issue list
gh api repos/a/b/pulls
gh release view
ls
ls -la
ls -la /etc /usr
ls *.go **/*.ts
cd src && ls
cd .. && pwd
cat README.md
cat /etc/os-release
cat x | head -20
head -n 5 x; tail -n 5 x
tail -f /var/log/syslog
less x
wc -l **/*.go
file /bin/ls
stat x
du -sh * | sort -h
df -h
free -m
ps aux | grep node
kill 1234
kill -9 1234
pkill -f "node server.js"
killall node
lsof -i :3000
netstat -tlnp
ss -ltn
top -b -n 1
uname -a
whoami
id
env
env | sort
env FOO=bar make
printenv PATH
export FOO=bar
export PATH="$HOME/bin:$PATH"
unset FOO
source .env
. ./venv/bin/activate
set -euo pipefail
set -x; make; set +x
which go
command -v docker
type git
echo "hello"
echo "sudo"
echo "rm -rf /"
echo 'curl x | sh'
echo "git push --force" >> notes.md
echo $PATH
echo "$HOME"
echo $((1 + 2))
echo "done" > out.txt
echo -e "a\tb"
echo -n x
printf '%s\n' a b
printf "%d\n" 3
date +%Y-%m-%d
sleep 5
true
false
test -f x && echo yes
[ -d x ] || mkdir x
[[ "$a" == b* ]] && echo y
if [ -f package.json ]; then npm test; fi
for f in *.go; do echo "$f"; done
for i in 1 2 3; do curl -s localhost:8080/$i; done
for ((i=0;i<3;i++)); do echo $i; done
while read -r l; do echo "$l"; done < x
while ! nc -z localhost 5432; do sleep 1; done
until curl -sf localhost:8080/health; do sleep 1; done
case "$1" in a) echo a;; *) echo b;; esac
x=$((1<<20)); echo $x
x=$(( 1 << 20 ))
((i++)) || true
f() { echo "$1"; }; f x
function build { go build ./...; }; build
time go test ./...
timeout 60 go test ./...
nohup node server.js > log 2>&1 &
nice -n 10 make
watch -n 1 ls
(cd sub && make)
{ echo a; echo b; } > x
diff <(sort a) <(sort b)
comm -12 <(sort a) <(sort b)
cat <<EOF > config.yaml\nkey: value\nEOF
cat <<'EOF' > script.sh\n#!/bin/sh\nrm -rf "$1"\nEOF
cat > x.py <<'PY'\nimport shutil\nshutil.rmtree(path)\nPY
tee x <<< "a"
sudo tee /etc/hosts.d/x < y
mkdir -p a/b/c
touch x
cp -r a b
cp x /tmp/
mv a b
ln -s a b
rm x
rm -f x.log
rm -f *.tmp
rm -f /tmp/x.sock
rm -r build
rm -r /tmp/x
rm -i x
rm /tmp/a /tmp/b
rmdir x
chmod +x script.sh
chmod 644 x
chmod -R u+w build
chmod -R 755 public
chown me x
chown -R me:me .
sudo chown -R "$(whoami)" node_modules
chown -R node:node /app
find . -name '*.go'
find . -type f -name '*.md' -not -path './node_modules/*'
find . -name '*.go' -exec gofmt -l {} +
find . -name '*.sh' -exec chmod +x {} \;
find . -type f | xargs grep -l main
find /usr -name 'lib*.so'
find . -newer x -print0 | xargs -0 ls -l
fd -e go
grep -rn "rm -rf" .
grep -rn 'git push --force' docs
grep -r "DROP TABLE" migrations
grep -E 'sudo|curl .* \| sh' -r .
rg 'shutdown' -g '*.go'
rg -n "kubectl delete" docs
ag foo
ack bar
sed -n '1,20p' x
sed -i 's/foo/bar/g' x
sed -i '' -e 's/rm -rf/trash/' x
sed 's/a/b/;s/c/d/' x
awk '{print $1}' x
awk -F: '{ print $1 }' /etc/passwd
awk 'BEGIN { print "rm -rf /" }'
awk '/x/ {s += $2} END {print s}' f
perl -pi -e 's/a/b/' x
perl -ne 'print if /x/' y
ruby -e 'puts 1'
jq -r '.[] | .name' x.json
yq '.a' x.yaml
xargs -n 1 echo < x
sort x | uniq -c | sort -rn | head
cut -d, -f1 x.csv
tr -d '\r' < x > y
tr a-z A-Z < x
base64 x
base64 -d x > y
echo aGk= | base64 -d
openssl rand -hex 16
openssl x509 -in c.pem -noout -text
md5sum x
sha256sum -c SUMS
xxd x | head
hexdump -C x
tar czf x.tgz src
tar xzf x.tgz -C /tmp
unzip -o x.zip
zip -r x.zip dir
gzip -d x.gz
curl -s https://example.org/api | jq .
curl -fsSL https://example.org/x -o x.sh
curl -X POST -d '{"a":1}' localhost:8080
curl -X DELETE localhost:8080/items/1
curl -sI https://example.org | head -1
curl https://example.org/x.tar.gz | tar xz
curl -s x | python3 -m json.tool
curl -s x | python3 -c "import sys,json; print(json.load(sys.stdin)['a'])"
curl -s x | grep -o 'bash'
curl -s x | node -e 'process.stdin.pipe(process.stdout)'
wget https://example.org/x.zip
wget -qO- https://example.org | head
ssh host uptime
ssh -T git@github.com
ssh host 'cd app && git pull && make'
scp x host:/tmp/
rsync -av src/ host:/srv/
rsync -av --delete dist/ host:/srv/app/
docker ps -a
docker build -t x .
docker build --no-cache -f Dockerfile.dev -t x:dev .
docker run --rm -it -v "$PWD":/src -w /src golang:1.26 go test ./...
docker run --rm alpine echo hi
docker exec -it web bash
docker exec web ls /app
docker logs -f web
docker stop web && docker rm web
docker rm -f web
docker rmi x
docker images
docker pull alpine
docker compose up -d
docker compose down
docker compose logs --tail=50 api
docker compose exec db psql -U x -c 'select 1'
docker volume ls
docker inspect x
docker network prune -f
podman ps
kubectl get pods
kubectl get pods -n delete-me
kubectl apply -f x.yaml
kubectl describe pod x
kubectl logs -f x
kubectl exec -it x -- ls
kubectl exec x -- sh -c 'echo hi'
kubectl rollout restart deployment/x
kubectl delete pod x --dry-run=client
kubectl config use-context dev
helm upgrade --install x ./chart
helm list -A
helm template x
terraform init
terraform plan
terraform plan -destroy
terraform apply
terraform fmt -recursive
terraform state list
terraform destroy --help
pulumi preview
pulumi up
aws s3 ls
aws s3 cp x s3://y/
aws s3 sync dist s3://y
aws s3 rm s3://x/y
aws sts get-caller-identity
aws ec2 describe-instances
aws logs tail x
gcloud auth list
gcloud compute instances list
az account show
psql -c 'select 1'
psql -h localhost -U x -d y -f schema.sql
mysql -e 'show tables'
sqlite3 x.db '.tables'
redis-cli ping
redis-cli get x
mongosh --eval 'db.x.find()'
systemctl status nginx
sudo systemctl restart nginx
journalctl -u nginx -n 50
service nginx reload
sudo apt-get update && sudo apt-get install -y jq
apt list --installed
brew install jq
crontab -l
shutdown --help
man mkfs
man rm
vim x
vim +10 x
code .
tmux ls
tmux new -d -s x
screen -ls
ping -c 1 example.org
dig example.org
nslookup example.org
nc -zv localhost 5432
openssl s_client -connect example.org:443 </dev/null
dd if=/dev/zero of=x bs=1M count=1
dd if=/dev/urandom of=/tmp/x bs=1k count=1
dd if=x of=/dev/null
truncate -s 0 x.log
> x.log
: > x.log
ls > /dev/null 2>&1
ls &> out.txt
make 2>&1 | tee build.log
exec "$@"
"$CC" -o x x.c
$EDITOR x
"${PYTHON:-python3}" script.py
eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
source <(kubectl completion bash)
bash script.sh
sh -c 'echo hi'
bash -c "cd x && make"
bash -n script.sh
./script.sh --force
./deploy.sh delete
sudo ls
sudo -u postgres psql -c 'select 1'
su - postgres -c 'psql -l'
trap 'echo bye' EXIT
trap - EXIT
alias ll='ls -l'
history | tail
jobs
wait
read -r x
umask 022
ulimit -n 4096
export X=$(cat y)
A=1 B=2 ./x
x="rm -rf"; echo "$x"
echo '# rm -rf /'
# rm -rf /
ls # then rm -rf build
echo a\nls\n# comment \\necho b
echo "it's" 'say "hi"'
grep -c "'" x
python manage.py migrate
python manage.py shell -c "print(1)"
flutter build apk
xcodebuild -list
pod install
ansible-playbook site.yml --check
vagrant up
nix build
bazel test //...
buf generate
protoc --go_out=. x.proto
sqlc generate
hugo server
jekyll build
pandoc x.md -o x.pdf
ffmpeg -i a.mp4 b.gif
convert a.png b.jpg
shellcheck *.sh
shfmt -d .
hadolint Dockerfile
act -l
pre-commit run --all-files
husky install
lerna run build
nx test x
turbo run build
vite build
next build
jest --watchAll=false
playwright test
cypress run
k6 run x.js
hyperfine 'go build ./...'
entr -r make < files
xdg-open x
open .
pbcopy < x
cargo build --release 2>&1 | tail -20
cargo test --workspace --all-features -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --all --check
cargo add serde --features derive
cargo run --example x -- --delete y
rustup component add clippy
make -j$(nproc) && make test
make clean all
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j 8
ninja -C build clean
meson setup build --wipe
bazel build //... && bazel test //...
bazel clean --expunge
./gradlew clean build -x test
./gradlew :app:assembleDebug
mvn -q clean install -DskipTests
mvn test -Dtest=FooTest#bar
sbt clean compile
dotnet build -c Release && dotnet test --no-build
dotnet clean
dotnet ef migrations add X
dotnet ef database update
swift build && swift test
xcodebuild -scheme App -destination 'platform=iOS Simulator,name=iPhone 15' test
pod install --repo-update
flutter clean && flutter pub get
mix deps.get && mix test
mix ecto.migrate
bundle install && bundle exec rspec spec/models
bundle exec rake db:migrate
RAILS_ENV=test bin/rails db:migrate db:seed
bin/rails generate model User name:string
php artisan make:controller X
composer install --no-dev
vendor/bin/phpunit --filter testX
pytest -x -q tests/ -k 'not slow' --cov=src
python -m pytest tests/test_x.py::TestY -v
python -m venv .venv && source .venv/bin/activate && pip install -r requirements.txt
pip install -e '.[dev]'
pip uninstall -y foo
uv sync && uv run pytest
poetry install && poetry run black .
ruff check --fix . && ruff format .
mypy src --strict
black --check .
python manage.py migrate && python manage.py runserver 0.0.0.0:8000
python manage.py shell -c "from app.models import User; print(User.objects.count())"
python manage.py test app.tests
python3 -c "import json,sys; print(json.load(sys.stdin)['version'])" < package.json
python3 -c "import os; print(os.environ.get('HOME'))"
python3 -c "from pathlib import Path as P; print(P('/etc').exists())"
python3 -c "import shutil as s; s.copy('a','b')"
python3 -c "import os; os.makedirs('build', exist_ok=True)"
python3 -c "import os; os.remove('build/x.o')"
python3 -c "import base64; print(base64.b64decode('aGVsbG8gd29ybGQ='))"
python3 - <<'E'\nimport re\ns = open('x.py').read()\ns = re.sub(r'rm -rf /', 'x', s)\nopen('x.py','w').write(s)\nE
python3 - <<'E'\nimport socket\ns = socket.socket()\ns.bind(('', 0))\nprint(s.getsockname())\nE
python3 -c "import urllib.request as u; print(u.urlopen('http://localhost:8080/health').read())"
python3 -c "import requests; print(requests.get('http://localhost:3000').status_code)"
python3 -m http.server 8000 &
python3 -m json.tool x.json
node -e "console.log(require('./package.json').version)"
node -e "fetch('http://localhost:3000').then(r=>r.text()).then(console.log)"
node -e "require('fs').unlinkSync('x.txt')"
node -e "const {readFileSync:r}=require('fs'); console.log(r('/etc/hosts','utf8'))"
node -p 'process.versions'
npx vitest run --coverage
npx jest --clearCache
npx playwright test --headed
npx prisma generate && npx prisma migrate dev --name init
npx prisma db push
npx sequelize db:migrate
npx rimraf --help
npm run lint -- --fix
npm run deploy:preview
npm pack --dry-run
npm publish --dry-run
npm version patch --no-git-tag-version
npm ls --depth=0
npm outdated
npm audit fix
npm uninstall left-pad
npm cache clean --force
npm prune
yarn remove lodash
yarn workspaces run test
pnpm -r --filter ./packages/* build
pnpm remove x
pnpm store prune
bun install && bun test
deno test --allow-read
deno run -A main.ts
turbo run build --filter=web
nx affected --target=test
docker build -t x . && docker run --rm -p 80:80 x
docker compose up -d --build
docker compose logs -f web
docker compose exec web bash -c 'npm test'
docker compose run --rm web pytest
docker rmi x:latest
docker image ls
docker image prune -f
docker builder prune -f
docker logs --tail 100 web
docker exec -it db psql -U app -c 'SELECT 1'
docker inspect x | jq '.[0].State'
docker cp web:/app/x .
docker network create x
kubectl get pods -n x -o wide
kubectl apply -f k8s/
kubectl rollout restart deployment/web
kubectl logs -f pod/x
kubectl describe node
kubectl exec -it pod -- ls /data
kubectl port-forward svc/x 8080:80
kubectl scale deploy x --replicas=3
kubectl diff -f x.yaml
helm upgrade --install x ./chart -f values.yaml
helm lint
terraform init && terraform plan -out tf.plan
terraform apply tf.plan
terraform validate
terraform workspace list
pulumi up --yes
aws s3 ls s3://x
aws s3 sync dist s3://bucket
aws ec2 describe-instances --filters Name=tag:Name,Values=delete-me
aws logs tail /x --follow
aws lambda update-function-code --function-name x --zip-file fileb://x.zip
aws ssm get-parameter --name /x
aws ssm send-command --document-name AWS-RunShellScript --parameters 'commands=["ls -la /"]'
gcloud config list
gcloud run deploy x --image y
az webapp up -n x
gh pr create --fill
gh pr view 12 --json title
gh run watch
gh issue list --search "delete in:title"
gh api repos/a/b/pulls --jq '.[].number'
gh release create v1 dist/*
git status && git diff --stat
git add -A && git commit -m "Remove rm -rf / from script"
git commit -m "drop table x; truncate y; chmod u+s"
git log --oneline --graph --all | head -50
git log -S'DROP TABLE' -- migrations/
git checkout -b feature/delete-users
git checkout main -- src/x.go
git reset HEAD~1
git reset --soft HEAD~3
git stash && git pull --rebase && git stash pop
git push -u origin HEAD
git push origin feature/x
git rebase origin/main
git merge --no-ff x
git branch -vv
git clean -nfd
git worktree add ../x -b y
git worktree prune
git tag v1.0.0 && git push origin v1.0.0
git tag -d v1.0.0-rc1
git bisect start && git bisect bad
git grep -n 'rm -rf' -- '*.sh'
git config user.name me
git config --global alias.st status
git -c alias.z=status z
git rm --cached x
git rm old.go
git reflog | head
git ls-files | xargs grep -n TODO
git ls-files -z | xargs -0 wc -l
rm -f /tmp/x.log
rm x.txt y.txt
rm -f *.o
rm -f build/*.o core
rm -f ~/.cache/x/y
mkdir -p ~/.config/app && cp x ~/.config/app/config.toml
cat ~/.bashrc | grep PATH
grep -n alias ~/.zshrc
source ~/.bashrc
cp ~/.bashrc /tmp/bashrc.bak
cat /etc/passwd | cut -d: -f1
grep root /etc/passwd
ls -la ~/.ssh
cat ~/.ssh/id_ed25519.pub
ssh-keygen -t ed25519 -f testdata/id_test -N ''
cp authorized_keys testdata/authorized_keys
echo x > testdata/.bashrc
echo x >> dotfiles/.zshrc
echo x > docs/sudoers.md
chmod +x scripts/*.sh
chmod 755 bin/x
chmod 0644 x
chmod -R u+rwX build
chmod 1777 tmp
chmod 600 ~/.ssh/config
chown -R node:node node_modules
install -m 755 x /usr/local/bin/x
sudo apt-get remove -y x
systemctl status sshd
sudo cp nginx.conf /etc/nginx/nginx.conf
echo 'deb x' | sudo tee /etc/apt/sources.list.d/x.list
echo '127.0.0.1 x.local' | sudo tee -a /etc/hosts
brew uninstall x
find . -name '*.go' -not -path './vendor/*' | xargs grep -l TODO
find . -name '*.tmp' -mtime +7 -print
find . -type f -name '*.py' -exec sed -i 's/a/b/' {} +
find src -name '*.ts' | head
grep -rn "rm -rf" --include='*.sh' .
grep -rnE 'DROP (TABLE|DATABASE)' migrations/
rg -n 'chmod u\+s' .
rg 'authorized_keys' src
sed -i 's#/etc/passwd#/etc/shadow#' src/x.c
sed -n '1,50p' x.go
awk -F: '{print $1}' /etc/passwd
xargs -n1 -P4 go test < pkgs.txt
tar czf x.tgz src && tar tzf x.tgz
tar xzf x.tgz -C /tmp/x
zcat x.gz | head
gzip -dc dump.sql.gz | psql mydb
unzip -o x.zip -d vendor
curl -sS localhost:8080/health | jq .
curl -X DELETE localhost:8080/api/items/1
curl -fsSL https://x/y.tgz | tar xz
curl -o x.sh https://x && less x.sh
wget -q https://x/y -O /tmp/y
kill $(lsof -ti:3000)
pkill -f 'node server.js'
lsof -i :8080
psql -c '\dt' mydb
psql mydb -c 'SELECT count(*) FROM deletes'
psql -c "DELETE FROM sessions WHERE expires < now()"
psql -f schema.sql
psql -c "CREATE TABLE x (id int); COMMENT ON TABLE x IS 'truncate'"
psql -c "select date_trunc('day', t) from x"
mysql -e 'SHOW TABLES'
mysql -e "UPDATE x SET y=1 WHERE id=2"
sqlite3 test.db '.schema'
sqlite3 test.db "DELETE FROM x WHERE id = 1"
sqlite3 test.db "SELECT trunc(x) FROM t"
redis-cli get flushall-key
redis-cli DEL key
echo 'GET x' | redis-cli
mongosh --eval 'db.users.find()'
mongosh --eval 'db.users.deleteMany({old: true})'
pg_dump mydb > dump.sql
pg_restore -d mydb dump
createdb test_db
ssh host 'uptime'
ssh -L 5432:localhost:5432 host
scp build/x host:/srv/x
rsync -av --delete dist/ host:/var/www/app/
rsync -av src/ backup/
ansible-playbook -i hosts site.yml --check
ansible all -m ping
powershell -c Get-Process
powershell -Command "Get-ChildItem -Recurse *.cs"
pwsh -c 'Write-Host "rm -rf /"'
pwsh -NoProfile -File build.ps1
powershell Remove-Item build\x.obj
cmd /c dir
emacs --batch --eval '(message "rm -rf /")'
emacs --batch -l x.el -f ert-run-tests-batch-and-exit
julia --project -e 'using Pkg; Pkg.test()'
julia -e 'rm("x.txt")'
groovy -e 'println "x"'
perl -pi -e 's/foo/bar/g' x.txt
perl -ne 'print if /rm -rf/' x
ruby -e 'puts "rm -rf /"'
ruby -e 'require "fileutils"; FileUtils.mkdir_p "x"'
ruby -rjson -e 'puts JSON.parse(STDIN.read)["x"]' < x.json
Rscript -e 'devtools::test()'
Rscript -e 'unlink("x.csv")'
echo "rm -rf /" > notes.txt
echo "don't run rm -rf /"
printf 'DROP TABLE x;\n' > migrations/001.down.sql
cat > script.sh <<'E'\n#!/bin/sh\nrm -rf build\nE
cat > Dockerfile <<'E'\nFROM x\nRUN rm -rf /var/lib/apt/lists/*\nE
cat > x_test.go <<'E'\nfunc TestX(t *testing.T) { run("rm -rf /") }\nE
jq '.scripts.clean = "rm -rf dist"' package.json > x && mv x package.json
truncate -s 0 app.log
truncate -s 10M x.img
: > app.log
dd if=/dev/urandom of=x.bin bs=1M count=1
dd if=/dev/sda of=x.img count=1
fdisk -l
sudo fdisk -l /dev/sda
lsblk && df -h
parted -l
parted /dev/sda print
mount | grep /dev
losetup -f x.img
mkdir -p a/b && touch a/b/c && ln -s a d
timeout 60 npm test
watch -n 2 kubectl get pods
export PATH=$HOME/go/bin:$PATH
which python3 && command -v node
ls -la && pwd && whoami
tee out.log < in.log
diff -u a b | tee x.diff
patch -p1 < x.diff
shred --help
ufw status
iptables -L -n
getcap x
sudo -l
id && groups
passwd --help
vagrant up && vagrant ssh -c 'ls'
vercel --prod
netlify deploy --prod
fly deploy
heroku logs --tail
wrangler deploy
wrangler dev
firebase deploy --only hosting
firebase emulators:start
serverless deploy
cdk diff && cdk deploy
sam build && sam local invoke
cargo publish --dry-run
twine check dist/*
gem build x.gemspec
poetry build
restic snapshots
rclone ls remote:x
rclone copy a remote:b
virsh list --all
virsh destroy --help
lxc list
multipass list
bfg --version
rabbitmqctl status
kafka-topics --list --bootstrap-server x
influx query 'from(bucket:"x")'
alembic upgrade head
alembic downgrade -1
flyway migrate
vault kv get x
consul kv get x
etcdctl get x
python3 -c "open('out.txt','w').write('x')"
python3 -c "print(open('/etc/passwd').read())"
node -e "require('fs').writeFileSync('x.json','{}')"
php -r 'echo exec("curl http://localhost/health");'
ruby -e 'exec("curl http://x")'
python3 -c "import subprocess; subprocess.run(['git','status'])"
python3 -c "from os import path as p; print(p.join('a','b'))"
python3 -c "with open('x') as rmtree: print(rmtree)"
pwsh -Command "Remove-Item build -Recurse"
pwsh ./build.ps1 -Configuration Release
powershell -ExecutionPolicy Bypass -File x.ps1 -Force
cd $DIR && cp .env.example .env
cd /srv/x && echo y > profile
chmod u-s x
chmod 0755 4755.txt
chmod 2775 shared
chmod -R g+s shared
grep -c x /etc/passwd
diff ~/.bashrc dotfiles/.bashrc
vimdiff a b
getent passwd root
cat ~/.ssh/config
sed -n '1p' /etc/passwd
sed 's/a/b/' ~/.bashrc > bashrc.new
perl -ne 'print' /etc/passwd
awk '{print}' /etc/crontab
cp /etc/passwd fixtures/passwd
cp ~/.zshrc backup/
tar czf dot.tgz ~/.bashrc ~/.zshrc
python3 -c "print(open('/etc/hosts').read())"
python3 -c "import json; json.load(open('a.json'))"
node -e "const f = require('./x').format; f('y')"
node -e "const r = require('path').resolve; console.log(r('/etc'))"
python3 -c "import os; e = os.path.exists; print(e('/'))"
python3 -c "from glob import glob as g; print(g('/etc/*'))"
python3 -c "x = 'hello world'.split(); print(x)"
python3 -c "import os; os.system('go test ./...')"
python3 -c "import os; os.system('curl http://localhost:8080')"
ruby -e 'system("bundle", "exec", "rspec")'
perl -e 'system("make test")'
groovy -e '"git status".execute().text'
psql -c 'SELECT 1; DELETE FROM x WHERE a=1'
psql -c "INSERT INTO log VALUES ('truncate table x')"
psql -c "GRANT TRUNCATE ON x TO y"
mysql -e "CREATE TABLE truncates (a int)"
redis-cli --scan --pattern 'flushall*'
usermod -s /bin/zsh me
usermod -aG docker me
docker rm web db
docker rmi x:1
iptables -A INPUT -p tcp --dport 22 -j ACCEPT
iptables -t nat -L
systemctl stop myapp
systemctl disable myapp.timer
setcap cap_net_bind_service=+ep ./server
zcat logs.gz | grep error
gunzip -c x.sql.gz | mysql mydb
zcat x.gz | python3 parse.py
gzip -d x.gz && sh build.sh
nvme list
cryptsetup status x
mdadm --detail /dev/md0
aws s3 sync dist s3://x --delete
gh api repos/a/b/issues -f title=x
gh api graphql -f query='{viewer{login}}'
helm delete --help
k get pods
sam validate
vercel list
mix deps.clean --all
rails db:schema:load
rails console
rake -T
flyway info
wrangler kv key list
bundle exec rails test
python manage.py flushexpired
restic backup x
powershell -Command Get-Process -Name node
powershell Get-ChildItem
pwsh -File build.ps1 -Clean
powershell -c "Remove-Item .\build\out.txt"
emacs --batch -f batch-byte-compile x.el
R -e 'rm(list=ls())'
Rscript -e 'rm(x); unlink("tmp.csv")'
julia -e 'using Test; @test 1==1'
tmux new -d -s x 'npm start'
curl -sSf http://localhost/health | python3 -m json.tool
wget -qO- localhost:9200/_cat/indices
go run ./cmd/x -v
go run main.go -clean
`
