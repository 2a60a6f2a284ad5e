/** Table columns of Pod. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf, timeSince } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

interface Progress {
  reason: string
  restarts: number
  ready: number
  /** When a container last ended, as far as statuses remember. */
  lastRestart: string | undefined
}

/** What one word says best of a pod: the state of its containers, unless it is going away. */
function progressOf(pod: KubeObject): Progress {
  const status: Loose = pod.status ?? {}
  const progress: Progress = {
    reason: status.reason || status.phase || '',
    restarts: 0,
    ready: 0,
    lastRestart: undefined,
  }
  if (!readInitContainers(pod, progress)) readContainers(status, progress)
  if (pod.metadata.deletionTimestamp) {
    progress.reason = status.reason === 'NodeLost' ? 'Unknown' : 'Terminating'
  }
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

/** Whether the pod is still initialising; if so, the reason says how far it is. */
function readInitContainers(pod: KubeObject, progress: Progress): boolean {
  const containers: Loose[] = pod.status?.initContainerStatuses ?? []
  for (const [i, container] of containers.entries()) {
    countRestarts(container, progress)
    const { terminated, waiting } = container.state ?? {}
    if (terminated && (terminated.exitCode ?? 0) === 0) continue
    if (terminated) progress.reason = `Init:${terminated.reason || endOf(terminated)}`
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') {
      progress.reason = `Init:${waiting.reason}`
    } else progress.reason = `Init:${i}/${(pod.spec?.initContainers ?? []).length}`
    return true
  }
  return false
}

function readContainers(status: Loose, progress: Progress): void {
  progress.restarts = 0
  const containers: Loose[] = status.containerStatuses ?? []
  for (const container of [...containers].reverse()) {
    countRestarts(container, progress)
    const { waiting, terminated, running } = container.state ?? {}
    if (waiting?.reason) progress.reason = waiting.reason
    else if (terminated) progress.reason = terminated.reason || endOf(terminated)
    else if (container.ready && running) progress.ready++
  }
  if (progress.reason !== 'Completed' || progress.ready === 0) return
  const conditions: Loose[] = status.conditions ?? []
  const isReady = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')
  progress.reason = isReady ? 'Running' : 'NotReady'
}

function readinessGates(pod: KubeObject): string {
  const gates: Loose[] = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const conditions: Loose[] = pod.status?.conditions ?? []
  // The first condition of a type counts.
  const statuses = new Map(conditions.toReversed().map(({ type, status }) => [type, status]))
  const open = gates.filter(({ conditionType }) => statuses.get(conditionType) === 'True')
  return `${open.length}/${gates.length}`
}

const completed = (reason: string, message: string) => [
  { type: 'Completed', status: 'True', reason, message },
]

export const podColumns: TableColumns = {
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
    const { reason, restarts, ready, lastRestart } = progressOf(pod)
    const total = (pod.spec?.containers ?? []).length
    const since = lastRestart === undefined ? '' : ` (${timeSince(lastRestart, now)} ago)`
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
}

/** Before 1.22 restarts were a number alone. */
export const podColumnsBefore22: TableColumns = {
  ...podColumns,
  columns: podColumns.columns.map((one) =>
    one.name === 'Restarts' ? column('Restarts', one.description, 'integer') : one,
  ),
  cells(pod, now) {
    const cells = podColumns.cells(pod, now)
    return cells.with(3, progressOf(pod).restarts)
  },
}
