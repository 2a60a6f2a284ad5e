/**
 * /debug/api_priority_and_fairness/…: the priority levels, their queues and the requests that wait
 * in them, as tables.
 */
import type { Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import type { Flow, FlowControl } from '#observe/fairness/flow-control.ts'
import type { Waiting } from '#observe/fairness/queue-set.ts'

const prefix = '/debug/api_priority_and_fairness/'
const shape = { contentType: 'text/plain; charset=utf-8' }
/** The minimum width of a cell, and the space after the widest one. */
const cellWidthMin = 8
const paddingWidth = 1

type Dump = (
  flows: FlowControl,
  exchange: Exchange,
  wallTimeOf: (monotonicMs: number) => number,
) => string[][]
const dumps: ReadonlyMap<string, Dump> = new Map<string, Dump>([
  ['dump_priority_levels', levelRows],
  ['dump_queues', queueRows],
  ['dump_requests', requestRows],
])

/** `wallTimeOf`: from the server's monotonic milliseconds to milliseconds since 1970. */
export function debugFairnessPaths(
  flows: FlowControl,
  wallTimeOf: (monotonicMs: number) => number,
): PathHandler {
  const dumpOf = (path: string) =>
    path.startsWith(prefix) ? dumps.get(path.slice(prefix.length)) : undefined
  return {
    matches: (path) => dumpOf(path) !== undefined,
    handle(exchange) {
      const rows = dumpOf(exchange.target.path)?.(flows, exchange, wallTimeOf) ?? []
      return send(exchange, 200, shape, Buffer.from(tableText(rows)))
    },
  }
}

function levelRows(flows: FlowControl): string[][] {
  const rows = [
    [
      'PriorityLevelName',
      'ActiveQueues',
      'IsIdle',
      'IsQuiescing',
      'WaitingRequests',
      'ExecutingRequests',
    ],
  ]
  for (const { name, queues, quiescing } of flows.levels) {
    if (queues === undefined) rows.push([name, ...Array<string>(5).fill('<none>')])
    else {
      const active = queues.queues.filter(({ waiting }) => waiting.length > 0).length
      rows.push(
        [name, active, queues.isIdle, quiescing, queues.waiting, queues.executing].map(String),
      )
    }
  }
  return rows
}

function queueRows(flows: FlowControl): string[][] {
  const rows = [
    ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'VirtualStart'],
  ]
  for (const { name, queues } of flows.levels) {
    if (queues === undefined) rows.push([name, ...Array<string>(4).fill('<none>')])
    for (const [index, queue] of (queues?.queues ?? []).entries()) {
      const { waiting, executing, virtualStart } = queue
      rows.push([
        name,
        String(index),
        String(waiting.length),
        String(executing),
        virtualStart.toFixed(4),
      ])
    }
  }
  return rows
}

function requestRows(
  flows: FlowControl,
  exchange: Exchange,
  wallTimeOf: (ms: number) => number,
): string[][] {
  const detailed = (exchange.query.get('includeRequestDetails') ?? '') !== ''
  const head = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    'FlowDistingsher',
    'ArriveTime',
  ]
  const more = [
    'UserName',
    'Verb',
    'APIPath',
    'Namespace',
    'Name',
    'APIVersion',
    'Resource',
    'SubResource',
  ]
  const rows = [detailed ? [...head, ...more] : head]
  for (const { name, queues } of flows.levels) {
    for (const [index, queue] of (queues?.queues ?? []).entries()) {
      for (const [place, waiting] of queue.waiting.entries()) {
        const { schema, distinguisher } = waiting.flow
        const arrived = new Date(wallTimeOf(waiting.arrivedAtMs)).toISOString()
        const row = [name, schema.name, String(index), String(place), distinguisher, arrived]
        rows.push(detailed ? [...row, ...detailsOf(waiting)] : row)
      }
    }
  }
  return rows
}

function detailsOf({ about }: Waiting<Flow>): string[] {
  const { user, target } = about as Exchange
  const { verb, path, namespace, name, group, version, resource, subresource } = target
  const apiVersion = group === '' ? version : `${group}/${version}`
  return [user.name, verb, path, namespace, name, apiVersion, resource, subresource]
}

/** Formats rows as aligned columns, with a comma after each cell except the last. */
function tableText(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell, at) => (at < row.length - 1 ? `${cell},` : cell)))
  const widths: number[] = []
  for (const row of cells) {
    for (const [at, cell] of row.entries()) {
      if (at === row.length - 1) continue
      widths[at] = Math.max(widths[at] ?? cellWidthMin, cell.length + paddingWidth)
    }
  }
  return cells
    .map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('')}\n`)
    .join('')
}
