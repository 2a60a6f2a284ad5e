/**
 * Parses annotations with JSON that were fields in earlier releases, with the former type and Go's
 * errors. Loaded with the first object that has such an annotation.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { foldNames } from '#codec/go-json/folded-names.ts'
import { goTypeName } from '#codec/go-json/go-name.ts'
import { plainFault } from '#codec/go-json/plain-fault.ts'
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import type { Scalar, ScalarName, Struct, Type } from '#schema/type.ts'
import { jsonProblem } from './json-problem.ts'

type Read = { readonly problem: string } | { readonly items: readonly Loose[] }

const text = scalar('string')
const time = scalar('time')
const named = (goName: string, is: ScalarName = 'string'): Scalar => ({
  is: 'scalar',
  scalar: is,
  named: goName,
})
const struct = (name: string, members: Readonly<Record<string, Type>>): Struct =>
  structOf(
    name,
    Object.entries(members).map(([member, type], i) => field(member, type, i + 1)),
  )

/**
 * Tolerations and taints in annotations have Go names, because their internal types have no JSON
 * names.
 */
const tolerations = listOf(
  struct('core.Toleration', {
    Key: text,
    Operator: named('core.TolerationOperator'),
    Value: text,
    Effect: named('core.TaintEffect'),
    TolerationSeconds: scalar('int64'),
  }),
)
const taints = listOf(
  struct('core.Taint', {
    Key: text,
    Value: text,
    Effect: named('core.TaintEffect'),
    TimeAdded: time,
  }),
)
const owner = struct('v1.OwnerReference', {
  apiVersion: text,
  kind: text,
  name: text,
  uid: named('types.UID'),
  controller: scalar('bool'),
  blockOwnerDeletion: scalar('bool'),
})
const avoided = struct('v1.AvoidPods', {
  preferAvoidPods: listOf(
    struct('v1.PreferAvoidPodsEntry', {
      podSignature: struct('v1.PodSignature', { podController: owner }),
      evictionTime: time,
      reason: text,
      message: text,
    }),
  ),
})

/** Parses the JSON of an annotation into its type. Returns the value or the error. */
function read(type: Type, written: string): { problem: string } | { value: Json } {
  const kind = type.is === 'list' ? 'array' : 'object'
  const problem = jsonProblem(Buffer.from(written), kind, goTypeName(type))
  if (problem !== undefined) return { problem }
  const value = foldNames(type, JSON.parse(written) as Json)
  const fault = plainFault(type, value)
  return fault === undefined ? { value } : { problem: fault }
}

/** The members of an object that are not null. A null item has none. */
const present = (item: Json): [string, Json][] =>
  Object.entries((item ?? {}) as Loose).filter(([, member]) => member !== null)

const lowered = (item: Json): Loose =>
  Object.fromEntries(
    present(item).map(([name, member]) => [name.charAt(0).toLowerCase() + name.slice(1), member]),
  )

const readList =
  (type: Type) =>
  (written: string): Read => {
    const found = read(type, written)
    return 'problem' in found ? found : { items: ((found.value ?? []) as Json[]).map(lowered) }
  }

export const readTolerations: (written: string) => Read = readList(tolerations)
export const readTaints: (written: string) => Read = readList(taints)

export function readAvoidedPods(written: string): Read {
  const found = read(avoided, written)
  if ('problem' in found) return found
  const { preferAvoidPods } = (found.value ?? {}) as Loose
  return { items: ((preferAvoidPods ?? []) as Json[]).map((item) => (item ?? {}) as Loose) }
}
