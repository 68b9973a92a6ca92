// Loads the files that the playground needs once.

// load loads a file, and tries again as long as the network or the server is why it does not come. say is told why.
export async function load<T>(
  address: string, read: (response: Response) => Promise<T>, signal: AbortSignal, say: (problem: string) => void,
): Promise<T> {
  for (let wait = 1; ; wait = Math.min(2 * wait, 30)) {
    try {
      const response = await fetch(address, { signal })
      if (!response.ok) {
        throw new TypeError(`the server answers ${response.status}`) // fetch throws this type without a network
      }
      return await read(response)
    } catch (err) {
      if (!(err instanceof TypeError)) {
        throw err
      }
      const name = address.slice(address.lastIndexOf('/') + 1)
      say(`The playground cannot load ${name}: ${err.message}. It tries again in ${wait} s.`)
      await new Promise((resolve) => setTimeout(resolve, 1000 * wait))
    }
  }
}

// compile compiles a program while it loads. The program is compressed here, because many servers do not do it.
export function compile(response: Response) {
  const program = response.body!.pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compileStreaming(new Response(program, { headers: { 'Content-Type': 'application/wasm' } }))
}
