// Links of pages point into the repository. On the site, a link to another page leads to that page, and a link to
// anything else to the file in the repository.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = 'https://github.com/hookgen/hookgen'
export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..')

// pages are the files of the repository that the site shows, and their addresses.
const moved: [RegExp, string][] = [
  [/^site\/pages\/(.*)$/, '$1'],
  [/^docs\/(.*)$/, '$1'],
]

// address returns the file name under which the site has a page.
export function address(page: string): string {
  for (const [from, to] of moved) {
    if (from.test(page)) {
      page = page.replace(from, to)
      break
    }
  }
  return page.replace(/(^|\/)README\.md$/, '$1index.md')
}

// shown reports whether the site shows a file.
export function shown(file: string): boolean {
  return /^(docs|site\/pages)\/.*\.md$/.test(file)
}

// target returns where a link in a page leads: null if it stays as it is.
export function target(page: string, link: string): string | null {
  if (/^([a-z]+:|#|\/)/i.test(link)) {
    return null
  }
  const [name, anchor] = link.split('#', 2)
  let file = path.posix.normalize(path.posix.join(path.posix.dirname(page), decodeURI(name)))
  const onDisk = path.join(root, file)
  if (!fs.existsSync(onDisk)) {
    throw new Error(`${page}: the link ${link} leads nowhere`)
  }
  const folder = fs.statSync(onDisk).isDirectory()
  if (folder && shown(path.posix.join(file, 'README.md')) && fs.existsSync(path.join(onDisk, 'README.md'))) {
    file = path.posix.join(file, 'README.md')
  } else if (folder || !shown(file)) {
    return `${repository}/${folder ? 'tree' : 'blob'}/main/${file.replace(/\/$/, '')}${anchor ? '#' + anchor : ''}`
  }
  return '/' + address(file) + (anchor ? '#' + anchor : '')
}
