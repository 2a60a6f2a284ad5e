/** Which durations the audit log has in each release, and from which duration on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Exchange } from '#http/exchange.ts'
import { annotateLatency } from './latency-annotations.ts'

const steps = { authenticationMs: 1.5, authorizationMs: 0.25, impersonationMs: 2, queuedMs: 300 }

/** `total=1.5s`, without the prefix of the names. */
function annotated(release: number, tookMs: number, measured: Partial<Exchange> = steps): string[] {
  const auditAnnotations = new Map<string, string>()
  annotateLatency({ auditAnnotations, ...measured } as Exchange, tookMs, releaseOf(release))
  return [...auditAnnotations].map(([name, text]) => {
    assert.ok(name.startsWith('apiserver.latency.k8s.io/'))
    return `${name.split('/')[1]}=${text}`
  })
}

const total = 'total=1.25s'
const queued = [total, 'apf-queue-wait=300ms']
const access = [...queued, 'authentication=1.5ms', 'authorization=250\u00b5s']
checkBoundaries<number, string[]>(annotated, [
  ['total', [23, 24], 1250, [], [total]],
  ['queue', [30, 31], 1250, [total], queued],
  ['access', [32, 33], 1250, queued, access],
  ['impersonation', [35, 36], 1250, access, [...access, 'impersonation=2ms']],
])

test('only slow requests are annotated, and only with steps that they had', () => {
  assert.deepEqual(annotated(37, 500), [])
  const none = { authenticationMs: 0, authorizationMs: 0, impersonationMs: 0, queuedMs: 0 }
  assert.deepEqual(annotated(37, 500.5, none), ['total=500.5ms'])
})
