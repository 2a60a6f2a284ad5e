/** Updates through events.k8s.io/v1 may change only the metadata and the series. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { asGo, goJson, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'

const referenceFields = [
  ['Kind', 'kind'],
  ['Namespace', 'namespace'],
  ['Name', 'name'],
  ['UID', 'uid'],
  ['APIVersion', 'apiVersion'],
  ['ResourceVersion', 'resourceVersion'],
  ['FieldPath', 'fieldPath'],
] as const

const goTextStruct = (
  type: string,
  fields: readonly (readonly [string, string])[],
  value: Loose,
): GoText =>
  goStruct(
    type,
    fields.map(([name, field]) => [name, goQuote(value[field] ?? '')]),
  )

const reference = (value: Loose | undefined): GoText =>
  goTextStruct('core.ObjectReference', referenceFields, value ?? {})
const source = (value: Loose | undefined): GoText =>
  goTextStruct(
    'core.EventSource',
    [
      ['Component', 'component'],
      ['Host', 'host'],
    ],
    value ?? {},
  )
const time = (value: string | undefined): GoText =>
  asGo(
    value
      ? `${value.replace('T', ' ').replace('Z', '')} +0000 UTC`
      : '0001-01-01 00:00:00 +0000 UTC',
    value ? goJson(value) : 'null',
  )
const text = (value: string | undefined): unknown => value ?? ''
const count = (value: number | undefined): unknown => value ?? 0

/** In the order of the errors; kube-apiserver looks at the reason twice. */
const fields: readonly [field: string, show: (value: never) => unknown, as?: string][] = [
  ['involvedObject', reference],
  ['reason', text],
  ['message', text],
  ['source', source],
  ['firstTimestamp', time],
  ['lastTimestamp', time],
  ['count', count],
  ['reason', text],
  ['type', text],
  ['eventTime', time],
  ['action', text],
  ['related', (value: Loose | undefined) => value && reference(value)],
  ['reportingComponent', text, 'reportingController'],
  ['reportingInstance', text],
]

/** Times count up to the microsecond. */
const kept = (field: string, value: unknown): unknown =>
  field === 'eventTime' && typeof value === 'string'
    ? value.replace(/(\.\d{6})\d+/, '$1')
    : value || undefined

export const checkEventKept = (next: KubeObject, old: KubeObject): FieldError[] =>
  fields.flatMap(([field, show, as = field]) =>
    sameJson(kept(field, next[field]), kept(field, old[field]))
      ? []
      : [invalid(as, (show as (value: unknown) => unknown)(next[field]), immutableMessage)],
  )
