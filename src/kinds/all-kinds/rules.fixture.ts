/**
 * Finds the rules of built-in kinds for tests: by resource ('apps/deployments', '/pods'), or by
 * type name.
 */
import { behaviourOfRelease } from '#kinds/behaviour-of-release.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { kindRowOf, kindRows, rulesIn } from '#kinds/registry.ts'
import type { Conversions } from './conversion.ts'
import type { Defaulters } from './defaulter.ts'

function folderOf(resource: string): string {
  const [group, plural] = resource.split('/') as [string, string]
  const row = kindRowOf(group, plural)
  if (row === undefined) throw new Error(`no row for ${resource}`)
  return row.folder
}

export const behaviourOf = (resource: string, release: number): Behaviour =>
  behaviourOfRelease(rulesIn(folderOf(resource)), folderOf(resource), release)

export const conversionsOf = (resource: string): Conversions | undefined =>
  rulesIn(folderOf(resource)).conversions

/** Every defaulter of every kind, by the OpenAPI name of its type. */
export const allDefaults: Defaulters = Object.assign(
  {},
  ...kindRows.map(({ folder }) => rulesIn(folder).defaults),
)
