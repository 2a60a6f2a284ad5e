/**
 * Which changes are tested on both sides of their boundaries. A test stands on a side when it names
 * that release: `21` or `1.21`. The tests of a change lie in the folder of its rule, one above or
 * one below. Or they import the rule, or a module that imports it.
 *
 *   change('pods have a generation', { since: 33 })    needs a test with 32 and one with 33
 *   change('a watch lists first', { until: 22 })       needs 22 and 23
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ReleaseChange } from '#api/releases/change.ts'
import { allChanges, changesByModule } from './declared-changes.ts'

const root = resolve(import.meta.dirname, '..')
const isTest = (path: string) => /\.(test|suite|fixture)\.ts$/.test(path)

function sourcesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}

/** The files that import each file. */
function importers(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [path, text] of texts)
    for (const [, specifier = ''] of text.matchAll(/'([#.][\w./-]+)'/g)) {
      const stem = specifier.startsWith('#')
        ? `src/${specifier.slice(1)}`
        : join(dirname(path), specifier)
      const target = stem.endsWith('.ts') ? stem : `${stem}.ts`
      if (texts.has(target)) found.set(target, [...(found.get(target) ?? []), path])
    }
  return found
}

/** `endpointslice` for a rule in src/kinds/discovery/endpoint-slice. */
const kindOf = (path: string): string | undefined =>
  /^src\/kinds\/[\w-]+\/([\w-]+)\//.exec(path)?.[1]?.replaceAll('-', '')

/** The last release before each boundary of a change, and the first after it. */
const sidesOf = ({ spans }: ReleaseChange): readonly (readonly [number, number])[] =>
  spans.flatMap(({ since, until }) => [
    ...(since === undefined ? [] : [[since - 1, since] as const]),
    ...(until === undefined ? [] : [[until, until + 1] as const]),
  ])

const names = (text: string, release: number): boolean =>
  new RegExp(`(?<![\\w.])(1\\.)?${release}(?![\\w.])`).test(text)

/** Titles of changes without such tests, in order. */
export async function untestedChanges(): Promise<readonly string[]> {
  const paths = [...sourcesUnder('src'), ...sourcesUnder('test')]
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  const users = importers(texts)
  const lowered = new Map(
    paths.filter(isTest).map((path) => [path, texts.get(path)?.toLowerCase()]),
  )
  const byModule = await changesByModule()
  const found = new Set([...byModule.values()].flat())
  // A title that is put together cannot be found in the text of its module.
  const untested = (await allChanges()).filter((one) => !found.has(one)).map(({ title }) => title)
  for (const [path, changes] of byModule) {
    const folder = dirname(path)
    const isNear = (place: string) =>
      place === folder || place === dirname(folder) || dirname(place) === folder
    const near = paths.filter((other) => isNear(dirname(other)))
    const direct = users.get(path) ?? []
    const kind = kindOf(path)
    const ofKind = kind ? [...lowered].filter(([, text]) => text?.includes(kind)) : []
    const further = direct.flatMap((user) => users.get(user) ?? [])
    const around = [...near, ...direct, ...further, ...ofKind.map(([test]) => test)]
    const tests = [...new Set(around)].filter(isTest).map((test) => texts.get(test) as string)
    const stands = ([last, first]: readonly [number, number]) =>
      tests.some((text) => names(text, last)) && tests.some((text) => names(text, first))
    for (const change of changes) if (!sidesOf(change).every(stands)) untested.push(change.title)
  }
  return untested.toSorted()
}

const listed = join(root, 'test/untested-changes.txt')

/**
 * Titles that test/untested-changes.txt forgives. The list only becomes shorter: running this file
 * drops what is tested.
 */
export const forgivenChanges = (): readonly string[] =>
  existsSync(listed)
    ? readFileSync(listed, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []

if (import.meta.main) {
  const untested = new Set(await untestedChanges())
  const kept = forgivenChanges().filter((title) => untested.has(title))
  writeFileSync(listed, kept.map((title) => `${title}\n`).join(''))
}
