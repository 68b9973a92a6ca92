// Builds the program of the playground: the generator and the type checker as WebAssembly, compressed, and the packages
// that a hook may import. Both go to public/playground. The script of Go that runs the program becomes a part of the
// worker.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const out = path.join(root, 'site', 'public', 'playground')
const program = path.join(root, 'site', '.vitepress', 'cache', 'playground.wasm')
rmSync(out, { recursive: true, force: true })
for (const folder of [out, path.dirname(program)]) {
  mkdirSync(folder, { recursive: true })
}

const go = (args, env) => execFileSync('go', args, {
  cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8',
})

go(['build', '-trimpath', '-ldflags=-s -w', '-o', program, './site/playground/wasm'], { GOOS: 'js', GOARCH: 'wasm' })
// The name does not end in .gz, since some servers would say that the browser must decompress the file.
writeFileSync(path.join(out, 'program.bin'), gzipSync(readFileSync(program), { level: 9 }))
go(['run', './site/playground/pack', path.join(out, 'packages.bin')])
copyFileSync(path.join(go(['env', 'GOROOT']).trim(), 'lib', 'wasm', 'wasm_exec.js'),
  path.join(root, 'site', '.vitepress', 'theme', 'wasm_exec.js'))
