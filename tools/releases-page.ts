/** Writes docs/releases.md from the declared changes and the facts. A test compares the two. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Change, Span } from '#api/releases/change.ts'
import { pluginNames } from '#admission/plugin-names.ts'
import { type Facts, loadFacts } from '#kinds/facts.ts'
import { allChanges } from './declared-changes.ts'

const root = resolve(import.meta.dirname, '..')
const opening = [
  '# What changes between releases',
  '',
  'What a client notices when `--emulated-version` is one release higher. The API versions are those that are served by',
  'default. Flags are listed in [flags.md](flags.md).',
  '',
  'This page is made from the code: `node tools/run.mjs file tools/releases-page.ts`.',
]

/** `autoscaling/v2: horizontalpodautoscalers` per group version that a release serves. */
function servedIn(facts: Facts, release: number): ReadonlyMap<string, ReadonlySet<string>> {
  const served = new Map<string, Set<string>>()
  const off = new Set(
    facts
      .groupVersionsOf(release)
      .filter((row) => row.off)
      .map(({ group, version }) => `${group}/${version}`),
  )
  for (const { group, version, plural } of facts.resourcesOf(release)) {
    const key = `${group}/${version}`
    if (off.has(key)) continue
    const name = group === '' ? version : key
    served.set(name, (served.get(name) ?? new Set()).add(plural))
  }
  return served
}

type Served = ReturnType<typeof servedIn>

const lacking = (from: readonly string[], other: readonly string[]): string[] =>
  [...new Set(from)].filter((name) => !other.includes(name)).map((name) => `- ${name}`)

/** What the first serves and the second does not. */
function missing(from: Served, other: Served): string[] {
  return [...from].flatMap(([name, plurals]) => {
    const own = [...plurals].filter((plural) => !other.get(name)?.has(plural))
    return own.length === 0 ? [] : [`- \`${name}\`: ${own.join(', ')}`]
  })
}

function part(title: string, rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : ['', `**${title}**`, '', ...rows]
}

const titles = (changes: readonly Change[], begins: (span: Span) => boolean): string[] =>
  changes.filter(({ spans }) => spans.some(begins)).map(({ title }) => `- ${title}`)

export async function releasesPage(): Promise<string> {
  const facts = loadFacts((name) => readFileSync(join(root, 'facts', name), 'utf8'))
  const changes = await allChanges()
  const [oldest = 0, ...later] = facts.releases
  const lines = [...opening]
  let before = servedIn(facts, oldest)
  for (const release of later) {
    const served = servedIn(facts, release)
    const found = [
      ...part('API versions that are new', missing(served, before)),
      ...part('API versions that are gone', missing(before, served)),
      ...part(
        'Admission plugins that are new',
        lacking(pluginNames(release), pluginNames(release - 1)),
      ),
      ...part(
        'Admission plugins that are gone',
        lacking(pluginNames(release - 1), pluginNames(release)),
      ),
      ...part(
        'From this release on',
        titles(changes, ({ since }) => since === release),
      ),
      ...part(
        'No longer so',
        titles(changes, ({ until }) => until === release - 1),
      ),
    ]
    lines.push('', `## 1.${release}`, ...(found.length > 0 ? found : ['', 'Nothing.']))
    before = served
  }
  return `${lines.join('\n')}\n`
}

if (import.meta.main) {
  writeFileSync(join(root, 'docs/releases.md'), await releasesPage())
}
