/** ServiceAccount: references to secrets keep only the name. */
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

function keepOnlyNames(account: KubeObject): void {
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }: Loose) => (name ? { name } : {}))
}

const mountableKey = 'kubernetes.io/enforce-mountable-secrets'
const warnsOfMountable = change('a client is warned of the annotation enforce-mountable-secrets', {
  since: 32,
})

const hasMountable = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, mountableKey)

function warnings(account: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(warnsOfMountable) || !hasMountable(account)) return []
  const advice = 'prefer separate namespaces to isolate access to mounted secrets'
  return [`metadata.annotations[${mountableKey}]: deprecated in v1.32+; ${advice}`]
}

export const serviceAccountBehaviour: Behaviour = {
  prepareForCreate: keepOnlyNames,
  prepareForUpdate: keepOnlyNames,
  warningsOnCreate: warnings,
  warningsOnUpdate: (next, old, context) => (hasMountable(old) ? [] : warnings(next, context)),
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...checkMetadata(next, true, nameIsDnsSubdomain),
  ],
}
