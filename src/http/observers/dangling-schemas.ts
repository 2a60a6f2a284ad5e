/**
 * Updates the condition `Dangling` in the status of each FlowSchema: whether its priority level is
 * missing. It writes nothing else.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import type { Clock } from '#base/clock.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { timestamp } from '#verbs/server.ts'

/** The manager of the conditions. */
export const consumerManager = 'api-priority-and-fairness-config-consumer-v1'

const conditionIsApplied = change('the condition Dangling of a flow schema is applied', {
  since: 26,
})

/**
 * The maximum number of writes to one schema per minute, so that two servers that disagree do not
 * write for ever.
 */
const writesPerMinuteMax = 6
const minuteMs = 60_000

export interface DanglingSchemasParts {
  /** Acts under the name of `consumerManager`. */
  readonly client: ApiClient
  readonly schemas: ResourceRef
  readonly release: number
  readonly clock: Clock
  readonly monotonicMs: () => number
  readonly report: (message: string, error: unknown) => void
}

export class DanglingSchemas {
  readonly #parts: DanglingSchemasParts
  readonly #wroteAt = new Map<string, number[]>()
  /** Schemas that are being written; changes from the watch are outdated until then. */
  readonly #writing = new Set<string>()

  constructor(parts: DanglingSchemasParts) {
    this.#parts = parts
  }

  /**
   * Starts to write the condition if it differs and the limit allows it. Resolves with the written
   * schema, if the write succeeded.
   */
  settle(
    schema: KubeObject,
    levels: ReadonlyMap<string, unknown>,
  ): Promise<KubeObject | undefined> | undefined {
    const name = schema.metadata.name ?? ''
    const condition = dueCondition(schema, levels, this.#parts.clock)
    if (condition === undefined || this.#writing.has(name) || !this.#mayWrite(name))
      return undefined
    this.#writing.add(name)
    return this.#write(schema, condition).finally(() => this.#writing.delete(name))
  }

  forget(name: string): void {
    this.#wroteAt.delete(name)
  }

  #mayWrite(name: string): boolean {
    const now = this.#parts.monotonicMs()
    const recent = (this.#wroteAt.get(name) ?? []).filter((at) => now - at < minuteMs)
    if (recent.length >= writesPerMinuteMax) return false
    this.#wroteAt.set(name, [...recent, now])
    return true
  }

  #send(schema: KubeObject, condition: Loose): Promise<KubeObject> {
    const name = schema.metadata.name ?? ''
    const { client, schemas, release } = this.#parts
    if (releaseOf(release).has(conditionIsApplied)) {
      const applied = { metadata: { name }, status: { conditions: [condition] } }
      return client.apply(schemas, applied, consumerManager, 'status')
    }
    const others = (schema.status?.conditions ?? []).filter(
      ({ type }: Loose) => type !== condition.type,
    )
    const status = { conditions: [...others, condition] }
    return client.patch(schemas, '', name, { status }, 'status')
  }

  async #write(schema: KubeObject, condition: Loose): Promise<KubeObject | undefined> {
    const name = schema.metadata.name ?? ''
    try {
      return await this.#send(schema, condition)
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return undefined
      this.#parts.report(`the condition of the flow schema ${name} cannot be written`, error)
      return undefined
    }
  }
}

/** The condition that a schema should have; undefined if it has it already. */
function dueCondition(
  schema: KubeObject,
  levels: ReadonlyMap<string, unknown>,
  clock: Clock,
): Loose | undefined {
  const level = schema.spec?.priorityLevelConfiguration?.name ?? ''
  const found = levels.has(level)
  const status = found ? 'False' : 'True'
  const reason = found ? 'Found' : 'NotFound'
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  const message = found ? `${named} and it exists` : `${named} but there is no such object`
  const now = (schema.status?.conditions ?? []).find(({ type }: Loose) => type === 'Dangling')
  if (now?.status === status && now.reason === reason && now.message === message) return undefined
  const lastTransitionTime = timestamp(clock)
  return { type: 'Dangling', status, lastTransitionTime, reason, message }
}
