// Runs the program of the playground beside the page, so that typing never waits for an answer. The page sends the
// compiled program with the first question, and the packages with a later one: answers before are without a check of
// types. Each message has one reply.
import './wasm_exec.js'

let begun

// begin runs the program. It ends only if a text is too much for it.
async function begin(program) {
  const go = new self.Go()
  const ready = new Promise((resolve) => { self.hookgenReady = resolve })
  go.run(await WebAssembly.instantiate(program, go.importObject))
  await ready
}

function open(packages) {
  const problem = self.hookgenExports(new Uint8Array(packages))
  if (problem) {
    throw new Error(`the packages cannot be read: ${problem}`)
  }
}

self.onmessage = async ({ data: { program, packages, question } }) => {
  try {
    begun ??= begin(program)
    await begun
    if (packages) {
      open(packages)
    }
    self.postMessage({ answer: JSON.parse(self.hookgenAnswer(JSON.stringify(question))) })
  } catch (err) {
    self.postMessage({ failure: String(err) })
  }
}
