// Runs the program of the playground beside the page, so that typing never waits for an answer. The page sends the
// address of the program first, and then questions, each after the answer to the one before. The first answer comes
// twice: as a draft, in which nothing was type-checked, and again after the packages were opened.
let program, packages
let checks = false

// instantiate compiles a program while it loads, if the server gives it the right type, else afterwards.
async function instantiate(address, imports) {
  const response = await fetch(address)
  if (!response.ok) {
    throw new Error(`${address}: ${response.status}`)
  }
  if (response.headers.get('Content-Type') === 'application/wasm') {
    return WebAssembly.instantiateStreaming(response, imports)
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), imports)
}

async function start(base) {
  importScripts(base + 'wasm_exec.js')
  const go = new self.Go()
  const began = new Promise((resolve) => { self.hookgenReady = resolve })
  go.run((await instantiate(base + 'playground.wasm', go.importObject)).instance)
  await began
}

const answer = (question) => JSON.parse(self.hookgenAnswer(JSON.stringify(question)))

self.onmessage = async ({ data }) => {
  try {
    if (data.base) {
      packages = fetch(data.base + 'packages.zip').then((r) => r.arrayBuffer())
      packages.catch(() => {}) // the first question reports it
      program = start(data.base)
      await program
      return
    }
    await program
    if (!checks) {
      self.postMessage({ draft: answer(data.question) })
      const problem = self.hookgenExports(new Uint8Array(await packages))
      if (problem) {
        throw new Error(problem)
      }
      checks = true
    }
    self.postMessage({ answer: answer(data.question) })
  } catch (err) {
    self.postMessage({ failure: String(err) })
  }
}
