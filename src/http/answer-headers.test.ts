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
for (const [what, exchange, headers] of rows) {
  test(what, () => {
    const told = answerHeaders({ auditId: 'x', warnings: [], ...exchange } as Exchange, 'text/a')
    assert.deepEqual({ ...told }, { 'audit-id': 'x', 'content-type': 'text/a', ...headers })
  })
}
