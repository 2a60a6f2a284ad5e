/** ServiceAccount: of a referenced secret only its name is kept. */
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'

function keepOnlyNames(account: KubeObject): void {
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }: Loose) => (name ? { name } : {}))
}

export const serviceAccountBehaviour: Behaviour = {
  prepareForCreate: keepOnlyNames,
  prepareForUpdate: keepOnlyNames,
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...checkMetadata(next, true, nameIsDnsSubdomain),
  ],
}
