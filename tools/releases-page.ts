/** Writes docs/releases.md from the declared changes and the facts. A test compares the two. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ReleaseChange, Span } from '#api/releases/change.ts'
import { type Facts, loadFacts } from '#kinds/facts.ts'
import { featureGates, type GateTable } from '#kinds/feature-gates.ts'
import { allChanges } from './declared-changes.ts'
import { grantsIn, missingGrants } from './default-grants.ts'

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

/** Rows for the names that only the first list has; identifiers share one row. */
function lacking(from: readonly string[], other: readonly string[]): string[] {
  const names = [...new Set(from)].filter((name) => !other.includes(name))
  if (names.every((name) => /^\w+$/.test(name)) && names.length > 0)
    return [`- ${names.join(', ')}`]
  return names.map((name) => `- ${name}`)
}

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

const gateTable: GateTable = JSON.parse(readFileSync(join(root, 'facts/features.json'), 'utf8'))

function gateEnabled(release: number): (gate: string) => boolean {
  const gates = featureGates(gateTable, release, new Map())
  assert('enabled' in gates)
  return gates.enabled
}

/** Tables whose rows have the releases of their own, and the names that a release has of each. */
const tables: readonly { readonly title: string; of(release: number): readonly string[] }[] = [
  {
    title: 'Feature gates enabled by default',
    of: (release) => Object.keys(gateTable).filter(gateEnabled(release)),
  },
]

const titles = (changes: readonly ReleaseChange[], begins: (span: Span) => boolean): string[] =>
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
      ...part('API versions: added', missing(served, before)),
      ...part('API versions: removed', missing(before, served)),
      ...tables.flatMap(({ title, of }) => [
        ...part(`${title}: added`, lacking(of(release), of(release - 1))),
        ...part(`${title}: removed`, lacking(of(release - 1), of(release))),
      ]),
      ...part(
        'Default roles permit in addition',
        missingGrants(grantsIn(release), grantsIn(release - 1)),
      ),
      ...part(
        'Default roles no longer permit',
        missingGrants(grantsIn(release - 1), grantsIn(release)),
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
