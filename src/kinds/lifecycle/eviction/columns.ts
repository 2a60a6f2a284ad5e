/** Table columns of Eviction. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf, humanDuration, timeSince } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn, withMore } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { targetCells, targetColumns } from '#kinds/lifecycle/request-columns.ts'

const ended = ['Canceled', 'Interrupted', 'Completed']

interface Progress {
  readonly active: string
  readonly state: string
  readonly expected: string
  readonly heartbeat: string
  readonly message: string
}

function progressOf({ status = {} }: KubeObject, now: number): Progress {
  const targets: Loose[] = status.targetResponders ?? []
  const begun = targets.filter(({ state }) => state === 'Active' || ended.includes(state))
  // If all responders have ended, the last one is shown.
  const active = begun.findLast(({ state }) => state === 'Active') ?? begun.at(-1)
  const responder = ((status.responders ?? []) as Loose[]).find(
    ({ name }) => active !== undefined && name === active.name,
  )
  const count = `(${begun.length}/${targets.length})`
  return {
    active: `${active === undefined ? '<unset>' : (active.name ?? '')} ${count}`,
    ...(active !== undefined && responder !== undefined
      ? { ...stateOf(active.state, responder, now), ...reportOf(responder, now) }
      : { state: '<unset>', expected: '<unknown>', heartbeat: '<unset>', message: '<unset>' }),
  }
}

const reportOf = ({ heartbeatTime, message = '' }: Loose, now: number) => ({
  heartbeat: heartbeatTime ? `${timeSince(heartbeatTime, now)} ago` : '<unset>',
  message: message.trim() || '<unset>',
})

function stateOf(state: string, responder: Loose, now: number) {
  const { startTime, expectedCompletionTime, completionTime } = responder
  if (state === 'Active') {
    if (!startTime) return { state, expected: '<unknown>' }
    const started = `Started (${timeSince(startTime, now)} ago)`
    return { state: started, expected: expectedEnd(expectedCompletionTime, now) }
  }
  const since = state === 'Completed' && completionTime
  return { state: since ? `${state} (${timeSince(since, now)} ago)` : state, expected: '-' }
}

function expectedEnd(time: string | undefined, now: number): string {
  if (!time) return '<unknown>'
  const left = Date.parse(time) - now
  return left > 0 ? `in ${humanDuration(left)}` : `${humanDuration(-left)} ago`
}

function requestersOf({ status = {} }: KubeObject): string {
  const all: Loose[] = status.requesters ?? []
  const names = all.filter(({ intent }) => intent !== 'Withdrawn').map(({ name = '' }) => name)
  return withMore(names.sort(), 1, all.length > 0 ? '<withdrawn>' : '<none>')
}

export const evictionColumns: TableColumns = {
  columns: [
    nameColumn,
    ...targetColumns,
    column('Active Responder', 'The responder that acts now, and how many have begun.'),
    column('Responder Status', 'What the responder reports.'),
    column('Responder Expected Finish', 'When the responder expects to end.'),
    column('Requesters', 'Who requests the eviction.'),
    ageColumn,
    wideColumn('Responder Heartbeat', 'When the responder last reported.'),
    wideColumn('Responder Status Message', 'What the responder reports in words.'),
  ],
  cells(object, now) {
    const { active, state, expected, heartbeat, message } = progressOf(object, now)
    return [
      object.metadata.name,
      ...targetCells(object),
      active,
      state,
      expected,
      requestersOf(object),
      ageOf(object, now),
      heartbeat,
      message,
    ]
  },
}
