// Runs the program of the playground beside the page, so that typing never waits for an answer. The page sends the
// address of the program first, and then questions; each answer has the number of its question.
let ready

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
  const [program, packages] = await Promise.all([
    instantiate(base + 'playground.wasm', go.importObject),
    fetch(base + 'packages.zip').then((r) => r.arrayBuffer()),
  ])
  go.run(program.instance)
  await began
  const problem = self.hookgenExports(new Uint8Array(packages))
  if (problem) {
    throw new Error(problem)
  }
}

self.onmessage = async ({ data }) => {
  try {
    if (data.base) {
      ready = start(data.base)
      await ready
      self.postMessage({ ready: true })
      return
    }
    await ready
    self.postMessage({ id: data.id, answer: JSON.parse(self.hookgenAnswer(JSON.stringify(data.question))) })
  } catch (err) {
    self.postMessage({ id: data.id, failure: String(err) })
  }
}
