/** The verbosity can be changed at run time and has an effect, and profiles can be taken. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requestLog } from '#http/observers/request-log.ts'
import { startServed } from '#http/served.fixture.ts'
import { createLog } from '#observe/log.ts'
import { debugFlagsPaths } from './debug-flags.ts'
import { debugProfilesPaths } from './debug-profiles.ts'

const lines: string[] = []
const log = createLog(
  0,
  (line) => lines.push(line),
  () => 0,
)
const served = await startServed({ paths: [debugFlagsPaths(log), debugProfilesPaths()] })
;(served.parts.observers as unknown[]).push(requestLog(log, () => performance.now()))
after(() => served.stop())

const cases: [method: string, body: string, status: number, answer: string, verbosity: number][] = [
  ['PUT', '3', 200, 'successfully set klog.logging.verbosity to 3', 3],
  ['PUT', '+4', 200, 'successfully set klog.logging.verbosity to +4', 4],
  ['PUT', '-1', 200, 'successfully set klog.logging.verbosity to -1', -1],
  [
    'PUT',
    '',
    400,
    'failed set klog.logging.verbosity : strconv.ParseInt: parsing "": invalid syntax',
    0,
  ],
  [
    'PUT',
    '1.5',
    400,
    'failed set klog.logging.verbosity 1.5: strconv.ParseInt: parsing "1.5": invalid syntax',
    0,
  ],
  [
    'PUT',
    '9223372036854775808',
    400,
    'failed set klog.logging.verbosity 9223372036854775808: strconv.ParseInt: parsing "9223372036854775808": value out of range',
    0,
  ],
  ['GET', '', 406, 'unsupported http method', 0],
  ['POST', '2', 406, 'unsupported http method', 0],
]
for (const [method, body, status, answer, verbosity] of cases) {
  test(`${method} /debug/flags/v ${JSON.stringify(body)}: ${status}`, async () => {
    log.verbosity = 0
    const answered = await served.ask(method, '/debug/flags/v', { body })
    assert.deepEqual([answered.status, answered.text], [status, `${answer}\n`])
    assert.equal(answered.headers['content-type'], 'text/plain')
    assert.equal(log.verbosity, verbosity)
  })
}

const verbosities: [verbosity: number, stated: RegExp | undefined][] = [
  [0, undefined],
  [1, undefined],
  [
    2,
    /^\S+ info request auditId="audit" verb="GET" uri="\/api\/v1\/nodes\/n\?pretty=0" status=404 .* from="127.0.0.1"\n$/,
  ],
  [
    4,
    /auditId="audit" .* user="admin" groups=\["system:masters"\] refusal="nodes \\"n\\" not found"\n$/,
  ],
]
for (const [verbosity, stated] of verbosities) {
  test(`at ${verbosity} a request is logged: ${stated !== undefined}`, async () => {
    log.verbosity = verbosity
    lines.length = 0
    await served.ask('GET', '/api/v1/nodes/n?pretty=0')
    await new Promise((resolve) => setImmediate(resolve))
    if (stated === undefined) assert.deepEqual(lines, [])
    else assert.match(lines.join(''), stated)
    log.verbosity = 0
  })
}

const profiles: [path: string, status: number, body: RegExp][] = [
  ['/debug/pprof', 302, /^$/],
  ['/debug/pprof/', 200, /profile\?seconds=30 .*\nheap/],
  ['/debug/pprof/goroutine', 404, /^Unknown profile\n$/],
  ['/debug/pprof/constructor', 404, /^Unknown profile\n$/],
  ['/debug/pprof/profile?seconds=0', 400, /^seconds must be/],
  ['/debug/pprof/profile?seconds=x', 400, /^seconds must be/],
  ['/debug/pprof/heap?seconds=301', 400, /^seconds must be/],
  ['/debug/pprof/profile?seconds=0.05', 200, /^\{"nodes":\[.*"startTime":\d+,"endTime":\d+/],
  ['/debug/pprof/heap?seconds=0.05', 200, /^\{"head":\{"callFrame":/],
  ['/debug/flags', 200, /<title>\/debug\/flags\/<\/title>/],
  ['/debug/flags/other', 200, /<title>\/debug\/flags\/<\/title>/],
]
for (const [path, status, body] of profiles) {
  test(`GET ${path}: ${status}`, async () => {
    const answered = await served.ask('GET', path)
    assert.equal(answered.status, status)
    assert.match(answered.text, body)
  })
}

test('one profile at a time, and none for a client that has disconnected', async () => {
  const leaving = new AbortController()
  const path = '/debug/pprof/profile?seconds=100'
  const first = served.ask('GET', path, { signal: leaving.signal })
  assert.equal((await served.ask('GET', path)).status, 500)
  await new Promise((resolve) => setTimeout(resolve, 50))
  leaving.abort()
  await first
  assert.equal((await served.ask('GET', '/debug/pprof/profile?seconds=0.01')).status, 200)
})
