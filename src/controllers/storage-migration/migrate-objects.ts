/**
 * Writes every object of a resource again, unchanged, so that the store has it in the version that
 * is stored now. A patch without changes does that. An object that was written since the migration
 * began needs no patch.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ServedResource } from '#client/client.ts'
import { isConflict, isMissing } from '#controllers/queue-for.ts'

/** Objects per list request, as informers of client-go request them. */
const pageSize = 500

type MigrationOutcome =
  | { readonly is: 'complete'; readonly all: number }
  /** `error` may end by itself if `isTransient`. */
  | {
      readonly is: 'stopped'
      readonly left: number
      readonly all: number
      readonly error: ApiError
      readonly isTransient: boolean
    }

export async function migrateObjects(
  client: ApiClient,
  served: ServedResource,
  untilVersion: string,
): Promise<MigrationOutcome> {
  const all = await identities(client, served)
  const older = all.filter(({ resourceVersion }) => !isNewer(resourceVersion, untilVersion))
  let left = older.length
  const apiVersion = served.group === '' ? served.version : `${served.group}/${served.version}`
  for (const { namespace, name, resourceVersion } of older) {
    const patch = { apiVersion, kind: served.kind, metadata: { resourceVersion } }
    try {
      await client.patch(served, namespace, name, patch)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Another client has written or deleted the object meanwhile.
      if (!isConflict(error) && !isMissing(error)) {
        const isTransient = transientCodes.has(error.code)
        return { is: 'stopped', left, all: all.length, error, isTransient }
      }
    }
    left--
  }
  return { is: 'complete', all: all.length }
}

const transientCodes = new Set([429, 500, 503, 504])

interface Identity {
  readonly namespace: string
  readonly name: string
  readonly resourceVersion: string
}

async function identities(client: ApiClient, served: ServedResource): Promise<Identity[]> {
  const found: Identity[] = []
  for (let continueToken = ''; ; ) {
    const page = await client.list(served, '', { limit: pageSize, continueToken })
    found.push(...page.items.map(identityOf))
    if (page.continueToken === '') return found
    continueToken = page.continueToken
  }
}

const identityOf = ({ metadata }: KubeObject): Identity => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  resourceVersion: metadata.resourceVersion ?? '',
})

const isNewer = (one: string, other: string): boolean => BigInt(one) > BigInt(other)
