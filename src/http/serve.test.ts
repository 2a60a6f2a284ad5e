/** The timeout of a request: the client's, within the server's own limit. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AdmissionChain } from '#admission/chain.ts'
import { until } from '#base/until.fixture.ts'
import type { Exchange, Wire } from './exchange.ts'
import type { HttpParts, Observer } from './parts.ts'
import { requestServer } from './serve.ts'
import { startServed } from './served.fixture.ts'

const served = await startServed({ limits: { requestTimeoutMs: 1500 } })
after(() => served.stop())
let deadlines: (number | undefined)[] = []
let waitMs = 0
let failsWhenLate = false
const slow = {
  name: 'Slow',
  mutate: async ({ deadlineAt }: { deadlineAt?: number | undefined }) => {
    deadlines.push(deadlineAt)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    if (!failsWhenLate || deadlineAt === undefined) return
    // No timer can fire meanwhile.
    while (performance.now() < deadlineAt);
    throw new Error('a call took too long')
  },
}
Object.assign(served.verbs.server, {
  admission: new AdmissionChain([slow], served.verbs.server.reader),
})

// The first write loads modules for all others.
await served.verbs.create('configmaps', { metadata: { name: 'first' } })

const late = 'Timeout: request did not complete within the allotted timeout'
const place = '/api/v1/namespaces/default/configmaps'
const rows: [
  query: string,
  waits: number,
  status: number,
  reported: string | undefined,
  requested: boolean,
][] = [
  ['', 0, 201, undefined, false],
  ['?timeout=1400ms', 0, 201, undefined, true],
  ['?timeout=300ms', 600, 504, late, true],
  ['?timeout=30s', 1800, 504, late, false],
  ['?timeout=0s', 0, 201, undefined, false],
  [
    '?timeout=x',
    0,
    400,
    'invalid timeout specified in the request URL - time: invalid duration "x"',
    false,
  ],
]
for (const [i, [query, waits, status, reported, requested]] of rows.entries()) {
  test(`a write '${query}' that takes ${waits} ms`, async () => {
    deadlines = []
    waitMs = waits
    const began = performance.now()
    const body = JSON.stringify({ metadata: { name: `m${i}` } })
    const headers = { 'content-type': 'application/json' }
    const answer = await served.ask('POST', `${place}${query}`, { body, headers })
    assert.deepEqual([answer.status, answer.json.message], [status, reported])
    assert.deepEqual(
      deadlines.map((at) => at !== undefined && at > began),
      status === 400 ? [] : [requested],
    )
  })
}

test('a failure caused by the timeout is reported as a timeout', async () => {
  waitMs = 0
  failsWhenLate = true
  const body = '{"metadata":{"generateName":"late-"}}'
  const answer = await served.ask('POST', `${place}?timeout=300ms`, { body })
  failsWhenLate = false
  const { kind, reason, message, code } = JSON.parse(answer.text)
  assert.deepEqual([kind, reason, message, code], ['Status', 'Timeout', late, 504])
})

/** Filters that exceed the timeout: slow authentication, or no free seat. */
const lateRows: [what: string, authenticateMs: number, placeMs: number, taken: number][] = [
  ['the user is known only then', 200, 0, 0],
  ['there is a place only then', 0, 200, 1],
]
for (const [what, authenticateMs, placeMs, wanted] of lateRows) {
  test(`a request that timed out stops and releases its seat: ${what}`, async () => {
    waitMs = 0
    deadlines = []
    let [taken, running, finished] = [0, 0, false]
    const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const takeSeat = (exchange: Exchange) => {
      taken++
      running++
      let isTaken = true
      exchange.seat = {
        headers: undefined,
        release() {
          if (isTaken) running--
          isTaken = false
        },
      }
      finished = true
    }
    const observer: Observer = {
      begin: (exchange) =>
        placeMs === 0 ? takeSeat(exchange) : after(placeMs).then(() => takeSeat(exchange)),
      end: (exchange) => exchange.seat?.release(),
    }
    const authenticate: HttpParts['authenticate'] = async (credentials) => {
      if (authenticateMs > 0) await after(authenticateMs)
      finished = authenticateMs > 0
      return served.parts.authenticate(credentials)
    }
    const parts = { ...served.parts, observers: [observer], authenticate }
    const body = '{"metadata":{"generateName":"never-"}}'
    const answer = await served.ask('POST', `${place}?timeout=50ms`, { body }, parts)
    assert.equal(answer.status, 504)
    await until('the filters to be done', () => finished)
    await after(50)
    assert.deepEqual([taken, running, deadlines], [wanted, 0, []])
  })
}

test('the timeout does not end a watch', async () => {
  const { status } = await served.ask('GET', `${place}?watch=true&timeout=x&timeoutSeconds=1`)
  assert.equal(status, 200)
})

/**
 * The end of a request as observers see it; the client reads its response whenever the test wants.
 */
function hesitant(method = 'GET') {
  const ended: string[] = []
  const parts = { ...served.parts, observers: [{ end: () => ended.push('ended') }] }
  const take = requestServer(parts as unknown as HttpParts)
  let close = () => {}
  let answered = () => {}
  const reported = {
    status: new Promise<number>((resolve) => {
      answered = () => resolve(200)
    }),
    ended,
    aborted: false,
    take: () => close(),
  }
  take({
    method,
    url: place,
    headers: {},
    separateHeaders: {},
    signal: new AbortController().signal,
    readBody: () => Buffer.from('{"metadata":{"generateName":"late-"}}'),
    answer: () => answered(),
    answerPieces: () => answered(),
    isWaiting: true,
    onClose: (listener: () => void) => {
      close = listener
    },
    abort: () => {
      reported.aborted = true
      close()
    },
  } as unknown as Wire)
  return reported
}

test('a request ends when its client has read the response', async () => {
  const client = hesitant()
  await client.status
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(client.ended, [])
  client.take()
  assert.deepEqual([client.ended, client.aborted], [['ended'], false])
})

test('an unread response is broken off at the timeout of its request', async () => {
  const client = hesitant()
  await until('the end', () => client.ended.length > 0)
  assert.deepEqual([client.ended, client.aborted], [['ended'], true])
})

test('an unread timeout error is broken off too', async () => {
  waitMs = 1800
  const client = hesitant('POST')
  await client.status
  assert.deepEqual([client.ended, client.aborted], [[], false])
  await until('the end', () => client.ended.length > 0)
  assert.deepEqual([client.ended, client.aborted], [['ended'], true])
})

test('if no response can be written, the connection is closed', async () => {
  const reports: string[] = []
  const parts = { ...served.parts, report: (words: string) => reports.push(words) }
  let aborted = 0
  const fault = () => {
    throw new RangeError('no such status')
  }
  requestServer(parts as unknown as HttpParts)({
    method: 'GET',
    url: place,
    headers: {},
    separateHeaders: {},
    signal: new AbortController().signal,
    answer: fault,
    answerPieces: fault,
    abort: () => aborted++,
  } as unknown as Wire)
  await until('the end', () => aborted > 0)
  assert.equal(aborted, 1)
  assert.equal(reports.at(-1), 'an answer could not be written')
})
