/**
 * Keeps fairness configured by what is in the API, and tells every flow schema whether the priority level it names is
 * there. It writes nothing else.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { Clock } from '#base/clock.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { FlowControl } from '#observe/fairness/flow-control.ts'
import { timestamp } from '#verbs/server.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'
/** Who owns the conditions. */
export const consumerManager = 'api-priority-and-fairness-config-consumer-v1'
/** Writes to one schema in a minute: two servers that disagree must not fight for ever. */
const writesPerMinuteMax = 6
const minuteMs = 60_000

export interface FairnessConfigParts {
  readonly flows: FlowControl
  readonly reader: ObjectReader
  /** Acts under the name of `consumerManager`. */
  readonly client: ApiClient
  readonly schemas: ResourceRef
  readonly clock: Clock
  readonly monotonicMs: () => number
  readonly report: (message: string, error: unknown) => void
}

/** Resolves once every object there is counts. The result ends following. */
export async function followFairness(parts: FairnessConfigParts): Promise<() => void> {
  const levels = new Map<string, KubeObject>()
  const schemas = new Map<string, KubeObject>()
  const wrote = new Map<string, number[]>()
  /** Schemas being written: what is seen of them meanwhile is old. */
  const writing = new Set<string>()
  let planned = false
  let ready = false
  const plan = () => {
    if (planned || !ready) return
    planned = true
    queueMicrotask(() => {
      planned = false
      digest()
    })
  }
  const digest = () => {
    parts.flows.configure([...levels.values()], [...schemas.values()], parts.monotonicMs())
    for (const schema of schemas.values()) {
      const condition = dueCondition(schema, levels, parts.clock)
      const name = schema.metadata.name ?? ''
      if (condition === undefined || writing.has(name) || !mayWrite(name)) continue
      writing.add(name)
      void write(schema, condition).finally(() => {
        writing.delete(name)
        plan()
      })
    }
  }
  const mayWrite = (name: string): boolean => {
    const now = parts.monotonicMs()
    const recent = (wrote.get(name) ?? []).filter((at) => now - at < minuteMs)
    if (recent.length >= writesPerMinuteMax) return false
    wrote.set(name, [...recent, now])
    return true
  }
  const write = async (schema: KubeObject, condition: Loose) => {
    const name = schema.metadata.name ?? ''
    const others = (schema.status?.conditions ?? []).filter(
      ({ type }: Loose) => type !== condition.type,
    )
    try {
      const status = { conditions: [...others, condition] }
      const written = await parts.client.patch(parts.schemas, '', name, { status }, 'status')
      // What was seen before it was written must not count again; what comes later will.
      if (schemas.get(name) === schema) schemas.set(name, written)
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return
      parts.report(`the condition of the flow schema ${name} cannot be written`, error)
    }
  }
  const keep = (kept: Map<string, KubeObject>) => ({
    changed(object: KubeObject) {
      kept.set(object.metadata.name ?? '', object)
      plan()
    },
    deleted(object: KubeObject) {
      const name = object.metadata.name ?? ''
      kept.delete(name)
      if (kept === schemas) wrote.delete(name)
      plan()
    },
  })
  const stops = [
    await parts.reader.follow(flowGroup, 'prioritylevelconfigurations', keep(levels)),
    await parts.reader.follow(flowGroup, 'flowschemas', keep(schemas)),
  ]
  ready = true
  digest()
  return () => {
    ready = false
    for (const stop of stops) stop()
  }
}

/** The condition a schema should have and has not. */
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
