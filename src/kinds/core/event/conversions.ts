/**
 * Conversions of Event: events.k8s.io renames most fields of the core version, which is the hub.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

interface Move {
  readonly core: string
  readonly events: string
  /** The zero value that Go writes if the field is absent. */
  readonly coreZero?: () => unknown
  readonly eventsZero?: () => unknown
}

const empty = () => ({})
const nothing = () => null
const noText = () => ''

const moves: readonly Move[] = [
  { core: 'involvedObject', events: 'regarding', coreZero: empty, eventsZero: empty },
  { core: 'reason', events: 'reason' },
  { core: 'message', events: 'note' },
  { core: 'source', events: 'deprecatedSource', coreZero: empty, eventsZero: empty },
  {
    core: 'firstTimestamp',
    events: 'deprecatedFirstTimestamp',
    coreZero: nothing,
    eventsZero: nothing,
  },
  {
    core: 'lastTimestamp',
    events: 'deprecatedLastTimestamp',
    coreZero: nothing,
    eventsZero: nothing,
  },
  { core: 'count', events: 'deprecatedCount' },
  { core: 'type', events: 'type' },
  { core: 'eventTime', events: 'eventTime', coreZero: nothing, eventsZero: nothing },
  { core: 'series', events: 'series' },
  { core: 'action', events: 'action' },
  { core: 'related', events: 'related' },
  { core: 'reportingComponent', events: 'reportingController', coreZero: noText },
  { core: 'reportingInstance', events: 'reportingInstance', coreZero: noText },
]

function moved(object: KubeObject, from: 'core' | 'events', to: 'core' | 'events'): KubeObject {
  const out: KubeObject = {
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: object.metadata,
  }
  for (const move of moves) {
    const zero = to === 'core' ? move.coreZero : move.eventsZero
    const value = object[move[from]] ?? zero?.()
    if (value !== undefined && !(value === '' && zero === undefined)) out[move[to]] = value
  }
  if (out.series) out.series = seriesOf(out.series, to)
  return out
}

/** events.k8s.io always writes the count of a series; the core version omits zero. */
function seriesOf(series: Loose, to: 'core' | 'events'): Loose {
  const { count = 0, lastObservedTime = null, ...rest } = series
  return to === 'core' && count === 0
    ? { lastObservedTime, ...rest }
    : { count, lastObservedTime, ...rest }
}

const conversion: Conversion = {
  toHub: (object) => moved(object, 'events', 'core'),
  fromHub: (object) => moved(object, 'core', 'events'),
}

export const eventConversions: Conversions = {
  'events.k8s.io/v1': conversion,
  'events.k8s.io/v1beta1': conversion,
}
