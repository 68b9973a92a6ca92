// Runs the program of the playground beside the page, so that typing never waits for an answer. The page sends the
// address of the program first, and then questions, each after the answer to the one before. The first answer comes
// twice: as a draft, in which nothing was type-checked, and again after the packages were opened.
let base, module, packages, program
let checks = false

// compile compiles a program while it loads, if the server gives it the right type, else afterwards.
async function compile(address) {
  const response = await fetch(address)
  if (!response.ok) {
    throw new Error(`${address}: ${response.status}`)
  }
  if (response.headers.get('Content-Type') === 'application/wasm') {
    return WebAssembly.compileStreaming(response)
  }
  return WebAssembly.compile(await response.arrayBuffer())
}

// start runs the program, and again after it has failed.
async function start() {
  checks = false
  if (!self.Go) {
    importScripts(base + 'wasm_exec.js')
  }
  const go = new self.Go()
  const began = new Promise((resolve) => { self.hookgenReady = resolve })
  module ??= await compile(base + 'playground.wasm')
  go.run(await WebAssembly.instantiate(module, go.importObject))
  await began
}

const ask = (question) => JSON.parse(self.hookgenAnswer(JSON.stringify(question)))

async function answer(question) {
  if (!checks) {
    self.postMessage({ draft: ask(question) })
    const problem = self.hookgenExports(new Uint8Array(await packages))
    if (problem) {
      throw new Error(problem)
    }
    checks = true
  }
  self.postMessage({ answer: ask(question) })
}

self.onmessage = async ({ data }) => {
  try {
    if (data.base) {
      base = data.base
      packages = fetch(base + 'packages.zip').then((r) => r.arrayBuffer())
      packages.catch(() => {}) // the first question reports it
      program = start()
    }
    await program
  } catch (err) {
    self.postMessage({ failure: `The playground does not run here: ${err}. Reload the page to try again.` })
    return
  }
  if (data.question) {
    await answer(data.question).catch((err) => {
      self.postMessage({
        failure: `The playground cannot check this text: ${err}. Change it to go on; it may be nested too deeply.`,
      })
      program = start() // it has not ended as it should, so that it cannot go on
      program.catch(() => {}) // the next question reports it
    })
  }
}
