/**
 * Parses an autoscaler's annotations with the types that kube-apiserver uses. Any client may write
 * them, so a value that does not match its type counts as absent. Loaded with the first autoscaler
 * that has one.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { foldNames } from '#codec/go-json/folded-names.ts'
import { plainFault } from '#codec/go-json/plain-fault.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Field, Struct, Type } from '#schema/type.ts'

const text = scalar('string')
const amount = scalar('quantity')
const share = scalar('int32')
const time = scalar('time')

const struct = (members: Readonly<Record<string, Type>>): Struct => {
  const fields: Field[] = Object.entries(members).map(([name, type], i) => field(name, type, i + 1))
  return structOf('', fields)
}

const reference = struct({ kind: text, name: text, apiVersion: text })
const requirement = struct({ key: text, operator: text, values: listOf(text) })
const selector = struct({ matchLabels: mapOf(text), matchExpressions: listOf(requirement) })

/** Specs and statuses have different names for their values: `targetValue` and `currentValue`. */
function metricsOf(prefix: 'target' | 'current'): Type {
  const value = `${prefix}Value`
  const average = `${prefix}AverageValue`
  const resource = {
    name: text,
    [`${prefix}AverageUtilization`]: share,
    [average]: amount,
  }
  return listOf(
    struct({
      type: text,
      object: struct({
        target: reference,
        metricName: text,
        [value]: amount,
        selector,
        averageValue: amount,
      }),
      pods: struct({ metricName: text, [average]: amount, selector }),
      resource: struct(resource),
      containerResource: struct({ ...resource, container: text }),
      external: struct({
        metricName: text,
        metricSelector: selector,
        [value]: amount,
        [average]: amount,
      }),
    }),
  )
}

const metrics = metricsOf('target')
const currentMetrics = metricsOf('current')
const conditions = listOf(
  struct({
    type: text,
    status: text,
    lastTransitionTime: time,
    reason: text,
    message: text,
  }),
)
const policy = struct({ Type: text, Value: share, PeriodSeconds: share })
const scaling = struct({
  StabilizationWindowSeconds: share,
  SelectPolicy: text,
  Policies: listOf(policy),
})
const behaviour = struct({ ScaleUp: scaling, ScaleDown: scaling })

/** The annotation's value as Go decodes it. Undefined if Go would reject it. */
function read(type: Type, written: string): Json | undefined {
  let value: Json
  try {
    value = foldNames(type, JSON.parse(written))
  } catch {
    return undefined
  }
  return plainFault(type, value) === undefined ? settled(type, value) : undefined
}

/** Normalises nulls as Go does: zero in a list, absent in a structure, but null for a time. */
function settled(type: Type, value: Json): Json {
  if (type.is === 'list') return ((value ?? []) as Json[]).map((one) => settled(type.items, one))
  if (type.is === 'struct') {
    const members = (value ?? {}) as { [name: string]: Json }
    const kept = type.fields.flatMap((one): [string, Json][] => {
      const member = members[one.name] ?? null
      if (member !== null) return [[one.name, settled(one.type, member)]]
      return one.type === time ? [[one.name, null]] : []
    })
    return Object.fromEntries(kept)
  }
  if (type === amount && typeof value === 'number') return String(value)
  return value ?? ''
}

const listIn = (type: Type) => (written: string) => read(type, written) as Loose[] | undefined

export const readMetrics = listIn(metrics)
export const readCurrentMetrics = listIn(currentMetrics)
export const readConditions = listIn(conditions)
/** The members have Go names. */
export const readBehaviour = (written: string) => read(behaviour, written) as Loose | undefined
