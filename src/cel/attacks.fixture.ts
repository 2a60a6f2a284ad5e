/** Expressions and objects that are made to cost much time or memory, and how each must end. */

export interface Attack {
  readonly name: string
  readonly text: string
  readonly self?: () => unknown
  /** `stops`: its cost or work exceeds the budget. `rejected`: it does not compile. */
  readonly ends: 'stops' | 'rejected' | 'ends'
}

const times = (count: number, text: string): string => text.repeat(count)
const list = (count: number, item: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => item(at))
const map = (count: number) =>
  Object.fromEntries(list(count, (at) => [`k${at}`, at]) as [string, number][])

/** `[x].map(a0, make('a0')).map(a1, make('a1'))…[0]`: each step doubles what is there. */
const doubled = (first: string, make: (name: string) => string, last: string): string =>
  `[${first}]${list(40, (at) => `.map(a${at}, ${make(`a${at}`)})`).join('')}${last}`
const joined = (first: string, last: string) => doubled(first, (a) => `${a} + ${a}`, last)
const nested = (last: string) => doubled("[dyn('')]", (a) => `[dyn(${a}), dyn(${a})]`, last)

const text =
  (length: number, of = 'a') =>
  () => ({ t: times(length, of) })
const both = (count: number, length: number) => () => ({
  l: list(count, () => 1),
  t: times(length, 'a'),
})

function deepMacros(depth: number): string {
  let expression = 'true'
  for (let at = 0; at < depth; at += 1) expression = `self.l.all(x${at}, ${expression})`
  return expression
}

function deepList(depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at += 1) value = [value]
  return value
}

export const attacks: readonly Attack[] = [
  {
    name: 'deep parentheses',
    text: `${times(40_000, '(')}1${times(40_000, ')')}`,
    ends: 'rejected',
  },
  { name: 'deep conditionals', text: `${times(8000, 'true ? 1 : ')}1`, ends: 'rejected' },
  { name: 'a long path', text: `self${times(40_000, '.a')}`, ends: 'rejected' },
  { name: 'a long sum', text: `1${times(20_000, ' - 1')}`, ends: 'rejected' },
  { name: 'many negations', text: `${times(90_000, '!')}true`, ends: 'ends' },
  { name: 'a long list', text: `[${times(20_000, '1,')}1].size() > 0`, ends: 'ends' },
  {
    name: 'macros that copy each other',
    text: `optional.of(1)${list(40, (at) => `.optMap(a${at}, a${at})`).join('')}.hasValue()`,
    ends: 'rejected',
  },
  { name: 'nested macros', text: deepMacros(30), self: both(10, 1), ends: 'stops' },
  {
    name: 'many long replacements',
    text: "self.l.map(x, self.t.replace('', self.t)).size() > 0",
    self: both(1000, 3000),
    ends: 'stops',
  },
  {
    name: 'a replacement of a replacement',
    text: "self.t.replace('', self.t).replace('', self.t).size() > 0",
    self: text(3000),
    ends: 'stops',
  },
  {
    name: 'a replacement beyond the longest text',
    text: "self.t.replace('', self.t).size() > 0",
    self: text(200_000),
    ends: 'stops',
  },
  {
    name: 'many long texts joined',
    text: "self.l.map(x, self.t).join(',').size() > 0",
    self: both(1000, 1_000_000),
    ends: 'stops',
  },
  {
    name: 'many long texts formatted',
    text: `'${times(2000, '%s')}'.format([${times(1999, 'self.t,')}self.t]).size() > 0`,
    self: text(1_000_000),
    ends: 'stops',
  },
  {
    name: 'text doubled',
    text: joined('self.t', '[0].size() > 0'),
    self: text(100),
    ends: 'stops',
  },
  { name: 'list doubled and summed', text: joined('[1]', '[0].sum() > 0'), ends: 'stops' },
  {
    name: 'list doubled and sorted',
    text: joined("['a']", '[0].sort().size() > 0'),
    ends: 'stops',
  },
  { name: 'list doubled and read', text: joined("['a']", '[0].isSorted()'), ends: 'stops' },
  {
    name: 'lists doubled and compared',
    text: joined('[1]', '.map(z, (z + [1]) == (z + [2]))[0]'),
    ends: 'stops',
  },
  { name: 'pairs of pairs compared', text: nested('.map(z, [z] == [z + []])[0]'), ends: 'ends' },
  {
    name: 'pairs of pairs formatted',
    text: nested(".map(z, '%s'.format([z]))[0] == ''"),
    ends: 'stops',
  },
  {
    name: 'pairs of pairs flattened',
    text: nested('.map(z, z.flatten(100))[0].size() > 0'),
    ends: 'stops',
  },
  { name: 'pairs of pairs searched', text: nested('.map(z, z in [z + []])[0]'), ends: 'ends' },
  {
    name: 'distinct elements of a long list',
    text: 'self.l.distinct().size() > 0',
    self: () => ({ l: list(200_000, (at) => `a${at}`) }),
    ends: 'stops',
  },
  {
    name: 'long sets',
    text: 'sets.equivalent(self.l, self.l)',
    self: () => ({ l: list(200_000, (at) => at) }),
    ends: 'stops',
  },
  {
    name: 'all matches of a long text',
    text: "self.t.findAll('a').size() > 0",
    self: text(3_000_000),
    ends: 'stops',
  },
  {
    name: 'a pattern of many states',
    text: "self.t.matches('(a{1000}){1000}b')",
    self: text(1000),
    ends: 'rejected',
  },
  {
    name: 'a nested pattern',
    text: "self.t.matches('(a*)*b')",
    self: text(3_000_000),
    ends: 'ends',
  },
  {
    name: 'many patterns',
    text: 'self.l.exists(x, self.t.matches(x))',
    self: () => ({ t: times(30_000, 'a'), l: list(1000, (at) => `(a|b){500}c${at}`) }),
    ends: 'stops',
  },
  {
    name: 'a long number',
    text: "isQuantity('1' + self.t)",
    self: text(3_000_000, '0'),
    ends: 'ends',
  },
  {
    name: 'a deep object compared',
    text: '[self] == [[self]]',
    self: () => deepList(100_000),
    ends: 'stops',
  },
  {
    name: 'the size of a large map, often',
    text: 'self.l.all(x, self.m.size() > 0)',
    self: () => ({ l: list(100_000, () => 1), m: map(100_000) }),
    ends: 'ends',
  },
  {
    name: 'a large map in itself',
    text: 'self.m.all(k, self.m.all(j, self.m[j] >= 0))',
    self: () => ({ m: map(100_000) }),
    ends: 'stops',
  },
  {
    name: 'the size of a long text of two-byte characters, often',
    text: 'self.l.all(x, self.t.size() > 0)',
    self: () => ({ l: list(100_000, () => 1), t: times(500_000, '😀') }),
    ends: 'stops',
  },
  {
    name: 'long texts compared, often',
    text: 'self.l.all(x, self.t < self.u)',
    self: () => ({
      l: list(100_000, () => 1),
      t: times(500_000, 'a'),
      u: `${times(500_000, 'a')}b`,
    }),
    ends: 'stops',
  },
]
