/**
 * Kinds for tests of discovery: every resource of a release, with only the properties that
 * discovery reads.
 */
import { readFileSync } from 'node:fs'
import type { Facts, ResourceFact } from '#kinds/facts.ts'
import { loadFacts } from '#kinds/facts.ts'
import type { Kind } from '#kinds/kind.ts'

export const facts: Facts = loadFacts((fileName) =>
  readFileSync(new URL(`../../facts/${fileName}`, import.meta.url), 'utf8'),
)

const apiVersionOf = (group: string, version: string) =>
  group === '' ? version : `${group}/${version}`

function kindOfFact(fact: ResourceFact, release: number, gates = false): Kind {
  const { storage, subresources } = fact
  const served = subresources.filter(({ gate }) => gate === undefined || gates)
  return {
    ...fact,
    apiVersion: apiVersionOf(fact.group, fact.version),
    verbs: new Set(fact.verbs),
    subresources: new Map(
      served.map(({ name, group, version, kind, verbs }) => [
        name,
        { name, kind, apiVersion: apiVersionOf(group, version), verbs: new Set(verbs) },
      ]),
    ),
    origin: 'built-in',
    formats: new Set(['json', 'yaml', 'protobuf']),
    decoding: 'typed',
    resource: {
      stored: { group: storage?.group, version: storage?.version, kind: fact.kind },
      behaviour: {},
    },
    get type() {
      const name = facts.openApiNameOf(fact.group, fact.version, fact.kind)
      return facts.typeOf(name ?? '', release)
    },
  } as unknown as Kind
}

export function kindsOfRelease(release: number, all = false): Kind[] {
  return facts
    .resourcesOf(release)
    .filter((fact) => all || !fact.off)
    .map((fact) => kindOfFact(fact, release, all))
}
