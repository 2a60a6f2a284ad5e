import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerHeaders } from './answer-headers.ts'
import type { Exchange } from '#http/exchange.ts'

const rows: [what: string, exchange: Partial<Exchange>, headers: object][] = [
  ['caches must revalidate', {}, { 'cache-control': 'no-cache, private' }],
  ['releases before 1.16 send no cache headers', { omitsCacheHeaders: true }, {}],
  [
    'each warning is sent once, quoted',
    { omitsCacheHeaders: true, warnings: ['a "b"', 'a "b"', 'c \\ d'] },
    { warning: ['299 - "a \\"b\\""', '299 - "c \\\\ d"'] },
  ],
  [
    'empty warnings, and those that no header can carry, are omitted',
    { omitsCacheHeaders: true, warnings: ['', 'a\nb', 'c\u0085', 'd'] },
    { warning: ['299 - "d"'] },
  ],
  [
    'what is not ASCII is written in UTF-8',
    { omitsCacheHeaders: true, warnings: ['ü'] },
    { warning: ['299 - "\u00c3\u00bc"'] },
  ],
  [
    'up to 4096 characters together, no warning is cut',
    { omitsCacheHeaders: true, warnings: ['a'.repeat(4000), 'b'.repeat(96)] },
    { warning: [`299 - "${'a'.repeat(4000)}"`, `299 - "${'b'.repeat(96)}"`] },
  ],
  [
    'above, each is cut to 256',
    { omitsCacheHeaders: true, warnings: ['a'.repeat(4000), 'b'.repeat(97)] },
    { warning: [`299 - "${'a'.repeat(256)}"`, `299 - "${'b'.repeat(97)}"`] },
  ],
  [
    'a character is one, however it is encoded',
    { omitsCacheHeaders: true, warnings: ['😀'.repeat(2049), 'b'] },
    { warning: [`299 - "${'\u00f0\u009f\u0098\u0080'.repeat(2049)}"`, '299 - "b"'] },
  ],
  [
    'the warning that exceeds the limit is still sent',
    { omitsCacheHeaders: true, warnings: [...'abcdefghijklmnopqr'].map((one) => one.repeat(256)) },
    { warning: [...'abcdefghijklmnopq'].map((one) => `299 - "${one.repeat(256)}"`) },
  ],
  [
    'and they end once they are 4096 again',
    {
      omitsCacheHeaders: true,
      warnings: Array.from({ length: 20 }, (_, i) => String(i).padEnd(300, '.')),
    },
    {
      warning: Array.from({ length: 16 }, (_, i) => `299 - "${String(i).padEnd(256, '.')}"`),
    },
  ],
]
test('before 1.22 only requests in the audit log have an audit ID', () => {
  const named = (record: Exchange['record']) =>
    'audit-id' in
    answerHeaders(
      { auditId: 'x', warnings: [], sendsAuditIdIfAudited: true, record } as unknown as Exchange,
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
    const reported = answerHeaders(
      { auditId: 'x', warnings: [], ...exchange } as Exchange,
      'text/a',
    )
    assert.deepEqual({ ...reported }, { 'audit-id': 'x', 'content-type': 'text/a', ...headers })
  })
}
