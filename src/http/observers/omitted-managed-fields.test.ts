/** Removing managed fields changes nothing else of a recorded object. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutManagedFields } from './omitted-managed-fields.ts'

const owned = (name: string) => `{"metadata":{"name":"${name}","managedFields":[{"manager":"m"}]}}`
const plain = (name: string) => `{"metadata":{"name":"${name}"}}`

const rows: [what: string, text: string, expected: string][] = [
  ['an object', owned('a'), plain('a')],
  [
    'a list',
    `{"kind":"PodList","metadata":{},"items":[${owned('a')},${owned('b')}]}`,
    `{"kind":"PodList","metadata":{},"items":[${plain('a')},${plain('b')}]}`,
  ],
  [
    'a table',
    `{"kind":"Table","rows":[{"cells":[1],"object":${owned('a')}},{"cells":[2],"object":null}]}`,
    `{"kind":"Table","rows":[{"cells":[1],"object":${plain('a')}},{"cells":[2],"object":null}]}`,
  ],
  [
    'a field of the same name elsewhere',
    '{"spec":{"managedFields":1},"metadata":null}',
    '{"spec":{"managedFields":1},"metadata":null}',
  ],
  [
    'integers beyond doubles',
    '{"metadata":{"managedFields":[]},"n":9007199254740993}',
    '{"metadata":{},"n":9007199254740993}',
  ],
  ['an object without them', '{"metadata": {}}', '{"metadata": {}}'],
]
for (const [what, text, expected] of rows) {
  test(`omits the managed fields of ${what}`, () => {
    assert.equal(withoutManagedFields(text), expected)
  })
}
