/**
 * Random printer columns: paths of every form, right and wrong, columns of every type, and objects
 * in which the paths find something. No path reads more than one member of a map at once:
 * kube-apiserver takes them in random order.
 */
import type { Random } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: definitions are JSON of any shape
type Any = any

const names = ['a', 'b', 'list', 'map', 'x\\.y', 'none', "['a']", "['x\\.y']", '["a"]', "['a.b']"]
const places = ['0', '1', '-1', '-3', '7', '', '*', ':', '1:', ':1', '0:2', '::2', '0:3:2', '2:1']
const oddPlaces = [
  '-',
  'x',
  "'a",
  '1:1',
  '-1:',
  ':-1',
  '::0',
  '::-1',
  '0,1',
  "'a','b'",
  '*,0',
  ' 1',
  '?a',
]
const constants = [
  '1',
  '"a"',
  "'a'",
  'true',
  'false',
  '1.0',
  '1.5',
  '-2',
  '"b\\"c"',
  "'\\n'",
  'nil',
  '@.b',
  '""',
]
const operators = ['==', '!=', '<', '>', '<=', '>=', '=', '=>']
const tails = [
  ' ',
  '}',
  '}x',
  '} {.spec.b',
  ' 5',
  ' 1.5',
  ' "t"',
  " 'u'",
  ' range',
  '.',
  '..',
  '\\',
  '\t',
  ']',
  '$',
  '@',
]

const field = (random: Random): string => {
  const name = random.pick(names)
  return name.startsWith('[') ? name : `.${name}`
}

function filter(random: Random): string {
  const left = `@${random.chance(0.8) ? field(random) : ''}${random.chance(0.1) ? '[0]' : ''}`
  if (random.chance(0.2)) return `[?(${left})]`
  const space = random.chance(0.2) ? ' ' : ''
  return `[?(${left}${space}${random.pick(operators)}${space}${random.pick(constants)})]`
}

const part = (random: Random): string =>
  random.pick<() => string>([
    () => field(random),
    () => field(random),
    () => field(random),
    () => `[${random.pick(random.chance(0.7) ? places : oddPlaces)}]`,
    () => filter(random),
    () => `..${random.pick(['z', 'none', '', '[0]'])}`,
    () => '.*',
  ])()

/** Paths that find something more often than not. */
const likelyPath = (random: Random): string => {
  const place = random.chance(0.5) ? `[${random.pick(places)}]` : filter(random)
  return random.pick([
    `.spec.list${place}${random.chance(0.5) ? field(random) : ''}`,
    `.spec.map${field(random)}`,
    `.spec${field(random)}${random.chance(0.3) ? part(random) : ''}`,
    `.spec.list[${random.pick(places)}]${random.pick(tails)}`,
  ])
}

export function randomPath(random: Random): string {
  if (random.chance(0.6)) return likelyPath(random)
  const roots = ['.spec', '.spec', '.spec', '.status', '.metadata.name', '.', '.kind', '..z']
  let path = random.pick([...roots, '.metadata.creationTimestamp', '.metadata.labels', '$', ''])
  for (let parts = random.below(4); parts > 0; parts--) path += part(random)
  return random.chance(0.1) ? path + random.pick(tails) : path
}

export const randomColumns = (random: Random, count: number): Any[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `C${i}`,
    type: random.pick(['string', 'string', 'integer', 'number', 'boolean', 'date']),
    jsonPath: randomPath(random),
    ...(random.chance(0.2) && { priority: random.pick([0, 1, -1, 7]) }),
    ...(random.chance(0.2) && { format: random.pick(['int32', 'byte', 'date-time', 'password']) }),
    ...(random.chance(0.2) && { description: 'x' }),
  }))

const scalars = [
  1,
  0,
  -2,
  1.5,
  1234567.5,
  0.00001,
  1e21,
  1e20,
  9007199254740991,
  true,
  false,
  null,
  'a',
  '',
  'b"c',
  '<&>',
  'é',
  'null',
  '2020-01-02T03:04:05Z',
  '2020-01-02T03:04:05.5+02:00',
  '2999-01-01T00:00:00Z',
  '2020-1-2',
  '0001-01-01T00:00:00Z',
]

/** A list as paths expect one: of maps, with values of few types. */
export const columnList = (random: Random): Any[] =>
  Array.from({ length: random.below(4) }, () => ({
    a: random.pick<Any>([1, 2, -2, 'a', 'b']),
    ...(random.chance(0.6) && { b: random.pick<Any>(['a', 'b', 1.5, true, 1]) }),
    ...(random.chance(0.3) && { 'x.y': columnValue(random, 1) }),
  }))

/**
 * A value of at most one member that is no scalar in each map, so that paths find it whatever the
 * order.
 */
export function columnValue(random: Random, depth: number): Any {
  const kind = depth === 0 ? 0 : random.below(4)
  if (kind < 2) return random.pick<Any>(scalars)
  if (kind === 2)
    return Array.from({ length: random.below(4) }, () => columnValue(random, depth - 1))
  const map: Any = {}
  for (const name of ['a', 'b', 'list', 'map', 'x.y']) {
    if (random.chance(0.4)) map[name] = columnValue(random, depth - 1)
  }
  return map
}
