import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerHeaders } from './answer-headers.ts'
import type { Exchange } from './exchange.ts'

const rows: [what: string, exchange: Partial<Exchange>, headers: object][] = [
  ['caches are told to ask', {}, { 'cache-control': 'no-cache, private' }],
  ['releases before 1.16 tell them nothing', { isSilentToCaches: true }, {}],
  [
    'each warning is told once, quoted',
    { isSilentToCaches: true, warnings: ['a "b"', 'a "b"', 'c\n'] },
    { warning: ['299 - "a \\"b\\""', '299 - "c "'] },
  ],
]
test('before 1.22 a request is named where the audit log hears of it', () => {
  const named = (record: Exchange['record']) =>
    'audit-id' in
    answerHeaders(
      { auditId: 'x', warnings: [], tellsOnlyAudited: true, record } as unknown as Exchange,
      'text/a',
    )
  assert.deepEqual([undefined, { isKept: false }, { isKept: true }].map(named), [
    false,
    false,
    true,
  ])
})

for (const [what, exchange, headers] of rows) {
  test(what, () => {
    const told = answerHeaders({ auditId: 'x', warnings: [], ...exchange } as Exchange, 'text/a')
    assert.deepEqual({ ...told }, { 'audit-id': 'x', 'content-type': 'text/a', ...headers })
  })
}
