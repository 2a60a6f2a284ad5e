/**
 * What the default roles of each release permit, for docs/releases.md. A row of the page has the
 * permissions of one role that another release lacks:
 *
 *   - `system:node`: create on tokenreviews.authentication.k8s.io
 */
import { bootstrapPolicy } from '#access/authorize/bootstrap-policy.ts'
import type { Loose } from '#api/object-meta.ts'

/** `edit` → `create configmaps`, one entry per verb and resource. */
export type Grants = ReadonlyMap<string, ReadonlySet<string>>

function placesOf({ apiGroups = [], resources = [], nonResourceURLs = [], resourceNames }: Loose) {
  const names = resourceNames === undefined ? '' : ` named ${resourceNames.join(', ')}`
  const inGroups = apiGroups.flatMap((group: string) =>
    resources.map((resource: string) => `${resource}${group === '' ? '' : `.${group}`}${names}`),
  )
  return [...inGroups, ...nonResourceURLs] as string[]
}

export function grantsIn(release: number): Grants {
  const found = new Map<string, Set<string>>()
  for (const { kind, metadata, rules } of bootstrapPolicy(release)) {
    if (!kind?.endsWith('Role')) continue
    const own = new Set<string>()
    for (const rule of rules ?? [])
      for (const verb of rule.verbs) for (const place of placesOf(rule)) own.add(`${verb} ${place}`)
    found.set([metadata.namespace, metadata.name].filter(Boolean).join('/'), own)
  }
  return found
}

/** `create, get on pods, services`: resources with the same verbs share a part. */
function shown(grants: readonly string[]): string {
  const verbsOf = new Map<string, string[]>()
  for (const grant of grants.toSorted()) {
    const [verb = '', place = ''] = grant.split(/ (.*)/)
    verbsOf.set(place, [...(verbsOf.get(place) ?? []), verb])
  }
  const byVerbs = Map.groupBy([...verbsOf], ([, verbs]) => verbs.join(', '))
  return [...byVerbs]
    .map(([verbs, places]) => `${verbs} on ${places.map(([place]) => place).join(', ')}`)
    .join('; ')
}

/** Rows for what roles of the first have and those of the second lack; equal ones share a row. */
export function missingGrants(from: Grants, other: Grants): string[] {
  const missing = [...from].flatMap(([role, grants]) => {
    const own = [...grants].filter((grant) => !other.get(role)?.has(grant))
    return own.length === 0 ? [] : [{ role, text: shown(own) }]
  })
  return [...Map.groupBy(missing, ({ text }) => text)].map(
    ([text, rows]) => `- ${rows.map(({ role }) => `\`${role}\``).join(', ')}: ${text}`,
  )
}
