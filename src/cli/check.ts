/**
 * `binnacle check -f DIR`: reads manifests and reports what the emulated release would drop or not
 * serve, before anything is applied. It needs no server. It exits with code 1 if it reports a
 * problem.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, Loose } from '#api/object-meta.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import { parseYaml } from '#codec/yaml.ts'
import { supportedLater } from '#kinds/dropped-fields.ts'
import { type Facts, loadFacts } from '#kinds/facts.ts'
import { conform } from '#schema/conform.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { readFactsFile } from '#server/facts-reader.ts'
import { releases } from '#settings/flag-table.ts'
import { releaseNumber } from '#settings/flags.ts'
import type { GivenCommand } from './command.ts'

export function check({ options, flags: { settings } }: GivenCommand): void {
  const release = releaseNumber(settings.emulatedVersion)
  const facts = loadFacts(readFactsFile)
  const files = (options.get('filename') ?? []).flatMap(manifestFiles)
  let objects = 0
  let reports = 0
  for (const file of files)
    for (const [at, text] of documentsOf(readFileSync(file, 'utf8')).entries()) {
      const where = at === 0 ? file : `${file} (document ${at + 1})`
      const found = objectsIn(text)
      const isParsed = typeof found !== 'string'
      if (isParsed) objects += found.length
      const lines = isParsed ? found.flatMap((object) => reportOn(facts, release, object)) : [found]
      reports += lines.length
      for (const line of lines) process.stdout.write(`${where}: ${line}\n`)
    }
  const verdict = reports === 0 ? 'nothing is dropped' : `${reports} reports`
  process.stdout.write(`checked ${objects} objects against release 1.${release}: ${verdict}\n`)
  if (reports > 0) process.exitCode = 1
}

function manifestFiles(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new CannotStart(`there is no file ${path}`)
  if (!stats.isDirectory()) return [path]
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .sort()
}

/** Splits YAML at lines that begin with three dashes. */
const documentsOf = (text: string): string[] => text.split(/^---(?:[ \t].*)?$/m).filter(hasContent)

const hasContent = (text: string) => text.split('\n').some((line) => !/^\s*(#.*)?$/.test(line))

/** The objects of a document, or why it cannot be parsed. */
function objectsIn(text: string): Loose[] | string {
  try {
    const object = (parseYaml(text) ?? {}) as Loose
    return object.kind === 'List' ? ((object.items ?? []) as Loose[]) : [object]
  } catch (error) {
    return `cannot be parsed: ${(error as Error).message}`
  }
}

function reportOn(facts: Facts, release: number, object: Loose): string[] {
  const { apiVersion, kind, metadata } = object
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return ['a document without apiVersion or kind']
  const [group, version] = [groupOf(apiVersion), versionOf(apiVersion)]
  const known = releases.map(releaseNumber)
  const servedIn = known.filter((minor) => serves(facts, minor, { group, version, kind }))
  const name = `${apiVersion} ${kind} ${metadata?.name ?? ''}`.trimEnd()
  // For a custom kind, its definition decides.
  if (servedIn.length === 0) return []
  if (!servedIn.includes(release)) return [`${name}: ${served(servedIn, release)}`]
  const openApiName = facts.openApiNameOf(group, version, kind)!
  const place = { version, kind, as: kind }
  const later = known.filter((minor) => minor > release)
  let unknown: readonly string[]
  try {
    unknown = conform(facts.typeOf(openApiName, release), object as Json, place).unknown
  } catch (error) {
    return [`${name}: ${(error as Error).message}`]
  }
  return unknown.map((path) => {
    const found = supportedLater(facts, { group, version, kind }, path, later)
    return found === undefined
      ? `${name}: no release has the field ${path}; it is dropped`
      : `${name}: the field ${path} is dropped; it is supported since 1.${found.since}`
  })
}

function serves(
  facts: Facts,
  minor: number,
  { group, version, kind }: { group: string; version: string; kind: string },
): boolean {
  return facts
    .resourcesOf(minor)
    .some((fact) => fact.group === group && fact.version === version && fact.kind === kind)
}

function served(servedIn: readonly number[], release: number): string {
  const [first, last] = [servedIn[0]!, servedIn.at(-1)!]
  return release < first
    ? `served since 1.${first}, not in 1.${release}`
    : `served until 1.${last}, not in 1.${release}`
}
