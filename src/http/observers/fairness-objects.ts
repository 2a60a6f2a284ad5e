/**
 * The default FlowSchemas and PriorityLevelConfigurations. Mandatory ones are restored if they
 * differ. Suggested ones follow the release unless an annotation preserves the user's version.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { type FlowObject, flowSchemas, priorityLevels } from '#observe/fairness/bootstrap.ts'

/** The manager of their fields. */
export const producerManager = 'api-priority-and-fairness-config-producer-v1'
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec'
const specsAreAnnotated = change(
  'flow schemas and priority levels say whether the server updates their spec',
  { since: 22 },
)

export interface FairnessObjects {
  readonly release: number
  readonly levels: ResourceRef
  readonly schemas: ResourceRef
}

export async function ensureFairnessObjects(
  client: ApiClient,
  wanted: FairnessObjects,
): Promise<void> {
  const { release, levels, schemas } = wanted
  const all: [ResourceRef, readonly FlowObject[]][] = [
    [schemas, flowSchemas(release)],
    [levels, priorityLevels(release)],
  ]
  for (const [ref, objects] of all) {
    const there = new Map(
      (await client.list(ref, '')).items.map((object) => [object.metadata.name ?? '', object]),
    )
    await Promise.all(
      objects.map((object) => ensureOne(client, ref, release, object, there.get(object.name))),
    )
    if (!releaseOf(release).has(specsAreAnnotated)) continue
    const known = new Set(objects.map(({ name }) => name))
    const stale = [...there.values()].filter(
      ({ metadata }) => !known.has(metadata.name ?? '') && keptByServer(metadata),
    )
    await Promise.all(
      stale.map(({ metadata }) => client.delete(ref, '', metadata.name ?? '').catch(ignore(404))),
    )
  }
}

const keptByServer = ({ annotations }: KubeObject['metadata']) =>
  annotations?.[autoUpdate] === 'true'

const ignore =
  (...codes: number[]) =>
  (error: unknown) => {
    if (!(error instanceof ApiError && codes.includes(error.code))) throw error
  }

async function ensureOne(
  client: ApiClient,
  ref: ResourceRef,
  release: number,
  { name, spec, mandatory }: FlowObject,
  there: KubeObject | undefined,
): Promise<void> {
  const annotations = releaseOf(release).has(specsAreAnnotated)
    ? { [autoUpdate]: 'true' }
    : undefined
  const metadata = { name, ...(annotations && { annotations }) }
  if (there === undefined) {
    await client
      .create(ref, '', { metadata, spec: structuredClone(spec) } as KubeObject)
      .catch(ignore(409))
    return
  }
  if (!releaseOf(release).has(specsAreAnnotated)) return
  const stated = there.metadata.annotations?.[autoUpdate]
  const ours =
    mandatory || stated === 'true' || (stated === undefined && there.metadata.generation === 1)
  const wantedAnnotation = ours ? 'true' : 'false'
  const specDiffers = ours && !covers(there.spec, spec)
  if (stated === wantedAnnotation && !specDiffers) return
  const next = structuredClone(there)
  next.metadata.annotations = { ...next.metadata.annotations, [autoUpdate]: wantedAnnotation }
  if (specDiffers) next.spec = structuredClone(spec)
  await client.update(ref, next).catch(ignore(404, 409))
}

/** Whether `there` contains everything in `wanted`; defaults may have been added. */
function covers(there: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return there === wanted
  if (typeof there !== 'object' || there === null) return false
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(there) &&
      there.length === wanted.length &&
      wanted.every((one, at) => covers(there[at], one))
    )
  }
  return Object.entries(wanted).every(([key, value]) =>
    covers((there as Record<string, unknown>)[key], value),
  )
}
