import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'
import { address, repository, root, target } from './links.mts'

// sidebar lists the pages of a folder of docs, with their titles, in the order in which its index names them.
function sidebar(folder: string) {
  const dir = path.join(root, 'docs', folder)
  const index = fs.readFileSync(path.join(dir, 'README.md'), 'utf8')
  const order = [...index.matchAll(/\]\(([\w-]+\.md)/g)].map((m) => m[1])
  const names = fs.readdirSync(dir).filter((name) => name.endsWith('.md') && name !== 'README.md')
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
  return names.map((name) => ({
    text: /^# (.*)$/m.exec(fs.readFileSync(path.join(dir, name), 'utf8'))?.[1].replaceAll('`', '') ?? name,
    link: `/${folder}/${name.replace(/\.md$/, '')}`,
  }))
}

const parts = [
  { folder: 'hooks', text: 'Hooks for any program' },
  { folder: 'agents', text: 'Agents' },
  { folder: 'evidence', text: 'Evidence' },
  { folder: 'adr', text: 'Decisions' },
]

export default defineConfig({
  title: 'hookgen',
  description: 'Hooks for Go programs, checked by the compiler',
  base: process.env.SITE_BASE ?? '/',
  srcDir: '..',
  srcExclude: ['*.md', '!(docs|site)/**/*.md', '.*/**/*.md', 'site/!(pages)/**/*.md', 'site/*.md'],
  outDir: './.vitepress/dist',
  cacheDir: './.vitepress/cache',
  rewrites: address,
  cleanUrls: false,
  // What the playground needs loads together with its page.
  transformHead: ({ pageData, siteData }) => pageData.relativePath !== 'playground.md' ? [] :
    ['program', 'packages'].map((name) => ['link', {
      rel: 'preload', as: 'fetch', crossorigin: '', href: `${siteData.base}playground/${name}.bin`,
    }]),
  themeConfig: {
    nav: [
      { text: 'Playground', link: '/playground' },
      { text: 'Gallery', link: '/gallery' },
      ...parts.slice(0, 3).map(({ folder, text }) => ({ text, link: `/${folder}/` })),
    ],
    sidebar: Object.fromEntries(parts.map(({ folder, text }) => [
      `/${folder}/`, [{ text, link: `/${folder}/`, items: sidebar(folder) }],
    ])),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path` },
  },
  // The pages are in other folders than the packages of the site.
  vite: {
    publicDir: path.join(root, 'site', 'public'),
    resolve: { alias: { vue: path.join(root, 'site', 'node_modules', 'vue') } },
  },
  markdown: {
    config(md) {
      // Pages are written for the repository: braces are text there, and no page has a template.
      md.core.ruler.push('repository', (state) => {
        const page = (state.env.relativePath as string) ?? ''
        const source = state.env.realPath ? path.relative(root, state.env.realPath).replaceAll('\\', '/') : page
        for (const token of state.tokens) {
          for (const child of token.children ?? []) {
            const href = child.type === 'link_open' ? child.attrGet('href') : null
            const to = href && target(source, href)
            if (to) {
              child.attrSet('href', to)
            }
          }
        }
      })
    },
  },
})
