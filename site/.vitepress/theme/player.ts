// Asks the program of the playground, which runs in a worker, one question at a time.
import type { Answer } from './answer'
import { compile, load } from './load'
import ProgramWorker from './worker.js?worker&inline'

export interface Question { spec: string, hook: string, old: string }

// Seconds for an answer, and for one while a newer question waits.
const longest = 30
const patience = 10

// The files of the program. They are kept, so that it can be started again without a network.
let program: WebAssembly.Module | undefined
let packages: ArrayBuffer | undefined

const same = (a: Question | undefined, b: Question) => a?.spec === b.spec && a.hook === b.hook && a.old === b.old

// A Player shows the answer to the latest question. Until the packages have come, answers are without a check of types.
export class Player {
  private worker?: Worker
  private opened = false // the worker has the packages
  private latest?: Question
  pending = false // the latest question was not asked yet
  private asked = 0 // when the worker was asked what it has not replied to, in ms; 0 if it waits
  private dropped = false // nobody wants the reply
  private limit?: ReturnType<typeof setTimeout>
  private trouble = '' // with loading the packages
  private closing = new AbortController()

  // show is called with each answer, or null, and with a text about the state, or ''; say with a text alone.
  constructor(
    base: string, private show: (answer: Answer | null, status: string) => void, private say: (status: string) => void,
  ) {
    const refuse = (err: unknown) => this.show(null, `The playground does not run here: ${err}`)
    this.loadProgram(base + 'program.bin').catch(refuse)
    this.loadPackages(base + 'packages.bin').catch(refuse)
  }

  // ask asks a question as soon as the one before is answered.
  ask(question: Question) {
    if (same(this.latest, question)) {
      return
    }
    if (this.asked) {
      this.within(patience, 'Starting again…')
    }
    this.latest = { ...question }
    this.again()
  }

  // drop forgets the latest question.
  drop() {
    this.dropped = this.asked > 0
    this.latest = undefined
    this.pending = false
  }

  close() {
    this.show = this.say = () => {}
    this.closing.abort()
    this.end()
  }

  private async loadProgram(address: string) {
    program ??= await load(address, compile, this.closing.signal, (problem) => this.say(problem))
    this.next()
  }

  private async loadPackages(address: string) {
    packages ??= await load(address, (r) => r.arrayBuffer(), this.closing.signal, (problem) => {
      this.trouble = problem
      if (program) {
        this.say(problem)
      }
    })
    this.trouble = ''
    this.again()
  }

  private again() {
    this.pending = this.latest !== undefined
    this.next()
  }

  // next asks the latest question, if it can and must.
  private next() {
    if (this.asked || !this.pending || !program) {
      return
    }
    const message: object = { question: this.latest }
    if (!this.worker) {
      this.worker = new ProgramWorker()
      this.worker.onmessage = ({ data }) => this.receive(data)
      Object.assign(message, { program })
    } else if (!this.opened && packages) {
      this.opened = true
      Object.assign(message, { packages })
    }
    this.pending = false
    this.asked = performance.now()
    this.within(longest, `The playground has stopped a check after ${longest} seconds. Change the text to go on.`)
    this.worker.postMessage(message)
  }

  private receive({ answer, failure }: { answer: Answer, failure?: string }) {
    if (failure) {
      this.fail(`The playground cannot check this text: ${failure}. Change it to go on; it may be nested too deeply.`)
      return
    }
    clearTimeout(this.limit)
    this.asked = 0
    if (!this.dropped) {
      const unchecked = !this.opened && answer.specNotes.length === 0
      this.show(answer, unchecked ? this.trouble || 'The spec is accepted. Checking the hook…' : '')
    }
    this.dropped = false
    this.pending ||= !this.opened && packages !== undefined && this.latest !== undefined
    this.next()
  }

  // within stops the program some seconds after the question if it has not replied. It may check types for ever, such as
  // those of a struct with 2^40 fields.
  private within(seconds: number, status: string) {
    clearTimeout(this.limit)
    this.limit = setTimeout(() => this.fail(status), this.asked + 1000 * seconds - performance.now())
  }

  // fail ends the program, which cannot go on, and begins a new one for the next question.
  private fail(status: string) {
    this.end()
    this.show(null, status)
    this.next()
  }

  private end() {
    clearTimeout(this.limit)
    this.worker?.terminate()
    this.worker = undefined
    this.opened = this.dropped = false
    this.asked = 0
  }
}
