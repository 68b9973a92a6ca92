// The programs of the gallery. Each is a text archive: a title, a paragraph, and the files of the program.
const texts = import.meta.glob('../../gallery/*.txtar', { query: '?raw', import: 'default', eager: true }) as
  Record<string, string>

export interface Program {
  name: string
  title: string
  about: string
  spec: string
  hook: string
}

const order = ['mail', 'gateway', 'deployment', 'editor', 'agent']

function parse(name: string, text: string): Program {
  const [comment, ...files] = text.split(/^-- (.+) --\n/m)
  const [title, ...about] = comment.trim().split('\n\n')
  const file = (wanted: string) => files[files.indexOf(wanted) + 1]
  return { name, title, about: about.join('\n\n').replaceAll('\n', ' '), spec: file('spec.go'), hook: file('hook.go') }
}

export const programs = Object.entries(texts)
  .map(([file, text]) => parse(/([\w-]+)\.txtar$/.exec(file)![1], text))
  .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
