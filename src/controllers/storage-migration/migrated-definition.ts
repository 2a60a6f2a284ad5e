/**
 * A custom resource definition shows in its status that its objects are migrated. After a success
 * its stored versions are only the one that is stored now, if the definition has not changed.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { customResourceDefinitions } from '#controllers/resources.ts'
import { conditionOf, timeText } from '#controllers/workloads/conditions.ts'

const manager = 'migration-runner-controller'
const type = 'StorageMigrating'

interface MigratedResource {
  readonly group?: string
  readonly resource: string
}

type Parts = Pick<ControllerParts, 'client' | 'clock'>

async function definitionOf(
  { client }: Parts,
  { group = '', resource }: MigratedResource,
): Promise<KubeObject | undefined> {
  // Definitions have a group.
  if (group === '') return undefined
  return unlessMissing(client.get(customResourceDefinitions, '', `${resource}.${group}`))
}

export async function beginDefinition(
  parts: Parts,
  resource: MigratedResource,
  migration: string,
): Promise<void> {
  const definition = await definitionOf(parts, resource)
  if (definition === undefined) return
  const message = `Migration ${migration} is running`
  await applyStatus(parts, definition, { status: 'True', reason: 'MigrationRunning', message })
}

export async function endDefinition(
  parts: Parts,
  resource: MigratedResource,
  isSuccess: boolean,
): Promise<void> {
  const definition = await definitionOf(parts, resource)
  if (definition === undefined) return
  const before = conditionOf(definition.status, type)
  const isCurrent = before !== undefined && generationIn(before) === definition.metadata.generation
  const success = isCurrent
    ? 'The migration has succeeded and the stored versions have been updated'
    : 'The migration has succeeded but the stored versions have not been updated due to a generation mismatch'
  const condition = isSuccess
    ? { status: 'False', reason: 'MigrationSucceeded', message: success }
    : { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' }
  const stored: Loose | undefined = definition.spec.versions.find(({ storage }: Loose) => storage)
  const storedVersions = isCurrent && stored !== undefined ? [stored.name] : undefined
  await applyStatus(parts, definition, condition, storedVersions)
}

const generationIn = ({ observedGeneration }: Loose): number | undefined => observedGeneration

/** The resourceVersion ensures that the generation in the condition is the right one. */
async function applyStatus(
  { client, clock }: Parts,
  { metadata }: KubeObject,
  condition: { status: string; reason: string; message: string },
  storedVersions?: readonly string[],
): Promise<void> {
  const { name, resourceVersion, generation } = metadata
  const lastTransitionTime = timeText(clock.now())
  const conditions = [{ type, ...condition, lastTransitionTime, observedGeneration: generation }]
  const applied = {
    metadata: { name, resourceVersion },
    status: { conditions, ...(storedVersions !== undefined && { storedVersions }) },
  } as unknown as KubeObject
  await client.apply(customResourceDefinitions, applied, manager, 'status')
}
