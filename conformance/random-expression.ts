/**
 * Random typed expressions of CEL over `self`, an object with a field of each type that schemas can
 * give. One in some twenty has a part of a wrong type, so that the checker's errors are met too.
 *
 * Templates: `{int}` is a random part of that type; `@` and `#` are fresh names of variables, which
 * `{@int:bool}` and `{@int#int:bool}` declare for the part inside.
 */
import type { Random } from './random.ts'

/** Fields of `self` by their types, as expressions. */
const fields: Readonly<Record<string, readonly string[]>> = {
  int: ['self.i', 'self.j', 'self.o.x'],
  double: ['self.f'],
  bool: ['self.b', 'has(self.i)', 'has(self.o.y)', 'has(self.s)'],
  string: ['self.s', 'self.t', 'self.o.y', 'self.w'],
  bytes: ['self.y'],
  timestamp: ['self.d'],
  duration: ['self.u'],
  'list(int)': ['self.l', 'self.ki'],
  'list(string)': ['self.ls', 'self.k'],
  'list(timestamp)': ['self.kt'],
  'list(named)': ['self.n'],
  named: ['self.n[0]'],
  'map(int)': ['self.m'],
  'map(string)': ['self.ms'],
  'list(object)': ['self.e'],
  object: ['self.e[0]'],
  dyn: ['self.q', 'dyn(self.i)'],
}

const literals: Readonly<Record<string, readonly string[]>> = {
  int: ['0', '1', '-1', '2', '7', '9223372036854775807', 'int(1.5)'],
  uint: ['0u', '1u', '3u'],
  double: ['0.0', '1.5', '-2.5', '1e3', 'double(1)'],
  bool: ['true', 'false'],
  string: [
    "''",
    "'a'",
    "'abc'",
    "'a-b.c'",
    "'é'",
    "'1h'",
    "'10.0.0.1'",
    "'1.2.3'",
    "'https://a.b/c?d=e'",
  ],
  bytes: ["b''", "b'abc'", "bytes('é')"],
  timestamp: ["timestamp('2020-01-01T00:00:00Z')", "timestamp('2021-06-05T04:03:02.5+01:00')"],
  duration: ["duration('1h')", "duration('-90s')", "duration('1.5s')"],
  'list(int)': ['[]', '[1, 2]', '[3, 1, 2]', '[1, 1]'],
  'list(string)': ["['a']", "['b', 'a']", "['a', '']"],
  'map(int)': ["{'a': 1}", "{'a': 1, 'b': 2}"],
  'map(string)': ["{'a': 'b'}"],
  'list(object)': ['self.e'],
  'list(timestamp)': ["[timestamp('2020-01-01T00:00:00Z')]"],
  'list(named)': ['self.n'],
  object: ['self.e[0]', 'self.e[1]'],
  named: ['self.n[0]', 'self.n[1]'],
  dyn: ['dyn(1)', "dyn('a')", 'dyn([1])', 'dyn(1.5)'],
  quantity: ["quantity('1')", "quantity('500m')", "quantity('2Gi')"],
  ip: ["ip('10.0.0.1')", "ip('::1')"],
  cidr: ["cidr('10.0.0.0/8')", "cidr('::/0')"],
  url: ["url('https://a.b:80/c?d=e')"],
  semver: ["semver('1.2.3')", "semver('1.0.0-a')"],
  'optional(int)': ['optional.none()', 'optional.of(1)', 'self.?i', 'self.?o.x', 'self.?nope'],
  'optional(string)': ['optional.of("a")', 'self.?s', 'self.?ms[?"a"]'],
}

const compared = ['<', '<=', '>', '>=', '==', '!=']
const ordered = ['int', 'double', 'string', 'bytes', 'timestamp', 'duration', 'uint', 'bool']
const equated = [
  ...ordered,
  'list(int)',
  'list(string)',
  'map(int)',
  'object',
  'dyn',
  'optional(int)',
]

const listTemplates = (item: string): Record<string, string[]> => ({
  bool: [
    `{list(${item})}.all(@, {@${item}:bool})`,
    `{list(${item})}.exists(@, {@${item}:bool})`,
    `{list(${item})}.exists_one(@, {@${item}:bool})`,
    `{list(${item})}.all(@, #, {@int#${item}:bool})`,
    `{list(${item})}.existsOne(@, #, {@int#${item}:bool})`,
    `{${item}} in {list(${item})}`,
    `{list(${item})}.isSorted()`,
    `sets.contains({list(${item})}, {list(${item})})`,
    `sets.equivalent({list(${item})}, {list(${item})})`,
    `sets.intersects({list(${item})}, {list(${item})})`,
  ],
  int: [
    `size({list(${item})})`,
    `{list(${item})}.size()`,
    `{list(${item})}.indexOf({${item}})`,
    `{list(${item})}.lastIndexOf({${item}})`,
  ],
  [item]: [
    `{list(${item})}[{int}]`,
    `{list(${item})}.min()`,
    `{list(${item})}.max()`,
    `{list(${item})}[?{int}].orValue({${item}})`,
  ],
  [`list(${item})`]: [
    `{list(${item})} + {list(${item})}`,
    `{list(${item})}.filter(@, {@${item}:bool})`,
    `{list(${item})}.map(@, {@${item}:${item}})`,
    `{list(${item})}.map(@, {@${item}:bool}, {@${item}:${item}})`,
    `{list(${item})}.transformList(@, #, {@int#${item}:${item}})`,
    `{list(${item})}.slice({int}, {int})`,
    `{list(${item})}.reverse()`,
    `{list(${item})}.distinct()`,
    `{list(${item})}.sort()`,
    `{list(${item})}.sortBy(@, {@${item}:int})`,
    `[{list(${item})}, {list(${item})}].flatten()`,
    `[{${item}}, {${item}}]`,
    `({bool} ? {list(${item})} : {list(${item})})`,
  ],
})

/** Lists of type set and map, whose sums compare without regard to order. */
const sums: readonly string[] = ['int', 'string', 'timestamp', 'object', 'named'].flatMap(
  (item) => [
    `{list(${item})} + {list(${item})} == {list(${item})}`,
    `{list(${item})} == {list(${item})} + {list(${item})}`,
    `{list(${item})} == {list(${item})}`,
    `{list(${item})} != {list(${item})}.filter(@, {@${item}:bool})`,
    `({list(${item})} + {list(${item})}).size() == {list(${item})}.size()`,
    `{${item}} in ({list(${item})} + {list(${item})})`,
  ],
)

const aggregates = ['list(int)', 'list(string)', 'list(object)', 'map(int)', 'object', 'named']

/** Lists and maps beside values of other types. */
const mixed: readonly string[] = aggregates.flatMap((type) => [
  `dyn({${type}}) == {dyn}`,
  `{dyn} != dyn({${type}})`,
  `{dyn} in dyn({${type}})`,
  `dyn({${type}}) == dyn({list(int)})`,
])

const plain: Readonly<Record<string, readonly string[]>> = {
  bool: [
    ...['{bool} && {bool}', '{bool} || {bool}', '!{bool}', '({bool} ? {bool} : {bool})'],
    ...ordered.flatMap((type) => compared.map((operator) => `{${type}} ${operator} {${type}}`)),
    ...equated.map((type) => `{${type}} == {${type}}`),
    ...[
      '{int} < {double}',
      '{double} >= {int}',
      '{int} < {uint}',
      '{dyn} == {dyn}',
      '{dyn} > {int}',
    ],
    ...[
      '{string}.startsWith({string})',
      '{string}.endsWith({string})',
      '{string}.contains({string})',
    ],
    ...["{string}.matches('^a')", "{string}.matches('[a-z]+$')", '{string}.matches({string})'],
    ...[
      '{string} in {map(int)}',
      "'a' in {map(string)}",
      'isQuantity({string})',
      'isURL({string})',
    ],
    ...['isIP({string})', 'isCIDR({string})', 'isSemver({string})', 'ip.isCanonical({string})'],
    ...[
      '{quantity}.isGreaterThan({quantity})',
      '{quantity} == {quantity}',
      '{quantity}.isInteger()',
    ],
    ...[
      '{ip} == {ip}',
      '{ip}.isLoopback()',
      '{cidr}.containsIP({ip})',
      '{cidr}.containsIP({string})',
    ],
    ...['{cidr}.containsCIDR({cidr})', '{url} == {url}', '{semver}.isLessThan({semver})'],
    ...['{optional(int)}.hasValue()', '{optional(string)}.hasValue()', 'type({int}) == int'],
    ...['!format.dns1123Label().validate({string}).hasValue()', "format.named('uuid').hasValue()"],
    ...['{list(object)}.all(@, {@object:bool})', '{list(object)}.exists(@, {@object:bool})'],
    ...['{map(int)}.all(@, {@string:bool})', '{map(int)}.exists(@, #, {@string#int:bool})'],
    ...['bool({string})', '{bool} == {bool}', 'self.l[dyn({uint})] == {int}'],
    ...['{list(named)}.all(@, {@named:bool})', '{named} == {named}', "'a' in dyn({named})"],
    ...sums,
    ...mixed,
  ],
  int: [
    ...[
      '{int} + {int}',
      '{int} - {int}',
      '{int} * {int}',
      '{int} / {int}',
      '{int} % {int}',
      '-{int}',
    ],
    ...['int({string})', 'int({double})', 'int({timestamp})', 'size({string})', '{string}.size()'],
    ...['size({bytes})', 'size({map(int)})', "{map(int)}['a']", '{map(int)}[{string}]'],
    ...['{string}.indexOf({string})', '{string}.lastIndexOf({string})', '{quantity}.sign()'],
    ...['sign({quantity})', '{quantity}.asInteger()', '{quantity}.compareTo({quantity})'],
    ...[
      '{ip}.family()',
      '{cidr}.prefixLength()',
      '{semver}.major()',
      '{semver}.compareTo({semver})',
    ],
    ...[
      '{timestamp}.getFullYear()',
      "{timestamp}.getHours('+02:00')",
      '{timestamp}.getDayOfWeek()',
    ],
    ...['{duration}.getSeconds()', '{duration}.getHours()', '{list(int)}.sum()', '{object}.v'],
    ...['{optional(int)}.orValue({int})', '{optional(int)}.value()', '({bool} ? {int} : {int})'],
  ],
  double: [
    '{double} + {double}',
    '{double} * {double}',
    '{double} / {double}',
    'double({int})',
    '{quantity}.asApproximateFloat()',
  ],
  uint: ['uint({int})', '{uint} + {uint}', '{uint} * {uint}'],
  string: [
    ...[
      '{string} + {string}',
      'string({int})',
      'string({double})',
      'string({bool})',
      'string({bytes})',
    ],
    ...[
      '{string}.lowerAscii()',
      '{string}.upperAscii()',
      '{string}.trim()',
      '{string}.substring({int})',
    ],
    ...[
      '{string}.substring({int}, {int})',
      '{string}.charAt({int})',
      '{string}.replace({string}, {string})',
    ],
    ...["{string}.split(',')[0]", '{list(string)}.join()', '{list(string)}.join({string})'],
    ...["{string}.find('[a-z]+')", '{string}.find({string})', "'%s-%d'.format([{string}, {int}])"],
    ...["'%s'.format([{dyn}])", "'%.2f|%x'.format([{double}, {int}])", 'strings.quote({string})'],
    ...['string({timestamp})', 'string({duration})', '{url}.getHost()', '{url}.getScheme()'],
    ...['{url}.getEscapedPath()', "{map(string)}['a']", '{optional(string)}.orValue({string})'],
    ...[
      '{named}.__namespace__',
      '{object}.name',
      '({bool} ? {string} : {string})',
      'string({ip})',
      '{list(string)}[0]',
    ],
  ],
  bytes: ['{bytes} + {bytes}', 'bytes({string})'],
  timestamp: ['{timestamp} + {duration}', '{timestamp} - {duration}', 'timestamp({string})'],
  duration: ['{timestamp} - {timestamp}', '{duration} + {duration}', 'duration({string})'],
  'map(int)': [
    '{map(int)}.transformMap(@, #, {@string#int:int})',
    '({bool} ? {map(int)} : {map(int)})',
  ],
  quantity: ['quantity({string})', '{quantity}.add({quantity})', '{quantity}.sub({int})'],
  ip: ['ip({string})', '{cidr}.ip()'],
  cidr: ['cidr({string})', '{cidr}.masked()'],
  url: ['url({string})'],
  semver: ['semver({string})'],
  'optional(int)': [
    '{optional(int)}.or({optional(int)})',
    '{list(int)}[?{int}]',
    '{list(int)}.first()',
    '{optional(int)}.optMap(@, {@int:int})',
  ],
  'list(string)': [
    "{string}.split('a')",
    "{string}.findAll('[a-z]')",
    '{map(int)}.map(@, {@string:string})',
  ],
  dyn: ['dyn({int})', 'dyn({string})', '{dyn}'],
}

function merged(...tables: readonly Readonly<Record<string, readonly string[]>>[]) {
  const all = new Map<string, string[]>()
  for (const table of tables)
    for (const [type, templates] of Object.entries(table))
      all.set(type, [...(all.get(type) ?? []), ...templates])
  return all
}

const calls = merged(plain, listTemplates('int'), listTemplates('string'))
const leaves = merged(fields, fields, literals)
const types = [...leaves.keys()]

interface Variable {
  readonly name: string
  readonly type: string
}

/** A part in a wrong type's place: one in so many. */
const mistakes = 250

export class ExpressionMaker {
  readonly #random: Random
  #variables = 0

  constructor(random: Random) {
    this.#random = random
  }

  make(): string {
    this.#variables = 0
    return this.#part('bool', 1 + this.#random.below(4), [])
  }

  #part(wanted: string, depth: number, scope: readonly Variable[]): string {
    const random = this.#random
    const type = random.below(mistakes) === 0 ? random.pick(types) : wanted
    const known = scope.filter((one) => one.type === type)
    if (known.length > 0 && random.chance(0.5)) return random.pick(known).name
    const templates = calls.get(type) ?? []
    if (depth <= 0 || templates.length === 0) return random.pick(leaves.get(type) ?? ['self.i'])
    const part = this.#fill(random.pick(templates), depth - 1, scope)
    return /^\S+$/.test(part) || part.startsWith('(') ? part : `(${part})`
  }

  #fill(template: string, depth: number, scope: readonly Variable[]): string {
    const [first, second] = [this.#fresh(), this.#fresh()]
    const filled = template.replace(
      /\{(?:@([^#:}]+)(?:#([^:}]+))?:)?([^@{}]+)\}/g,
      (_, one: string | undefined, two: string | undefined, type: string) => {
        const inner = [...scope]
        if (one !== undefined) inner.push({ name: first, type: one })
        if (two !== undefined) inner.push({ name: second, type: two })
        return this.#part(type, depth, inner)
      },
    )
    return filled.replaceAll('@', first).replaceAll('#', second)
  }

  #fresh(): string {
    return `v${this.#variables++}`
  }
}

/** The schema of `self`, with or without limits of sizes. */
export function selfSchema(random: Random): Record<string, unknown> {
  const limit = (name: string, most: number) =>
    random.chance(0.8) ? { [name]: 1 + random.below(most) } : {}
  const text = (more = {}) => ({ type: 'string', ...limit('maxLength', 60), ...more })
  const list = (items: unknown, more = {}) => ({
    type: 'array',
    items,
    ...limit('maxItems', 20),
    ...more,
  })
  const map = (values: unknown) => ({
    type: 'object',
    additionalProperties: values,
    ...limit('maxProperties', 20),
  })
  const integer = { type: 'integer' }
  const element = { type: 'object', required: ['name'], properties: { name: text(), v: integer } }
  const named = {
    type: 'object',
    required: ['namespace'],
    properties: { namespace: text(), v: integer },
  }
  return {
    type: 'object',
    properties: {
      ...{ i: integer, j: integer, f: { type: 'number' }, b: { type: 'boolean' } },
      ...{ s: text(), t: text(), w: text({ enum: ['x', 'yy'] }), y: text({ format: 'byte' }) },
      d: { type: 'string', format: 'date-time' },
      u: { type: 'string', format: 'duration' },
      ...{ l: list(integer), ls: list(text()), m: map(integer), ms: map(text()) },
      k: list(text(), { 'x-kubernetes-list-type': 'set' }),
      ki: list(integer, { 'x-kubernetes-list-type': 'set' }),
      kt: list({ type: 'string', format: 'date-time' }, { 'x-kubernetes-list-type': 'set' }),
      n: list(named, {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['namespace'],
      }),
      o: { type: 'object', properties: { x: integer, y: text() } },
      e: list(element, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      q: { 'x-kubernetes-int-or-string': true, ...limit('maxLength', 60) },
    },
  }
}

/** A value for `self`: any field can be absent. */
export function selfValue(random: Random): Record<string, unknown> {
  const some = <T>(make: () => T): T[] => Array.from({ length: random.below(4) }, make)
  const integer = () => random.pick([0, 1, -1, 2, 7, 100])
  const text = () =>
    random.pick(['', 'a', 'b', 'abc', 'a,b', 'é', '1h', '10.0.0.1', '1.2.3', '500m'])
  const time = () => random.pick(['2020-01-01T00:00:00Z', '2021-06-05T04:03:02+01:00'])
  const unique = <T>(values: T[]): T[] => [...new Set(values)]
  const all: Record<string, unknown> = {
    ...{ i: integer(), j: integer(), f: random.pick([0.5, 1.5, -2.25]), b: random.chance(0.5) },
    ...{ s: text(), t: text(), w: random.pick(['x', 'yy']), y: random.pick(['', 'YWJj']) },
    d: time(),
    u: random.pick(['1h', '-90s', '1h2m3.5s']),
    ...{ l: some(integer), ls: some(text), k: unique(some(text)), ki: unique(some(integer)) },
    kt: unique(some(time)),
    n: unique(some(() => random.pick(['n', 'o']))).map((namespace) => ({
      namespace,
      v: integer(),
    })),
    m: Object.fromEntries(some(() => [random.pick(['a', 'b', 'c']), integer()])),
    ms: Object.fromEntries(some(() => [random.pick(['a', 'b']), text()])),
    o: { ...(random.chance(0.7) && { x: integer() }), ...(random.chance(0.7) && { y: text() }) },
    e: unique(some(() => random.pick(['n', 'o', 'p']))).map((name) => ({ name, v: integer() })),
    q: random.chance(0.5) ? integer() : text(),
  }
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(0.85)))
}
