import assert from 'node:assert/strict'
import test from 'node:test'
import type { Wire } from './exchange.ts'
import { untilReady } from './until-ready.ts'

/** What handles the request: the server, or the rejection. */
function answerTo(url: string, ready: boolean): string {
  let answer = ''
  const wire = {
    url,
    answer: (status: number, headers: Record<string, string>, body: Buffer) => {
      const { code, reason } = JSON.parse(body.toString())
      assert.deepEqual([code, reason, headers['retry-after']], [status, 'ServiceUnavailable', '1'])
      answer = `${status}`
    },
  }
  untilReady(
    () => (answer = 'served'),
    () => ready,
  )(wire as unknown as Wire)
  return answer
}

const rows: [url: string, starting: string][] = [
  ['/livez', 'served'],
  ['/livez?verbose', 'served'],
  ['/readyz/etcd', 'served'],
  ['/healthz', 'served'],
  ['/livezx', '503'],
  ['/api/v1/namespaces', '503'],
  ['/api/v1/livez', '503'],
  ['/', '503'],
  ['/metrics', '503'],
  ['//livez', '503'],
]
for (const [url, starting] of rows) {
  test(`${url} while the server starts: ${starting}`, () => {
    assert.deepEqual([answerTo(url, false), answerTo(url, true)], [starting, 'served'])
  })
}
