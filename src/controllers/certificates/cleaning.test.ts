/**
 * Which requests are deleted, and that one that cannot be keeps no other; how long they are kept is
 * certificates.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { conflict, internalError, notFound } from '#api/status-error.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { certificateCleaning } from './cleaning.ts'

const now = Date.parse('2024-01-03T00:00:00Z')
const named = { group: 'certificates.k8s.io', plural: 'certificatesigningrequests' }
const request = (name: string, creationTimestamp: string): KubeObject => ({
  metadata: { name, uid: `uid of ${name}`, creationTimestamp },
})
const old = (name: string) => request(name, '2024-01-01T00:00:00Z')

const rows: [name: string, failure: Error | undefined, complaints: number][] = [
  ['expired requests are deleted, with their uid as precondition', undefined, 0],
  ['a request that is already deleted is no failure', notFound(named, 'a'), 0],
  ['one that is another by now is left to itself', conflict(named, 'a', 'uid'), 0],
  ['a failed deletion is reported', internalError('no'), 1],
]
for (const [name, failure, complaints] of rows) {
  test(name, async () => {
    const stopping = new AbortController()
    const deleted: string[] = []
    const reports: string[] = []
    const requests = [old('a'), request('young', '2024-01-02T12:00:00Z'), old('b')]
    certificateCleaning.start({
      client: {
        async delete(_resource: unknown, _namespace: string, name: string, query: { uid: string }) {
          deleted.push(`${name}: ${query.uid}`)
          if (name === 'a' && failure) throw failure
        },
      },
      informers: {
        certificateRequests: () => ({ synced: Promise.resolve(), values: () => requests.values() }),
      },
      clock: { now: () => now },
      release: 22,
      signal: stopping.signal,
      report: (message: string) => reports.push(message),
    } as unknown as ControllerParts)
    for (let i = 0; i < 3; i++) await new Promise(setImmediate)
    stopping.abort()
    assert.deepEqual(deleted, ['a: uid of a', 'b: uid of b'])
    assert.equal(reports.length, complaints, String(reports))
  })
}
