/**
 * Sections 4.5 to 4.7 and 6 to 8 of the specification, sentence by sentence: watches, resource
 * versions, pages, limits.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { startServer } from './running-server.ts'
import { core, maps, type Row, specify, told, Wire } from './specification.fixture.ts'

interface Listed {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}
const namesOf = ({ items }: Listed) => items.map(({ metadata }) => metadata.name).join(' ')

/** Three objects with a label of their own; answers the version after each. */
async function three(on: Wire, label: string): Promise<[string, string, string]> {
  const make = (name: string) =>
    on.map(`${label}-${name}`, { metadata: { labels: { set: label } } })
  return [await make('a'), await make('b'), await make('c')]
}

const watches: Row[] = [
  [
    '4.5',
    'a watch is 200, in chunks, JSON, one event a line',
    async (on) => {
      const { answer, events } = await on.watch(`${core}/namespaces`)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers?.['transfer-encoding'], 'chunked')
      assert.equal(answer.headers?.['content-type'], 'application/json')
      assert.ok(events.length >= 4)
    },
  ],
  [
    '4.5',
    'it tells creations, updates and deletions after the version given, in their order',
    async (on) => {
      const [first] = await three(on, 'feed')
      await on.touch('feed-a', '1')
      await on.expect(200, 'DELETE', `${maps}/feed-b`)
      const { events } = await on.watch(`${maps}?labelSelector=set=feed&resourceVersion=${first}`)
      const expected = ['ADDED feed-b', 'ADDED feed-c', 'MODIFIED feed-a', 'DELETED feed-b']
      assert.deepEqual(told(events), expected)
    },
  ],
  [
    '4.5',
    'a client that was cut off goes on from the last version it saw, and misses nothing',
    async (on) => {
      let [from] = await three(on, 'resumed')
      const seen: string[] = []
      for (let i = 0; i < 3; i++) {
        const path = `${maps}?labelSelector=set=resumed&resourceVersion=${from}`
        const { events } = await on.watch(path)
        seen.push(...told(events))
        from = events.at(-1)?.object.metadata.resourceVersion ?? from
        await on.touch('resumed-a', String(i))
      }
      const expected = ['ADDED resumed-b', 'ADDED resumed-c']
      assert.deepEqual(seen, [...expected, 'MODIFIED resumed-a', 'MODIFIED resumed-a'])
    },
  ],
]

watches.push([
  '4.5',
  'a watch that asks for no time lasts',
  async (on) => {
    const { events, leave } = on.follow(`${maps}?fieldSelector=metadata.name=lasting`)
    await sleep(2500)
    await on.map('lasting')
    await until('the event', () => events.length > 0)
    leave()
    assert.deepEqual(told(events), ['ADDED lasting'])
  },
])
watches.push([
  '4.5',
  'a watch ends by itself after the seconds that were asked for, each after its own',
  async (on) => {
    const begun = Date.now()
    const ended: number[] = []
    await Promise.all(
      [3, 1].map(async (seconds) => {
        await on.watch(`${core}/namespaces`, seconds)
        ended.push(seconds)
        assert.ok(Date.now() - begun >= seconds * 1000 - 50, `${seconds} seconds`)
      }),
    )
    assert.deepEqual(ended, [1, 3])
  },
])

const gets: Row[] = [
  [
    '4.6, get',
    'unset: most recent; 0: any; a version: not older than that',
    async (on) => {
      const first = await on.map('got', { data: { value: '1' } })
      const second = await on.touch('got', '2')
      for (const query of ['', '?resourceVersion=0', `?resourceVersion=${first}`]) {
        const { body } = await on.expect(200, 'GET', `${maps}/got${query}`)
        assert.equal(body.metadata.resourceVersion, second, query)
      }
    },
  ],
  [
    '4.6, get',
    'a version that is yet to come is waited for, then 504 with Retry-After',
    async (on) => {
      const { body } = await on.expect(200, 'GET', maps)
      const far = Number(body.metadata.resourceVersion) + 1_000_000
      const begun = Date.now()
      for (const path of [`${maps}/none`, maps]) {
        const answer = await on.expect(504, 'GET', `${path}?resourceVersion=${far}`)
        assert.match(answer.body.message, /Too large resource version/)
        assert.ok(Number(answer.headers?.['retry-after']) >= 1)
      }
      // kube-apiserver does not say when to come back for a page.
      const page = `${maps}?limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=${far}`
      const { headers } = await on.expect(504, 'GET', page)
      assert.equal(headers?.['retry-after'], undefined)
      assert.ok(Date.now() - begun >= 2000)
    },
  ],
  [
    '4.6, get',
    'a version that comes while a request waits for it is answered',
    async (on) => {
      const now = Number(await on.map('awaited'))
      const asked = on.ask('GET', `${maps}/awaited?resourceVersion=${now + 3}`)
      for (let i = 0; i < 3; i++) await on.touch('awaited', String(i))
      const { status, body } = await asked
      assert.equal(status, 200)
      assert.ok(Number(body.metadata.resourceVersion) >= now)
    },
  ],
]

/**
 * `@2` is the version after the second object, `@now` at least the third's, `token` that of the
 * first page.
 */
type Cell = readonly [query: string, expected: string]
const listCells: Cell[] = [
  // resourceVersionMatch unset
  ['', 'a b c >=3'],
  ['resourceVersion=0', 'a b c any'],
  ['resourceVersion=@2', 'a b c >=2'],
  ['limit=2', 'a b >=3'],
  // Any, with a limit: kube-apiserver answers the whole from memory, as if there were none.
  ['limit=2&resourceVersion=0', 'a b c any'],
  ['limit=2&resourceVersion=@2', 'a b =2'],
  ['limit=1&resourceVersion=@2', 'a =2'],
  ['limit=2&continue=token', 'c =token'],
  ['limit=2&continue=token&resourceVersion=0', 'c =token'],
  ['limit=2&continue=token&resourceVersion=@2', '400'],
  // Exact
  ['resourceVersionMatch=Exact', '422'],
  ['resourceVersionMatch=Exact&resourceVersion=0', '422'],
  ['resourceVersionMatch=Exact&resourceVersion=@2', 'a b =2'],
  ['resourceVersionMatch=Exact&limit=1', '422'],
  ['resourceVersionMatch=Exact&limit=1&resourceVersion=0', '422'],
  ['resourceVersionMatch=Exact&limit=1&resourceVersion=@2', 'a =2'],
  // NotOlderThan
  ['resourceVersionMatch=NotOlderThan', '422'],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=0', 'a b c any'],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=@2', 'a b c >=2'],
  ['resourceVersionMatch=NotOlderThan&limit=2', '422'],
  ['resourceVersionMatch=NotOlderThan&limit=2&resourceVersion=0', 'a b c any'],
  ['resourceVersionMatch=NotOlderThan&limit=2&resourceVersion=@2', 'a b >=2'],
]

const lists: Row[] = [
  [
    '4.6, list',
    'every cell of the matrix',
    async (on) => {
      const space = `${core}/namespaces`
      await on.expect(201, 'POST', space, { metadata: { name: 'cells' } })
      const place = `${space}/cells/secrets`
      const versions: string[] = []
      for (const name of ['a', 'b', 'c']) {
        const { body } = await on.expect(201, 'POST', place, { metadata: { name } })
        versions.push(body.metadata.resourceVersion)
      }
      const select = 'fieldSelector=type=Opaque'
      const { body: page } = await on.expect(200, 'GET', `${place}?${select}&limit=2`)
      for (const [cell, expected] of listCells) {
        const query = cell.replace('@2', versions[1]).replace('token', page.metadata.continue)
        const { status, body } = await on.ask('GET', `${place}?${select}&${query}`)
        if (/^\d+$/.test(expected)) {
          assert.equal(String(status), expected, cell)
          continue
        }
        assert.equal(status, 200, `${cell}: ${JSON.stringify(body)}`)
        const names = expected.replace(/ \S+$/, '')
        const wanted = expected.slice(names.length + 1)
        assert.equal(namesOf(body), names, cell)
        const at = Number(body.metadata.resourceVersion)
        if (wanted === '=2') assert.equal(at, Number(versions[1]), cell)
        else if (wanted === '=token') assert.equal(at, Number(page.metadata.resourceVersion), cell)
        else if (wanted !== 'any')
          assert.ok(at >= Number(versions[Number(wanted.at(-1)) - 1]), cell)
      }
    },
  ],
  [
    '4.6, list',
    'the most recent includes what was written a moment ago, whoever asks',
    async (on) => {
      for (let i = 0; i < 20; i++) {
        const written = Number(await on.map(`fresh-${i}`, { metadata: { labels: { fresh: 'x' } } }))
        const { body } = await on.expect(200, 'GET', `${maps}?labelSelector=fresh`)
        assert.equal(body.items.length, i + 1)
        assert.ok(Number(body.metadata.resourceVersion) >= written)
      }
    },
  ],
]

const starts: Row[] = [
  [
    '4.6, watch',
    'unset: what exists comes as ADDED, then what happens',
    async (on) => {
      await three(on, 'state')
      const { events, leave } = on.follow(`${maps}?labelSelector=set=state`)
      await until('what exists', () => events.length === 3)
      await on.touch('state-b', '1')
      await until('what happens', () => events.length > 3)
      leave()
      const exist = ['ADDED state-a', 'ADDED state-b', 'ADDED state-c']
      assert.deepEqual(told(events), [...exist, 'MODIFIED state-b'])
    },
  ],
  [
    '4.6, watch',
    '0: the same, from any version',
    async (on) => {
      await three(on, 'any')
      const { events } = await on.watch(`${maps}?labelSelector=set=any&resourceVersion=0`)
      assert.deepEqual(told(events), ['ADDED any-a', 'ADDED any-b', 'ADDED any-c'])
    },
  ],
  [
    '4.6, watch',
    'a version: only what changed after it',
    async (on) => {
      const [, second, third] = await three(on, 'exact')
      const path = `${maps}?labelSelector=set=exact&resourceVersion=`
      const both = await Promise.all([on.watch(path + second), on.watch(path + third)])
      assert.deepEqual(
        both.map(({ events }) => told(events)),
        [['ADDED exact-c'], []],
      )
    },
  ],
  [
    '6.3',
    'a watch of a version that is yet to come waits, and tells what comes after that version',
    async (on) => {
      const now = Number(await on.map('future', { metadata: { labels: { future: 'x' } } }))
      const path = `${maps}?labelSelector=future&resourceVersion=${now + 1_000_000}`
      const { answer, events } = await on.watch(path)
      assert.deepEqual([answer.status, events], [200, []])
    },
  ],
]

const pages: Row[] = [
  [
    '4.7',
    'pages are of one snapshot: one version, and nothing that was written since',
    async (on) => {
      const place = `${core}/namespaces/kube-public/secrets`
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        await on.expect(201, 'POST', place, { metadata: { name, labels: { paged: 'x' } } })
      }
      const query = `${place}?labelSelector=paged&limit=2`
      let { body } = await on.expect(200, 'GET', query)
      const { resourceVersion } = body.metadata
      const seen = [namesOf(body)]
      await on.expect(201, 'POST', place, { metadata: { name: 'ab', labels: { paged: 'x' } } })
      await on.expect(200, 'DELETE', `${place}/d`)
      while ((body.metadata.continue ?? '') !== '') {
        body = (await on.expect(200, 'GET', `${query}&continue=${body.metadata.continue}`)).body
        assert.equal(body.metadata.resourceVersion, resourceVersion)
        seen.push(namesOf(body))
      }
      assert.deepEqual(seen, ['a b', 'c d', 'e'])
    },
  ],
  [
    '4.7',
    'a token is for the range it was made for',
    async (on) => {
      const { body } = await on.expect(200, 'GET', `${core}/namespaces?limit=1`)
      const token = JSON.parse(Buffer.from(body.metadata.continue, 'base64url').toString())
      const forged = Buffer.from(JSON.stringify({ ...token, start: '../secrets/x' }))
      const path = `${core}/namespaces?limit=1&continue=${forged.toString('base64url')}`
      await on.expect(400, 'GET', path)
    },
  ],
]

const events: Row[] = [
  [
    '6',
    'bookmarks come only to those who ask, and carry a version and nothing else',
    async (on) => {
      await on.map('marked')
      const path = `${maps}?fieldSelector=metadata.name=marked&resourceVersion=0`
      const [plain, marked] = await Promise.all([
        on.watch(path),
        on.watch(`${path}&allowWatchBookmarks=true`),
      ])
      assert.deepEqual(told(plain.events), ['ADDED marked'])
      const last = marked.events.at(-1)
      assert.equal(last?.type, 'BOOKMARK')
      const { kind, apiVersion, metadata, ...more } = last.object
      assert.deepEqual([kind, apiVersion, more], ['ConfigMap', 'v1', {}])
      const { creationTimestamp, ...version } = metadata
      assert.equal(creationTimestamp ?? null, null)
      assert.deepEqual(Object.keys(version), ['resourceVersion'])
      const own = Number(marked.events[0].object.metadata.resourceVersion)
      assert.ok(Number(version.resourceVersion) >= own)
    },
  ],
  [
    '6',
    'what enters a selection is ADDED, what leaves it DELETED, with the version of the change',
    async (on) => {
      const from = await on.map('moving')
      const label = (value: string | null) =>
        on.expect(200, 'PATCH', `${maps}/moving`, { metadata: { labels: { in: value } } }, patch)
      await label('yes')
      const { body } = await label(null)
      const { events } = await on.watch(`${maps}?labelSelector=in=yes&resourceVersion=${from}`)
      assert.deepEqual(told(events), ['ADDED moving', 'DELETED moving'])
      assert.equal(events[1].object.metadata.resourceVersion, body.metadata.resourceVersion)
    },
  ],
  [
    '6.1',
    'a deletion carries the object as it last was, with the version of its deletion',
    async (on) => {
      const from = await on.map('last', { data: { value: 'last' } })
      await on.expect(200, 'DELETE', `${maps}/last`)
      const path = `${maps}?fieldSelector=metadata.name=last&resourceVersion=${from}`
      const { events } = await on.watch(path)
      assert.deepEqual(told(events), ['DELETED last'])
      assert.deepEqual(events[0].object.data, { value: 'last' })
      assert.ok(Number(events[0].object.metadata.resourceVersion) > Number(from))
    },
  ],
]
const patch = { 'content-type': 'application/merge-patch+json' }

const errors: Row[] = [
  [
    '7',
    'every refusal is a Status with code, reason and message',
    async (on) => {
      const rows: [string, string, unknown, number, string][] = [
        ['GET', `${maps}/none`, undefined, 404, 'NotFound'],
        ['POST', maps, { metadata: { name: 'A B' } }, 422, 'Invalid'],
        ['POST', maps, 'text', 400, 'BadRequest'],
        ['PUT', maps, {}, 405, 'MethodNotAllowed'],
        ['GET', `${maps}?limit=1&continue=x`, undefined, 400, 'BadRequest'],
      ]
      for (const [method, path, sent, code, reason] of rows) {
        const { body } = await on.expect(code, method, path, sent)
        assert.deepEqual([body.kind, body.status, body.code], ['Status', 'Failure', code])
        assert.equal(body.reason, reason)
        assert.notEqual(body.message, '')
      }
    },
  ],
  [
    '7.3',
    'deprecated endpoints answer, with a warning',
    async (on) => {
      const path = '/apis/policy/v1beta1/podsecuritypolicies'
      const { headers } = await on.expect(200, 'GET', path)
      assert.match(
        String(headers?.warning),
        /^299 - "policy\/v1beta1 PodSecurityPolicy is deprecated/,
      )
      const { headers: none } = await on.expect(200, 'GET', maps)
      assert.equal(none?.warning, undefined)
    },
  ],
]

specify(
  'sections 4.5 to 4.7, 6 and 7',
  [],
  [...watches, ...gets, ...lists, ...starts, ...pages, ...events, ...errors],
)

/** History is kept a second here. */
const forgotten: Row[] = [
  [
    '4.6, 7, 8',
    'a list at a version that the store has forgotten is 410',
    async (on) => {
      const secrets = `${core}/namespaces/default/secrets`
      for (const name of ['a', 'b', 'c']) {
        await on.expect(201, 'POST', secrets, { metadata: { name } })
      }
      const { body: page } = await on.expect(200, 'GET', `${secrets}?limit=1`)
      const old = Number(page.metadata.resourceVersion) - 2
      let status = 200
      for (let i = 0; status === 200 && i < 600; i++) {
        await on.expect(201, 'POST', secrets, { metadata: { name: `more-${i}` } })
        const exact = `resourceVersionMatch=Exact&resourceVersion=${old}`
        status = (await on.ask('GET', `${secrets}?${exact}&limit=1`)).status
        await sleep(100)
      }
      assert.equal(status, 410)
      const { body } = await on.expect(410, 'GET', `${secrets}?limit=1&resourceVersion=${old}`)
      assert.equal(body.reason, 'Expired')
    },
  ],
  [
    '4.7.4',
    'an expired token is 410, with a token to go on without the snapshot',
    async (on) => {
      const place = `${core}/namespaces/kube-public/configmaps`
      for (const name of ['a', 'b']) await on.expect(201, 'POST', place, { metadata: { name } })
      const { body: page } = await on.expect(200, 'GET', `${place}?limit=1`)
      let answer = await on.ask('GET', `${place}?limit=1&continue=${page.metadata.continue}`)
      // Pictures of lists under way are kept as well: others push this one out.
      for (let i = 0; answer.status === 200 && i < 200; i++) {
        await on.expect(201, 'POST', place, { metadata: { name: `z-${i}` } })
        await on.expect(200, 'GET', `${core}/configmaps?limit=1`)
        await sleep(20)
        answer = await on.ask('GET', `${place}?limit=1&continue=${page.metadata.continue}`)
      }
      assert.equal(answer.status, 410)
      assert.equal(answer.body.reason, 'Expired')
      const onward = `${place}?limit=1&continue=${answer.body.metadata.continue}`
      const { body: next } = await on.expect(200, 'GET', onward)
      assert.equal(namesOf(next), 'b')
    },
  ],
]
specify(
  'sections 4.7, 7 and 8, with a short memory',
  ['--etcd-compaction-interval=500ms'],
  forgotten,
)

test('6.2, 8: a watch goes on over a restart as far as the store remembers, and is 410 beyond', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'binnacle-test-'))
  const start = async (...flags: string[]) =>
    new Wire(await startServer(['--storage-backend=sqlite', ...flags], join(scratch, 'data')))
  try {
    const first = await start()
    const from = await first.map('kept')
    await first.touch('kept', '1')
    await first.expect(200, 'DELETE', `${maps}/kept`)
    await first.server.stop()

    const path = `${maps}?fieldSelector=metadata.name=kept&resourceVersion=${from}`
    const second = await start()
    await second.map('later')
    const { events } = await second.watch(path)
    assert.deepEqual(told(events), ['MODIFIED kept', 'DELETED kept'])
    await second.server.stop()

    const third = await start('--etcd-compaction-interval=200ms')
    await until('what is old to be forgotten', async () => {
      const [first] = (await third.watch(path)).events
      return first?.type === 'ERROR'
    })
    const { answer, events: refused } = await third.watch(path)
    assert.equal(answer.status, 200)
    assert.deepEqual(told(refused), ['ERROR 410'])
    assert.equal(refused[0].object.reason, 'Expired')
    // Its client lists, and watches from there.
    const { body } = await third.expect(200, 'GET', maps)
    const again = await third.watch(`${maps}?resourceVersion=${body.metadata.resourceVersion}`)
    assert.ok(again.events.every(({ type }) => type !== 'ERROR'))
    await third.server.stop()
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
})
