import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entry } from './entry.ts'
import { LabelIndex } from './label-index.ts'

const entry = (name: string, labels?: Record<string, string>): Entry =>
  ({ key: `/things/${name}`, name, namespace: '', revision: 1, labels }) as unknown as Entry
const names = (found: Entry[]) =>
  found
    .map(({ name }) => name)
    .sort()
    .join(' ')

const tricky = JSON.parse('{"__proto__":"p","constructor":"c"}')

for (const { title, label, value, want } of [
  { title: 'one holder', label: 'tier', value: 'front', want: 'a' },
  { title: 'several holders', label: 'app', value: 'web', want: 'a b' },
  { title: 'a value that no object has', label: 'app', value: 'none', want: '' },
  { title: 'a label that no object has', label: 'none', value: 'web', want: '' },
  { title: 'an empty value is a value', label: 'empty', value: '', want: 'b' },
  { title: 'a name every object inherits', label: 'constructor', value: 'c', want: 'd' },
  { title: 'the name of the prototype', label: '__proto__', value: 'p', want: 'd' },
]) {
  test(`holders: ${title}`, () => {
    const all = [
      entry('a', { app: 'web', tier: 'front' }),
      entry('b', { app: 'web', empty: '' }),
      entry('c'),
      entry('d', tricky),
    ]
    assert.equal(names(new LabelIndex().holders(label, value, all)), want)
  })
}

test('after random changes the index equals a full scan', () => {
  let seed = 7
  const chance = (n: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
  }
  const index = new LabelIndex()
  const live = new Map<string, Entry>()
  for (let step = 0; step < 3000; step++) {
    const name = `o${chance(40)}`
    const previous = live.get(name)
    const labels = Object.fromEntries(
      Array.from({ length: chance(4) }, () => [`l${chance(12)}`, `v${chance(3)}`]),
    )
    const next = chance(4) === 0 ? undefined : entry(name, labels)
    if (next === undefined) live.delete(name)
    else live.set(name, next)
    index.replace(previous, next)
    const [label, value] = [`l${chance(12)}`, `v${chance(3)}`]
    const want = [...live.values()].filter(({ labels }) => labels?.[label] === value)
    assert.equal(
      names(index.holders(label, value, live.values())),
      names(want),
      `seed 7, step ${step}`,
    )
  }
})

test('an indexed label is scanned once; the least recently used label is evicted', () => {
  const index = new LabelIndex()
  const read: string[] = []
  const ask = (label: string) => {
    const all = {
      [Symbol.iterator]() {
        read.push(label)
        return [].values()
      },
    }
    index.holders(label, 'v', all)
  }
  for (const label of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) ask(label)
  read.length = 0
  for (const label of ['a', 'h', 'c', 'd', 'e', 'f', 'g']) ask(label)
  assert.deepEqual(read, [])
  for (const label of ['i', 'a', 'i', 'b', 'a', 'h']) ask(label)
  assert.deepEqual(read, ['i', 'b', 'h'])
})
