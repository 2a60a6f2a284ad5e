/**
 * Events about workloads, as `kubectl describe` shows them. The same event again raises the count
 * of the first. A failed write is ignored: events are hints.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { events } from '#controllers/resources.ts'
import { timeText } from './conditions.ts'
import type { OwnerKind } from './ownership.ts'

/** As many recent events as client-go remembers. */
const rememberedMax = 4096

export type RecordEvent = (
  object: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
) => void

export function eventRecorder(
  component: string,
  { apiVersion, kind }: Omit<OwnerKind, 'resource'>,
  { client, clock, signal }: Pick<ControllerParts, 'client' | 'clock' | 'signal'>,
): RecordEvent {
  const remembered = new Map<string, { name: string; count: number }>()
  let made = 0
  return ({ metadata }, type, reason, message) => {
    if (signal.aborted) return
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata
    // Events about cluster-scoped objects are in the default namespace.
    const place = namespace === '' ? 'default' : namespace
    const now = timeText(clock.now())
    const key = JSON.stringify([uid, type, reason, message])
    const before = remembered.get(key)
    remembered.delete(key)
    if (before !== undefined) {
      const count = before.count + 1
      remembered.set(key, { ...before, count })
      client
        .patch(events, place, before.name, { count, lastTimestamp: now })
        .catch(() => remembered.delete(key))
      return
    }
    made++
    const eventName = `${name}.${(BigInt(clock.now()) * 1_000_000n + BigInt(made)).toString(16)}`
    remembered.set(key, { name: eventName, count: 1 })
    const [oldest] = remembered.keys()
    if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest)
    const event: KubeObject = {
      metadata: { name: eventName, namespace: place },
      involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
      type,
      reason,
      message,
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      reportingComponent: component,
      reportingInstance: '',
    }
    client.create(events, place, event).catch(() => remembered.delete(key))
  }
}
