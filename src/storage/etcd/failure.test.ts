/** Messages about an etcd that cannot be used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFailure } from './failure.ts'

const serviceError = (details: string) => Object.assign(new Error('x'), { code: 14, details })
const refused = 'connect ECONNREFUSED 127.0.0.1:2379'
const rows: [error: Error, words: string][] = [
  [
    serviceError(`No connection established. Last error: Error: ${refused}. Resolution note: `),
    `no connection: ${refused}`,
  ],
  [
    serviceError('Name resolution failed for target dns:a:1'),
    'Name resolution failed for target dns:a:1',
  ],
  [new Error('of another kind'), 'of another kind'],
]
for (const [error, words] of rows)
  test(words, () => {
    assert.equal(describeFailure(error, 'http://a'), `etcd (http://a) cannot be used: ${words}`)
  })
