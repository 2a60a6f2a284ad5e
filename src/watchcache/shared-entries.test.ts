import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '#kinds/kind.ts'
import type { Entry } from './entry.ts'
import { SharedEntries } from './shared-entries.ts'

test('bytes are parsed once, and an entry is made once per resource and revision', () => {
  const shared = new SharedEntries()
  let parsed = 0
  const parse = shared.parser(() => ({ metadata: {}, parsed: ++parsed }) as never)
  const [bytes, others] = [Buffer.from('a'), Buffer.from('a')]
  assert.equal(parse(bytes), parse(bytes))
  assert.notEqual(parse(bytes), parse(others))
  let made = 0
  const makerOf = (resource: Resource) =>
    shared.maker(resource, {
      make: (key, revision) => ({ key, revision, made: ++made }) as unknown as Entry,
    })
  const [one, two] = [{}, {}] as Resource[] as [Resource, Resource]
  const first = makerOf(one).make('a', 1, bytes)
  assert.equal(makerOf(one).make('a', 1, bytes), first)
  assert.notEqual(makerOf(one).make('a', 2, bytes), first)
  assert.notEqual(makerOf(two).make('a', 1, bytes), first)
})
