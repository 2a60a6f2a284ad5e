import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailable } from '#storage/storage.ts'
import { createLog } from './log.ts'

const circle: { self?: unknown } = {}
circle.self = circle
const refusing = {
  toJSON() {
    throw new Error('not to be written')
  },
}
const cases: [name: string, fields: Record<string, unknown> | undefined, line: string][] = [
  ['no fields', undefined, ''],
  ['text in quotes', { path: '/a b', quote: '"' }, ' path="/a b" quote="\\""'],
  ['a line stays a line', { text: 'a\nb' }, ' text="a\\nb"'],
  ['numbers and lists', { code: 200, names: ['a'] }, ' code=200 names=["a"]'],
  ['nothing', { what: undefined, none: null }, ' what=undefined none=null'],
  [
    'a store in trouble, without a trace',
    { error: new StorageUnavailable('the disk is full') },
    ' error="the disk is full"',
  ],
  ['what cannot be written', { circle, refusing }, ' circle="…" refusing="…"'],
]
for (const [name, fields, expected] of cases) {
  test(`a line of the log: ${name}`, () => {
    const lines: string[] = []
    createLog(
      0,
      (line) => lines.push(line),
      () => 0,
    ).warn('said', fields)
    assert.deepEqual(lines, [`1970-01-01T00:00:00.000Z warn said${expected}\n`])
  })
}

test('a message stays on its line', () => {
  const lines: string[] = []
  createLog(
    0,
    (line) => lines.push(line),
    () => 0,
  ).warn('uid a\n1970-01-01T00:00:00.000Z error made up\u001b[2J')
  assert.deepEqual(lines, [
    '1970-01-01T00:00:00.000Z warn uid a\\n1970-01-01T00:00:00.000Z error made up\\u001b[2J\n',
  ])
})

test('lines in JSON', () => {
  const lines: string[] = []
  const log = createLog(
    0,
    (line) => lines.push(line),
    () => 1500,
    'json',
  )
  log.info('said "so"')
  for (const [, fields] of cases) log.error('said', fields)
  const [first, ...others] = lines.map((line) => JSON.parse(line))
  assert.deepEqual(first, { ts: 1500, level: 'info', msg: 'said "so"' })
  const stated = { ts: 1500, level: 'error', msg: 'said' }
  assert.deepEqual(others, [
    stated,
    { ...stated, path: '/a b', quote: '"' },
    { ...stated, text: 'a\nb' },
    { ...stated, code: 200, names: ['a'] },
    { ...stated, none: null },
    { ...stated, error: 'the disk is full' },
    { ...stated, circle: '…', refusing: '…' },
  ])
  assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1))
})

test('an error is logged with its stack', () => {
  let stated = ''
  const log = createLog(
    2,
    (line) => (stated += line),
    () => 0,
  )
  log.error('broken', { error: new Error('because') })
  assert.match(stated, /error broken error="Error: because\\n\s+at /)
  assert.equal(stated.split('\n').length, 2)
  assert.equal(log.verbosity, 2)
})
