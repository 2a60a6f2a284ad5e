/** How long a request may take: as long as its client says, and the server's own limit allows. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AdmissionChain } from '#admission/chain.ts'
import { startServed } from './served.fixture.ts'

const served = await startServed({ limits: { requestTimeoutMs: 1500 } })
after(() => served.stop())
let deadlines: (number | undefined)[] = []
let waitMs = 0
const slow = {
  name: 'Slow',
  mutate: async ({ deadlineAt }: { deadlineAt?: number | undefined }) => {
    deadlines.push(deadlineAt)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  },
}
Object.assign(served.verbs.server, {
  admission: new AdmissionChain([slow], served.verbs.server.reader),
})

// The first write loads what all others find.
await served.verbs.create('configmaps', { metadata: { name: 'first' } })

const late = 'Timeout: request did not complete within the allotted timeout'
const place = '/api/v1/namespaces/default/configmaps'
const rows: [
  query: string,
  waits: number,
  status: number,
  told: string | undefined,
  asked: boolean,
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
for (const [i, [query, waits, status, told, asked]] of rows.entries()) {
  test(`a write '${query}' that takes ${waits} ms`, async () => {
    deadlines = []
    waitMs = waits
    const began = performance.now()
    const body = JSON.stringify({ metadata: { name: `m${i}` } })
    const headers = { 'content-type': 'application/json' }
    const answer = await served.ask('POST', `${place}${query}`, { body, headers })
    assert.deepEqual([answer.status, answer.json.message], [status, told])
    assert.deepEqual(
      deadlines.map((at) => at !== undefined && at > began),
      status === 400 ? [] : [asked],
    )
  })
}

test('a watch is not ended by it, whatever it says', async () => {
  const { status } = await served.ask('GET', `${place}?watch=true&timeout=x&timeoutSeconds=1`)
  assert.equal(status, 200)
})
