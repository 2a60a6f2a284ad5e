/**
 * The status of ValidatingAdmissionPolicies: warnings of type checking, once for each generation.
 */
import { releaseOf } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import type { ServedResource } from '#client/client.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { validatingPolicies } from '#controllers/resources.ts'
import { loadLater } from '#base/load-later.ts'
import type {
  KindName,
  ServedSchemas,
} from '#kinds/admissionregistration/type-checking/type-warnings.ts'

/** Expressions of CEL are needed only where a policy exists. */
const loadTypeWarnings = loadLater<
  typeof import('#kinds/admissionregistration/type-checking/type-warnings.ts')
>(import.meta.url, '#kinds/admissionregistration/type-checking/type-warnings')

const manager = 'validatingadmissionpolicy-status'
const name = `${manager}-controller` as const
/** Type names contain the nanoseconds of the current time, a number of nine digits. */
const nanosecondsMax = 1_000_000_000

export const policyTypeChecking: Controller = {
  name,
  account: name,
  start(parts) {
    const { client, informers } = parts
    const policies = informers.validatingPolicies()
    const queue = queueFor(name, parts, async (key) => {
      const policy = policies.get('', key)
      if (policy === undefined) return
      const { metadata, spec = {}, status = {} } = policy
      const generation = metadata.generation ?? 0
      if (generation <= (status.observedGeneration ?? 0)) return
      const { typeWarnings } = loadTypeWarnings()
      const warnings = typeWarnings(spec, await servedSchemas(parts), releaseOf(parts.release))
      const typeChecking: Loose = warnings.length > 0 ? { expressionWarnings: warnings } : {}
      const next = { observedGeneration: generation, typeChecking }
      const applied = { metadata: { name: key }, status: next }
      await unlessMissing(client.apply(validatingPolicies, applied, manager, 'status'))
    })
    policies.listen({
      changed: ({ metadata }) => queue.add(metadata.name as string),
      deleted() {},
    })
  },
}

async function servedSchemas({ client, clock, schemaOf }: ControllerParts): Promise<ServedSchemas> {
  const served = await client.resources()
  return {
    kindsFor: (group, version, resource) =>
      served.flatMap((one) => (one.plural === resource ? kindsIn(one, group, version) : [])),
    schemaOf: ({ group, version, kind }) =>
      schemaOf(group === '' ? version : `${group}/${version}`, kind),
    randomNumber: () => Math.floor((clock.now() * 1_000_000) % nanosecondsMax),
  }
}

/** Without a group, a version matches resources of all groups. */
function kindsIn(
  { kind, apiVersions }: ServedResource,
  group: string,
  version: string,
): KindName[] {
  return apiVersions.flatMap((apiVersion) => {
    const [named = '', servedGroup = ''] = apiVersion.split('/').reverse()
    const matches = named === version && (group === '' || group === servedGroup)
    return matches ? [{ group: servedGroup, version, kind }] : []
  })
}
