// Builds the program of the playground: the generator and the type checker as WebAssembly, the packages that a hook may
// import, and the script of Go that runs the program in a browser. All go to public/playground.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const out = path.join(root, 'site', 'public', 'playground')
mkdirSync(out, { recursive: true })

const go = (args, env) => execFileSync('go', args, {
  cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8',
})

go(['build', '-trimpath', '-ldflags=-s -w', '-o', path.join(out, 'playground.wasm'), './site/playground/wasm'],
  { GOOS: 'js', GOARCH: 'wasm' })
go(['run', './site/playground/pack', path.join(out, 'packages.zip')])
copyFileSync(path.join(go(['env', 'GOROOT']).trim(), 'lib', 'wasm', 'wasm_exec.js'), path.join(out, 'wasm_exec.js'))
