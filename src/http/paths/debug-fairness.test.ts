import assert from 'node:assert/strict'
import test from 'node:test'
import type { FlowControl } from '#observe/fairness/flow-control.ts'
import { debugFairnessPaths } from './debug-fairness.ts'

const { matches } = debugFairnessPaths({} as FlowControl, (ms) => ms)
const rows: [name: string, isDump: boolean][] = [
  ['dump_queues', true],
  ['dump_everything', false],
  ['constructor', false],
  ['__proto__', false],
  ['', false],
]
for (const [name, isDump] of rows) {
  test(`'${name}' is ${isDump ? 'a dump' : 'none'}`, () => {
    assert.equal(matches(`/debug/api_priority_and_fairness/${name}`), isDump)
  })
}
