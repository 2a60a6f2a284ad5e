/** Table columns of Pod. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { ageOf, timeSince } from '#kinds/all-kinds/age.ts'
import { isSidecar } from '#kinds/pod-template/container-restart.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { OlderColumns } from '#kinds/kind-rules.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

interface Progress {
  reason: string
  restarts: number
  ready: number
  /** When a container last ended, as far as statuses remember. */
  lastRestart: string | undefined
}

/** Features of the pod table that depend on the release. */
interface Known {
  readonly gates: boolean
  readonly sidecars: boolean
  /** Whether a finished pod is never shown as Terminating. */
  readonly ends: boolean
  /** Whether a failed container takes precedence over completed ones. */
  readonly failures: boolean
}

const nothing: Known = { gates: false, sidecars: false, ends: false, failures: false }
const everything: Known = { gates: true, sidecars: true, ends: true, failures: true }

const sidecarsOf = (pod: KubeObject, known: Known): Loose[] =>
  known.sidecars ? ((pod.spec?.initContainers ?? []) as Loose[]).filter(isSidecar) : []

/** The STATUS column: the state of the containers, unless the pod is being deleted. */
function progressOf(pod: KubeObject, known: Known): Progress {
  const status: Loose = pod.status ?? {}
  const conditions: Loose[] = status.conditions ?? []
  const isGated =
    known.gates &&
    conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')
  const progress: Progress = {
    reason: isGated ? 'SchedulingGated' : status.reason || status.phase || '',
    restarts: 0,
    ready: 0,
    lastRestart: undefined,
  }
  const sidecars = new Set<string>(sidecarsOf(pod, known).map(({ name }) => name ?? ''))
  const isInitialising = readInitContainers(pod, sidecars, progress)
  const isInitialised =
    known.sidecars &&
    conditions.some(({ type, status: is }) => type === 'Initialized' && is === 'True')
  if (!isInitialising || isInitialised) readContainers(status, sidecars, known, progress)
  if (!pod.metadata.deletionTimestamp) return progress
  const hasEnded = known.ends && ['Failed', 'Succeeded'].includes(status.phase)
  if (status.reason === 'NodeLost') progress.reason = 'Unknown'
  else if (!hasEnded) progress.reason = 'Terminating'
  return progress
}

function countRestarts(container: Loose, progress: Progress): void {
  progress.restarts += container.restartCount ?? 0
  const ended: string | undefined = container.lastState?.terminated?.finishedAt ?? undefined
  if (ended !== undefined && (progress.lastRestart === undefined || progress.lastRestart < ended)) {
    progress.lastRestart = ended
  }
}

const endOf = ({ signal, exitCode }: Loose): string =>
  signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`

/** Whether the pod is still initialising. If so, sets the reason, such as Init:1/2. */
function readInitContainers(
  pod: KubeObject,
  sidecars: ReadonlySet<string>,
  progress: Progress,
): boolean {
  const containers: Loose[] = pod.status?.initContainerStatuses ?? []
  for (const [i, container] of containers.entries()) {
    countRestarts(container, progress)
    const { terminated, waiting } = container.state ?? {}
    if (terminated && (terminated.exitCode ?? 0) === 0) continue
    if (sidecars.has(container.name ?? '') && container.started) {
      if (container.ready) progress.ready++
      continue
    }
    if (terminated) progress.reason = `Init:${terminated.reason || endOf(terminated)}`
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') {
      progress.reason = `Init:${waiting.reason}`
    } else progress.reason = `Init:${i}/${(pod.spec?.initContainers ?? []).length}`
    return true
  }
  return false
}

function readContainers(
  status: Loose,
  sidecars: ReadonlySet<string>,
  known: Known,
  progress: Progress,
): void {
  progress.restarts = 0
  if (known.sidecars) progress.lastRestart = undefined
  for (const container of (status.initContainerStatuses ?? []) as Loose[]) {
    if (sidecars.has(container.name ?? '')) countRestarts(container, progress)
  }
  let isRunning = false
  let failure = ''
  const containers: Loose[] = status.containerStatuses ?? []
  for (const container of [...containers].reverse()) {
    countRestarts(container, progress)
    const { waiting, terminated, running } = container.state ?? {}
    if (waiting?.reason) progress.reason = waiting.reason
    else if (terminated) {
      progress.reason = terminated.reason || endOf(terminated)
      if ((terminated.exitCode ?? 0) !== 0 && known.failures) failure = progress.reason
    } else if (container.ready && running) {
      isRunning = true
      progress.ready++
    }
  }
  if (progress.reason !== 'Completed') return
  const conditions: Loose[] = status.conditions ?? []
  const isReady = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')
  if (isRunning && isReady) progress.reason = 'Running'
  else if (failure !== '') progress.reason = failure
  else if (isRunning) progress.reason = 'NotReady'
}

function readinessGates(pod: KubeObject): string {
  const gates: Loose[] = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const conditions: Loose[] = pod.status?.conditions ?? []
  // If a condition type occurs several times, the first one counts.
  const statuses = new Map(conditions.toReversed().map(({ type, status }) => [type, status]))
  const open = gates.filter(({ conditionType }) => statuses.get(conditionType) === 'True')
  return `${open.length}/${gates.length}`
}

const completed = (reason: string, message: string) => [
  { type: 'Completed', status: 'True', reason, message },
]

const columnsKnowing = (known: Known): TableColumns => ({
  columns: [
    nameColumn,
    column('Ready', 'Containers that are ready, of all.'),
    column('Status', 'State of the containers in one word.'),
    column('Restarts', 'How often containers were restarted, and when last.'),
    ageColumn,
    wideColumn('IP', 'Address of the pod.'),
    wideColumn('Node', 'Node the pod runs on.'),
    wideColumn('Nominated Node', 'Node kept free for the pod.'),
    wideColumn('Readiness Gates', 'Conditions that are met, of those it waits for.'),
  ],
  cells(pod, now) {
    const { reason, restarts, ready, lastRestart } = progressOf(pod, known)
    const total = (pod.spec?.containers ?? []).length + sidecarsOf(pod, known).length
    const isUnsure = lastRestart === undefined || (known.sidecars && restarts === 0)
    const since = isUnsure ? '' : ` (${timeSince(lastRestart, now)} ago)`
    return [
      pod.metadata.name,
      `${ready}/${total}`,
      reason,
      `${restarts}${since}`,
      ageOf(pod, now),
      pod.status?.podIPs?.[0]?.ip || '<none>',
      pod.spec?.nodeName || '<none>',
      pod.status?.nominatedNodeName || '<none>',
      readinessGates(pod),
    ]
  },
  conditions(pod) {
    const phase = pod.status?.phase
    if (phase === 'Succeeded') return completed(phase, 'The pod has completed successfully.')
    return phase === 'Failed' ? completed(phase, 'The pod failed.') : undefined
  },
})

export const podColumns: TableColumns = columnsKnowing(everything)

/** Before 1.22 the Restarts column is an integer, without the time. */
const withoutTimes: TableColumns = {
  ...podColumns,
  columns: podColumns.columns.map((one) =>
    one.name === 'Restarts' ? column('Restarts', one.description, 'integer') : one,
  ),
  cells(pod, now) {
    const cells = columnsKnowing(nothing).cells(pod, now)
    return cells.with(3, progressOf(pod, nothing).restarts)
  },
}

export const olderPodColumns: readonly OlderColumns[] = [
  {
    before: change('tables of pods show when a container last restarted', { since: 22 }),
    instead: withoutTimes,
  },
  {
    before: change('tables of pods show scheduling gates', { since: 26 }),
    instead: columnsKnowing(nothing),
  },
  {
    before: change('tables of pods count sidecars', { since: 28 }),
    instead: columnsKnowing({ ...nothing, gates: true }),
  },
  {
    before: change('tables show how a pod ended while it is deleted', { since: 31 }),
    instead: columnsKnowing({ ...everything, ends: false, failures: false }),
  },
  {
    before: change('tables show the failure of a container when others completed', { since: 35 }),
    instead: columnsKnowing({ ...everything, failures: false }),
  },
]
