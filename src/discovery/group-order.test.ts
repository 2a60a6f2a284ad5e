import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderedGroups, priorities } from './group-order.ts'
import { facts, kindsOfRelease } from './kinds-of-facts.suite.ts'

// registered group versions with their priorities, groups and versions in order
const rows: [Record<string, { group: number; version: number }>, string[]][] = [
  [{}, ['apps v1', 'batch v1,v1beta1', 'a v1', 'b v1,v1beta1']],
  [
    { 'b/v1': { group: 99_999, version: 1 }, 'b/v1beta1': { group: 1, version: 2 } },
    ['b v1beta1,v1', 'apps v1', 'batch v1,v1beta1', 'a v1'],
  ],
  [
    { 'apps/v1': { group: 1, version: 1 }, 'batch/v1': { group: 17_400, version: 0 } },
    ['batch v1beta1,v1', 'a v1', 'b v1,v1beta1', 'apps v1'],
  ],
]
for (const [registered, expected] of rows) {
  test(`groups and versions with ${JSON.stringify(registered)}`, () => {
    const own = kindsOfRelease(22).filter(({ group }) => group === 'apps' || group === 'batch')
    const more = ['a/v1', 'b/v1beta1', 'b/v1'].map((key) => {
      const [group = '', version = ''] = key.split('/')
      return { group, version }
    })
    const priorityOf = priorities(facts, 22, (group, version) => registered[`${group}/${version}`])
    const shown = [...orderedGroups([...own, ...more], priorityOf)]
    assert.deepEqual(
      shown.map(([group, versions]) => `${group} ${versions.join()}`),
      expected,
    )
  })
}
