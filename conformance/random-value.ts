/**
 * Random values of a type: mostly plausible, sometimes not. What a field is called and which values
 * are declared for its type say what is plausible; the servers say whether it is right.
 */
import type { Json } from '#api/object-meta.ts'
import type { Field, Scalar, Struct, Type } from '#schema/type.ts'
import type { Random } from './random.ts'

/** Values declared for named texts: `RestartPolicy` → Always, Never, … */
export type DeclaredValues = ReadonlyMap<string, readonly string[]>

/** Deeper than this only what is required is filled in. */
const depthMax = 5

const texts = ['a', 'b', 'web', 'a-b', 'a.b', 'example.com/x', '/x', 'A_b', '', '1', '10.0.0.1']
const byName: Readonly<Record<string, readonly string[]>> = {
  name: ['a', 'b', 'web', 'a-b', 'A_b'],
  namespace: ['default', 'a', 'A_b'],
  image: ['nginx', 'nginx:1', 'a b', ''],
  path: ['/x', 'x', '/a/../b', '/'],
  mountPath: ['/x', '/y', 'x'],
  subPath: ['a', '../a', '/a'],
  key: ['a', 'example.com/x', 'kubernetes.io/hostname', 'a b'],
  operator: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Equal', 'Gt', 'Lt', 'No'],
  protocol: ['TCP', 'UDP', 'SCTP', 'tcp'],
  effect: ['NoSchedule', 'PreferNoSchedule', 'NoExecute', 'No'],
  cidr: ['10.0.0.0/8', '10.0.0.1', '::/0'],
  topologyKey: ['kubernetes.io/hostname', 'zone', ''],
  hostname: ['a', 'A_b', 'a.b'],
  host: ['a.example.com', '*.example.com', 'A b', ''],
  apiVersion: ['v1', 'apps/v1', 'a/b/c'],
  schedule: ['* * * * *', '@daily', 'never'],
  resource: ['limits.cpu', 'requests.memory', 'pods', 'cpu'],
  fieldPath: ['metadata.name', 'status.podIP', 'spec.none'],
}
const keys = ['a', 'b', 'app', 'example.com/x', 'A b', 'cpu', 'memory']
const numbers = [0, 1, 2, 3, 10, 80, 8080, 30000, 65536, -1]

export function randomValue(
  type: Type,
  name: string,
  random: Random,
  declared: DeclaredValues,
  depth = 0,
): Json {
  switch (type.is) {
    case 'scalar':
      return randomScalar(type, name, random, declared)
    case 'list': {
      const length = random.below(depth > depthMax ? 1 : 3)
      const one = () => randomValue(type.items, name, random, declared, depth + 1)
      return Array.from({ length }, one)
    }
    case 'map': {
      const entries: [string, Json][] = []
      for (let i = random.below(3); i > 0; i--) {
        entries.push([
          random.pick(keys),
          randomValue(type.values, name, random, declared, depth + 1),
        ])
      }
      return Object.fromEntries(entries)
    }
    case 'struct':
      return type.union === true ? true : randomStruct(type, random, declared, depth)
    case 'untyped':
      return random.pick<Json>([{}, { a: 1 }, 'x', null])
  }
}

function randomStruct(
  struct: Struct,
  random: Random,
  declared: DeclaredValues,
  depth: number,
): Json {
  const fields = [...struct.byName.values()]
  const share = depth > depthMax ? 0 : Math.min(0.5, 2 / Math.max(fields.length, 1))
  const out: Record<string, Json> = {}
  for (const field of fields) {
    if (!random.chance(isNeeded(field) ? 0.9 : share)) continue
    out[field.name] = randomValue(field.type, field.name, random, declared, depth + 1)
  }
  return out
}

/** A struct leads to structs without end where a schema holds schemas; those are never needed. */
const isNeeded = ({ required, type }: Field) => required && !(type.is === 'struct' && type.union)

function randomScalar(
  { scalar, named }: Scalar,
  name: string,
  random: Random,
  declared: DeclaredValues,
): Json {
  switch (scalar) {
    case 'string': {
      const values = declared.get((named ?? '').split('.').pop() as string)
      if (values !== undefined && random.chance(0.9)) return random.pick(values)
      return random.pick(byName[name] ?? texts)
    }
    case 'bool':
      return random.chance(0.5)
    case 'bytes':
      return random.pick(['', 'aGk=', 'a'])
    case 'time':
    case 'microTime':
      return random.pick([null, '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z', 'now'])
    case 'duration':
      return random.pick(['1s', '1m30s', '0s', '-1s', 'x'])
    case 'quantity':
      return random.pick(['1', '100m', '1Gi', '0', '-1', '1.5', '2k', 'x', 3])
    case 'intOrString':
      return random.pick<Json>([0, 1, 80, '25%', 'http', '150%', -1, 'a b'])
    case 'any':
      return random.pick<Json>([{}, { a: 1 }, null])
    default:
      return random.pick(numbers)
  }
}
