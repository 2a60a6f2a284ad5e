/**
 * Random statuses that servers mostly accept: every field of the type may be there, times are so
 * long ago that their printed age stays the same for minutes, conditions are those that columns
 * read. The servers decide what is valid.
 */
import type { Json } from '#api/object-meta.ts'
import type { Scalar, Struct, Type } from '#schema/type.ts'
import type { Random } from './random.ts'
import type { DeclaredValues } from './random-value.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/**
 * Each half a unit away from the next printed age: they stay the same while both servers answer.
 */
const agesMs = [
  20.5 * minute,
  100.5 * minute,
  3.51 * hour,
  5 * hour + 30.5 * second,
  9.5 * hour,
  47.5 * hour,
  2.52 * day,
  7.02 * day,
  30.5 * day,
  500.5 * day,
  3.3 * 365 * day + hour,
  9.5 * 365 * day,
  -20.5 * minute,
]

export const randomTime = (random: Random, now: number): string =>
  new Date(now - random.pick(agesMs)).toISOString().replace(/\.\d+Z$/, 'Z')

const reasons = [
  'Completed',
  'Error',
  'NodeLost',
  'Evicted',
  'PodInitializing',
  'CrashLoopBackOff',
  'Odd Reason',
  'a',
]
const byName: Readonly<Record<string, readonly string[]>> = {
  reason: reasons,
  message: ['', 'a b', ' spaced ', 'two\nlines'],
  status: ['True', 'False', 'Unknown'],
  ip: ['10.1.2.3', '10.1.2.4', '::1', 'fd00::1'],
  podIP: ['10.1.2.3'],
  hostIP: ['10.9.9.9', ''],
  hostname: ['a.example.com', 'b.example.com'],
  name: ['c', 'i', 'e', 'a'],
  containerID: ['docker://abc', ''],
  nominatedNodeName: ['n', ''],
  containerRuntimeVersion: ['containerd://1.4', 'docker://20', ''],
  kubeletVersion: ['v1.22.1', ''],
  address: ['10.0.0.1', '1.2.3.4', 'node.example.com'],
}
const texts = ['a', 'b', 'web', 'x y', '']
const conditions = [
  'Ready',
  'Initialized',
  'Complete',
  'Failed',
  'Available',
  'Dangling',
  'Suspended',
  'FileSystemResizePending',
  'Resizing',
  'example.com/gate',
]
const numbers = [0, 0, 1, 2, 3, 7, 100]
const quantities = ['1', '0', '500m', '1Gi', '1500Mi', '2k', '0.1', '10000m', '1e3']
/** One certificate in PEM, for requests that have got it. */
const certificate =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlekNDQVNHZ0F3SUJBZ0lVVVNUNW9vUkliWGRWQktsckRXOXkvcGVPUkRZd0NnWUlLb1pJemowRUF3SXcKRXpFUk1BOEdBMVVFQXd3SWMyOXRaV0p2Wkhrd0hoY05Nall4TVRFMU1UWXdNVEk1V2hjTk16WXhNVEV5TVRZdwpNVEk1V2pBVE1SRXdEd1lEVlFRRERBaHpiMjFsWW05a2VUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VICkEwSUFCUG9sWEZrWEdyNWxZM2RxTWRsYnJPZUwzRkJ5c3hmODR3dnZyTU5qSWErbi9iV0ZNUTBFaDZQUkgzUUwKWnZqMG9PWUI4Rk1DUlhBZUNhaVBlcW1qbEd1alV6QlJNQjBHQTFVZERnUVdCQlRKTlF3L1FXMVE2ZWlkWkQwdwpmTDl6M1hpMXZUQWZCZ05WSFNNRUdEQVdnQlRKTlF3L1FXMVE2ZWlkWkQwd2ZMOXozWGkxdlRBUEJnTlZIUk1CCkFmOEVCVEFEQVFIL01Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRRDQwM1ZidWVnYzN5RGxwMGdldkgzcTBMSmMKaWFKdmlKakljdXh2OXUyVjlRSWdKYjM1L2lmWUNKc2NyWDFXOXNOUjQ1Y1B0RXpkOTRQYjZOYUk0R21vTklZPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=='
const keys = ['cpu', 'memory', 'pods', 'storage', 'limits.cpu', 'count/x']

export function randomStatus(
  type: Type,
  name: string,
  random: Random,
  declared: DeclaredValues,
  now: number,
): Json {
  const inner = (of: Type, called: string) => randomStatus(of, called, random, declared, now)
  switch (type.is) {
    case 'scalar':
      return randomScalar(type, name, random, declared, now)
    case 'list':
      return Array.from({ length: random.below(4) }, () => inner(type.items, name))
    case 'map':
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [
          random.pick(keys),
          inner(type.values, name),
        ]),
      )
    case 'struct':
      return fieldsOf(type, name, random, inner)
    case 'untyped':
      return {}
  }
}

/** Of a state only one is there, most times. */
const oneOf = new Set(['state', 'lastState'])

function fieldsOf(
  struct: Struct,
  name: string,
  random: Random,
  inner: (of: Type, called: string) => Json,
): Json {
  const fields = [...struct.byName.values()]
  const kept =
    oneOf.has(name) && random.chance(0.8)
      ? [random.pick(fields)]
      : fields.filter(({ required }) => random.chance(required ? 0.95 : 0.6))
  return Object.fromEntries(
    kept.map((field) => [
      field.name,
      inner(field.type, field.name === 'type' && name === 'conditions' ? 'condition' : field.name),
    ]),
  )
}

function randomScalar(
  { scalar, named }: Scalar,
  name: string,
  random: Random,
  declared: DeclaredValues,
  now: number,
): Json {
  switch (scalar) {
    case 'string': {
      const values = declared.get((named ?? '').split('.').pop() as string)
      if (name === 'condition') return random.pick([...(values ?? []), ...conditions])
      if (values !== undefined && random.chance(0.95)) return random.pick(values)
      return random.pick(byName[name] ?? texts)
    }
    case 'bool':
      return random.chance(0.5)
    case 'bytes':
      return random.pick(name === 'certificate' ? ['', certificate] : ['', 'aGk='])
    case 'time':
      return random.chance(0.1) ? null : randomTime(random, now)
    case 'microTime':
      return random.chance(0.1) ? null : randomTime(random, now).replace('Z', '.000000Z')
    case 'duration':
      return '1m0s'
    case 'quantity':
      return random.pick(quantities)
    case 'intOrString':
      return random.pick<Json>([1, '25%'])
    case 'any':
      return {}
    default:
      return random.pick(numbers)
  }
}
