import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { form, internalDiff, internalJson, named } from './internal-form.ts'

const inner = form({ Name: 'text' })
const outer = form({
  PDName: 'text',
  NFS: inner,
  Lun: 'number',
  ReadOnly: 'flag',
  WWIDs: named('wwids', 'any'),
  Resources: { inline: inner },
  Items: { list: inner },
})

const rows: [value: object, json: string][] = [
  [
    {},
    '{"PDName":"","NFS":null,"Lun":0,"ReadOnly":false,"WWIDs":null,"Resources":{"Name":""},"Items":null}',
  ],
  [
    {
      pdName: '<a>',
      nfs: {},
      lun: 1,
      readOnly: true,
      wwids: ['w'],
      resources: { name: 'r' },
      items: [{ name: 'i' }],
    },
    '{"PDName":"\\u003ca\\u003e","NFS":{"Name":""},"Lun":1,"ReadOnly":true,"WWIDs":["w"],"Resources":{"Name":"r"},"Items":[{"Name":"i"}]}',
  ],
]
for (const [value, json] of rows) test(json, () => assert.equal(internalJson(outer, value), json))

test('differences are shown over several lines', () => {
  const shape = form({ Limits: 'any', Options: 'any', Name: 'text' })
  const diff = internalDiff(
    shape,
    { limits: { cpu: '1' }, options: {} },
    { options: {}, name: '"' },
  )
  const lines = [
    '@@ -1,7 +1,5 @@',
    ' {',
    '- "Limits": {',
    '-  "cpu": "1"',
    '- },',
    '+ "Limits": null,',
    '  "Options": {},',
    '- "Name": ""',
    '+ "Name": "\\""',
    ' }',
  ]
  assert.deepEqual(diff.slice(0, -1).split('\n'), lines)
})

test('lists and maps that a client wrote empty are empty, others null', () => {
  const shape = form({ Modes: 'values', Limits: 'map', Items: { list: form({ Name: 'text' }) } })
  const written: Loose = { modes: null }
  assert.equal(internalJson(shape, written), '{"Modes":null,"Limits":null,"Items":null}')
  for (const name of ['modes', 'limits', 'items']) rememberEmpty(written, name)
  assert.equal(internalJson(shape, written), '{"Modes":[],"Limits":{},"Items":[]}')
})
