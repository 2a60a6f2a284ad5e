/**
 * Types of a release's kinds, and the values declared for named texts, from the tables of facts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readFactsFile } from '#server/facts-reader.ts'
import { loadFacts } from '#kinds/facts.ts'
import type { Struct } from '#schema/type.ts'
import type { DeclaredValues } from './random-value.ts'

const facts = loadFacts(readFactsFile)
/** The release whose types the walks and fuzzers use: that of the servers they compare. */
export const comparedRelease = Number((process.env.BINNACLE_RELEASE ?? '1.22').split('.')[1])

export function typeOf(apiVersion: string, kind: string, release = comparedRelease): Struct {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const name = facts.openApiNameOf(group as string, version as string, kind)
  if (name === undefined) throw new Error(`no ${kind} in ${apiVersion}`)
  return facts.typeOf(name, release)
}

/** Where releases differ, a name has a list of rows. */
interface NameRow {
  readonly values?: readonly string[]
}

/** Whether the release has a kind. */
export function hasKind(apiVersion: string, kind: string, release = comparedRelease): boolean {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const name = facts.openApiNameOf(group as string, version as string, kind)
  return name !== undefined && facts.isType(name, release)
}

export function declaredValues(): DeclaredValues {
  const folder = resolve(import.meta.dirname, '../facts')
  const all = new Map<string, string[]>()
  for (const file of readdirSync(folder).filter((one) => /^[a-z]+\.v.*\.json$/.test(one))) {
    const { names = {} } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      names?: Record<string, NameRow | NameRow[]>
    }
    for (const [name, rows] of Object.entries(names)) {
      const values = [rows].flat().flatMap((row) => row.values ?? [])
      if (values.length > 0) all.set(name, [...new Set([...(all.get(name) ?? []), ...values])])
    }
  }
  return all
}
