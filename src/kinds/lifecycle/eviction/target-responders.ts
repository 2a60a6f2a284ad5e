/**
 * Validation of status.targetResponders. Responders become active one after the other; each ends
 * before the next begins. kube-apiserver checks the transitions that the controller makes:
 *
 *   Inactive Inactive → Active Inactive → Completed Active → Completed Interrupted
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { timestampMs } from '#api/timestamp.ts'
import { repeats } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { inResponderOrder } from './responder-order.ts'
import { respondersMax, skewMs } from './responder-limits.ts'

export interface EvictionProgress {
  /** The target is evicted, or the eviction failed. */
  readonly isFinal: boolean
  readonly nowMs: number
}

const path = FieldPath.of('status', 'targetResponders')
const respondersPath = FieldPath.of('status', 'responders')
const type = 'io.k8s.api.lifecycle.v1alpha1.TargetResponder'
const heartbeatMsMax = 20 * 60_000
const ended = ['Canceled', 'Completed', 'Interrupted']
const ownPriorities: ReadonlyMap<string, number> = new Map([
  ['imperative-eviction.k8s.io/evictor', 100],
])
/** Lower priorities are for responders of Kubernetes. */
const priorityMin = 1000

interface Expected {
  readonly states: readonly string[]
  readonly reason: string
}

export function checkTargetResponders(
  next: Loose,
  old: Loose,
  progress: EvictionProgress,
): FieldError[] {
  const [targets, before]: Loose[][] = [next.targetResponders ?? [], old.targetResponders ?? []]
  const names = (targets as Loose[]).map(({ name = '' }) => name as string)
  const wrong = (detail: string) => [
    invalid(path, internalValue(type, next.targetResponders), detail),
  ]
  if (before.length > 0 && targets.length !== before.length)
    return wrong('must preserve the same length and the same keys')
  if (before.some(({ name = '' }) => !names.includes(name)))
    return wrong('must preserve the same keys')
  // Declared rules report these.
  if (targets.length > respondersMax || repeats(names).includes(true)) return []
  const responders = new Map<string, Loose>()
  for (const one of (next.responders ?? []) as Loose[]) responders.set(one.name ?? '', one)
  const expectedAt = expectations(inResponderOrder(targets), inResponderOrder(before), progress)
  return inResponderOrder(targets).flatMap((target, i) => {
    const at = path.index(targets.indexOf(target))
    return checkTarget(target, responders.get(target.name ?? ''), expectedAt(i), at, progress)
  })
}

/** The states that each responder may have, by its position in the order. */
function expectations(
  targets: readonly Loose[],
  before: readonly Loose[],
  { isFinal }: EvictionProgress,
): (i: number) => Expected {
  const active = before.findIndex(({ state }) => state === 'Active')
  const activeEnds = active >= 0 && targets[active]?.state !== 'Active'
  const areAllProcessed = isFinal || ended.includes(before.at(-1)?.state)
  const finished = 'the eviction request has finished processing'
  return (i) => {
    if (i < active || (before.length > 0 && active < 0 && areAllProcessed)) {
      return { states: [before[i]?.state ?? ''], reason: 'final state is immutable' }
    }
    if (i === active && activeEnds) {
      return { states: ended, reason: 'this responder must reach a final state' }
    }
    if (i === active) {
      return isFinal
        ? { states: ended, reason: finished }
        : { states: ['Active'], reason: 'the eviction request stays active' }
    }
    if ((i === 0 && before.length === 0) || (i === active + 1 && activeEnds)) {
      return isFinal
        ? { states: ['Inactive'], reason: finished }
        : { states: ['Active'], reason: 'this responder is next in line' }
    }
    return { states: ['Inactive'], reason: 'the previously active has not finished processing' }
  }
}

function checkTarget(
  target: Loose,
  responder: Loose | undefined,
  { states, reason }: Expected,
  at: FieldPath,
  progress: EvictionProgress,
): FieldError[] {
  const { name = '', state = '' } = target
  if (responder === undefined) {
    const detail = `"${name}" has to be tracked in ${respondersPath} first`
    return [invalid(at, internalValue(type, target), detail)]
  }
  const errors = checkPriority(name, target.priority, at.child('priority'))
  const statePath = at.child('state')
  if (!states.includes(state)) {
    const detail = `must be one of: ${states.join(', ')}, because ${reason}`
    return [...errors, invalid(statePath, state, detail)]
  }
  if (state !== 'Active' && isInProgress(responder, progress)) {
    const detail = `must stay Active because the responder is in progress and it should report ${respondersPath.child('heartbeatTime')} or ${respondersPath.child('completionTime')}`
    errors.push(forbidden(statePath, detail))
  }
  if (state === 'Completed' && !responder.completionTime) {
    const detail = `cannot become Completed because the responder didn't report ${respondersPath.child('completionTime')}`
    errors.push(invalid(statePath, state, detail))
  }
  return errors
}

function checkPriority(name: string, priority: number | undefined, at: FieldPath): FieldError[] {
  if (priority === undefined || priority < 0) return []
  const own = ownPriorities.get(name)
  if (own !== undefined) {
    const detail = `core k8s responder is expected to have priority: ${own}`
    return priority === own ? [] : [invalid(at, priority, detail)]
  }
  const detail = 'priorities 0-999 are reserved for responders with *.k8s.io suffix'
  return priority < priorityMin ? [invalid(at, priority, detail)] : []
}

/** Whether the responder works and its last heartbeat is recent. */
function isInProgress(responder: Loose, { isFinal, nowMs }: EvictionProgress): boolean {
  const { startTime, heartbeatTime, completionTime } = responder
  if (isFinal || !startTime || completionTime) return false
  return nowMs < timestampMs(heartbeatTime ?? startTime) + heartbeatMsMax - skewMs
}
