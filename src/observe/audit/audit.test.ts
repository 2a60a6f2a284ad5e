import assert from 'node:assert/strict'
import fs, {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { until } from '#base/until.fixture.ts'
import { BatchingSink, type BatchingOptions } from './batching-sink.ts'
import { BlockingSink } from './blocking-sink.ts'
import { type AuditEvent, eventJson, legacyLine, microTime } from './event.ts'
import { LogSink } from './log-sink.ts'
import { type AuditedRequest, type AuditVersion, type Policy, readPolicy } from './policy.ts'
import type { RecordWriter } from './sink.ts'
import { TruncatingSink } from './truncating-sink.ts'
import { WebhookSink } from './webhook-sink.ts'

const newest = releaseOf(37)
const policyOf = (...rules: Loose[]) =>
  readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }, newest)
const request: AuditedRequest = {
  user: { name: 'joe', groups: ['dev'] },
  verb: 'get',
  isResource: true,
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
  path: '/api/v1/namespaces/a/pods/p',
}
const other = {
  ...request,
  isResource: false,
  path: '/healthz/etcd',
  resource: '',
  namespace: '',
  name: '',
}

const matching: [string, Loose, AuditedRequest, boolean][] = [
  ['everything', {}, request, true],
  ['a user', { users: ['joe'] }, request, true],
  ['another user', { users: ['eve'] }, request, false],
  ['a group', { userGroups: ['dev'] }, request, true],
  ['another group', { userGroups: ['ops'] }, request, false],
  ['a verb', { verbs: ['get'] }, request, true],
  ['another verb', { verbs: ['list'] }, request, false],
  ['a namespace', { namespaces: ['a'] }, request, true],
  ['another namespace', { namespaces: ['b'] }, request, false],
  ['no namespace for others', { namespaces: [''] }, other, false],
  ['a resource', { resources: [{ group: '', resources: ['pods'] }] }, request, true],
  ['a group of resources', { resources: [{ group: '' }] }, request, true],
  ['another group of resources', { resources: [{ group: 'apps' }] }, request, false],
  [
    'a name',
    { resources: [{ group: '', resources: ['pods'], resourceNames: ['p'] }] },
    request,
    true,
  ],
  [
    'another name',
    { resources: [{ group: '', resources: ['pods'], resourceNames: ['q'] }] },
    request,
    false,
  ],
  [
    'not its subresource',
    { resources: [{ group: '', resources: ['pods'] }] },
    { ...request, subresource: 'log' },
    false,
  ],
  [
    'the subresource',
    { resources: [{ group: '', resources: ['pods/log'] }] },
    { ...request, subresource: 'log' },
    true,
  ],
  [
    'every subresource',
    { resources: [{ group: '', resources: ['pods/*'] }] },
    { ...request, subresource: 'log' },
    true,
  ],
  [
    'the resource itself with its subresources',
    { resources: [{ group: '', resources: ['pods/*'] }] },
    request,
    true,
  ],
  [
    'a subresource of anything',
    { resources: [{ group: '', resources: ['*/log'] }] },
    { ...request, subresource: 'log' },
    true,
  ],
  [
    'all resources',
    { resources: [{ group: '', resources: ['*'] }] },
    { ...request, subresource: 'log' },
    true,
  ],
  ['a path', { nonResourceURLs: ['/healthz/etcd'] }, other, true],
  ['paths below', { nonResourceURLs: ['/healthz*'] }, other, true],
  ['other paths', { nonResourceURLs: ['/healthz'] }, other, false],
  ['paths are not resources', { nonResourceURLs: ['*'] }, request, false],
]
for (const [what, rule, requested, expected] of matching) {
  test(`a rule for ${what}`, () => {
    const policy = policyOf({ level: 'Metadata', ...rule }) as Policy
    assert.equal(policy.decide(requested).level, expected ? 'Metadata' : 'None')
  })
}

test('the first matching rule decides, and omitted stages are combined', () => {
  const policy = readPolicy(
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: 'Request', users: ['joe'], omitStages: ['Panic'] }, { level: 'Metadata' }],
    },
    newest,
  ) as Policy
  const { level, omitted } = policy.decide(request)
  assert.deepEqual([level, [...omitted]], ['Request', ['RequestReceived', 'Panic']])
})

const bad: [unknown, RegExp][] = [
  [{ kind: 'Policy' }, /unknown group version field , Kind=Policy in policy; known is Policy of /],
  [{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy' }, /0 rules/],
  [
    { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{}] },
    /rules\[0\]\.level: Required value/,
  ],
  [
    { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'All' }] },
    /Unsupported value: "All"/,
  ],
  [
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      rules: [{ level: 'None', omitStages: ['x'] }],
    },
    /allowed stages are/,
  ],
  [
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      rules: [{ level: 'None', nonResourceURLs: ['x*y'] }],
    },
    /must begin with a '\/'.*final character/,
  ],
  [
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      rules: [{ level: 'None', nonResourceURLs: ['*'], namespaces: ['a'] }],
    },
    /cannot apply to both/,
  ],
]
const texts = 'Invalid value: must be a list of texts'
const misshapen: [rule: unknown, problem: string][] = [
  ['x', 'rules: Invalid value: must be a list of objects'],
  [null, 'rules: Invalid value: must be a list of objects'],
  [{ users: 'admin' }, `rules[0].users: ${texts}`],
  [{ users: [1] }, `rules[0].users: ${texts}`],
  [{ userGroups: 'dev', verbs: {} }, `rules[0].userGroups: ${texts}, rules[0].verbs: ${texts}`],
  [{ nonResourceURLs: '/x' }, `rules[0].nonResourceURLs: ${texts}`],
  [{ omitStages: 'Panic' }, `rules[0].omitStages: ${texts}`],
  [{ resources: 'pods' }, 'rules[0].resources: Invalid value: must be a list of objects'],
  [{ resources: [{ resources: 'pods' }] }, `rules[0].resources[0].resources: ${texts}`],
  [{ resources: [{ group: 1 }] }, `rules[0].resources[0].group: ${texts}`],
]
for (const [rule, problem] of misshapen)
  test(`a policy with the rule ${JSON.stringify(rule)} is refused`, () => {
    const rules = [typeof rule === 'object' && rule !== null ? { level: 'None', ...rule } : rule]
    const read = readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }, newest)
    assert.ok('problems' in read)
    assert.equal(read.problems.join(', '), problem)
  })

for (const [value, problem] of bad) {
  test(`the policy ${JSON.stringify(value)} is refused`, () => {
    const read = readPolicy(value, newest)
    assert.ok('problems' in read)
    assert.match(read.problems.join(', '), problem)
  })
}

const event: AuditEvent = {
  level: 'Request',
  auditID: 'id',
  stage: 'ResponseComplete',
  requestURI: '/api',
  verb: 'get',
  user: { username: 'joe', groups: ['a', 'b'] },
  sourceIPs: ['10.0.0.1'],
  responseStatus: { metadata: {}, code: 200 },
  requestObject: '{"x":1}',
  requestReceivedAtMs: 1000.5,
  stageAtMs: 2000.25,
  annotations: { a: 'b' },
}

test('an event as JSON and as a line', () => {
  assert.deepEqual(JSON.parse(eventJson(event)), {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Request',
    auditID: 'id',
    stage: 'ResponseComplete',
    requestURI: '/api',
    verb: 'get',
    user: { username: 'joe', groups: ['a', 'b'] },
    sourceIPs: ['10.0.0.1'],
    responseStatus: { metadata: {}, code: 200 },
    requestObject: { x: 1 },
    requestReceivedTimestamp: '1970-01-01T00:00:01.000500Z',
    stageTimestamp: '1970-01-01T00:00:02.000250Z',
    annotations: { a: 'b' },
  })
  assert.match(
    legacyLine(event),
    / AUDIT: id="id" stage="ResponseComplete" ip="10\.0\.0\.1" method="get" user="joe" groups="\\"a\\",\\"b\\"" as="<self>" asgroups="<lookup>" .* response="200"$/,
  )
  assert.equal(microTime(0), '1970-01-01T00:00:00.000000Z')
})

const scale = {
  resource: 'deployments',
  namespace: 'a',
  name: 'n',
  apiGroup: 'apps',
  apiVersion: 'v1',
  subresource: 'scale',
}
const versions: [version: AuditVersion, beginning: string, reference: string][] = [
  [
    'audit.k8s.io/v1',
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"id",',
    '"name":"n","apiGroup":"apps","apiVersion":"v1","subresource":"scale"}',
  ],
  [
    'audit.k8s.io/v1beta1',
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1beta1","metadata":{"creationTimestamp":"1970-01-01T00:00:01Z"},"level":"Request","timestamp":"1970-01-01T00:00:01Z","auditID":"id",',
    '"name":"n","apiGroup":"apps","apiVersion":"v1","subresource":"scale"}',
  ],
  [
    'audit.k8s.io/v1alpha1',
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1alpha1","metadata":{"creationTimestamp":"1970-01-01T00:00:01Z"},"level":"Request","timestamp":"1970-01-01T00:00:01Z","auditID":"id",',
    '"name":"n","apiVersion":"apps/v1","subresource":"scale"}',
  ],
]
for (const [version, beginning, reference] of versions)
  test(`an event of ${version}`, () => {
    const text = eventJson({ ...event, objectRef: scale }, version)
    assert.ok(text.startsWith(beginning), text)
    assert.ok(text.includes(reference), text)
  })

for (const writesAtOnce of [false, true])
  test(`the log is rotated by size and deleted by number; dropped events are counted${writesAtOnce ? ', unless nothing waits' : ''}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'))
    try {
      let now = Date.parse('2021-01-01T00:00:00Z')
      const lost: number[] = []
      const path = join(folder, 'audit.log')
      const sink = new LogSink({
        path,
        format: ({ auditID }) => auditID.padEnd(99, '.'),
        sizeBytesMax: 250,
        backupsMax: 2,
        ageMsMax: 0,
        now: () => (now += 1000),
        lost: (_plugin, count) => lost.push(count),
        waitingBytesMax: 1000,
        writesAtOnce,
      })
      for (let i = 0; i < 12; i++) void sink.write([{ ...event, auditID: String(i) }])
      await sink.close()
      assert.deepEqual(lost, writesAtOnce ? [] : [1, 1])
      const files = readdirSync(folder).sort()
      assert.equal(files.length, 3, files.join(' '))
      assert.match(files[0], /^audit-2021-01-01T00-00-\d\d\.000\.log$/)
      assert.ok(
        readFileSync(path, 'utf8')
          .trimEnd()
          .split('\n')
          .at(-1)
          ?.startsWith(writesAtOnce ? '11.' : '9.'),
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

test('a rotated file is compressed and counted, even if another process rotated it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    let now = Date.parse('2021-01-01T00:00:00Z')
    const earlier = ['audit-2020-01-01T00-00-00.000.log.gz', 'audit-2020-01-01T00-00-01.000.log']
    for (const name of [...earlier, 'audit-notes.log']) writeFileSync(join(folder, name), 'old')
    const sink = new LogSink({
      path: join(folder, 'audit.log'),
      format: ({ auditID }) => auditID.padEnd(99, '.'),
      sizeBytesMax: 250,
      backupsMax: 3,
      ageMsMax: 0,
      compresses: true,
      now: () => (now += 1000),
      lost: () => assert.fail('nothing is lost'),
    })
    for (let i = 0; i < 8; i++) void sink.write([{ ...event, auditID: String(i) }])
    await sink.close()
    const files = readdirSync(folder).sort()
    assert.deepEqual(files, [
      'audit-2020-01-01T00-00-01.000.log.gz',
      'audit-2021-01-01T00-00-01.000.log.gz',
      'audit-2021-01-01T00-00-02.000.log.gz',
      'audit-notes.log',
      'audit.log',
    ])
    const aside = files.slice(1, 3).map((name) => join(folder, name))
    const [first, second] = aside.map((path) => gunzipSync(readFileSync(path)).toString())
    assert.match(first, /^0\.+\n1\.+\n/)
    assert.equal(statSync(aside[0]).mode & 0o777, 0o600)
    assert.equal((first + second + readFileSync(join(folder, 'audit.log'))).split('\n').length, 9)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('events during the closing of a log are written or lost, and never written to a closed file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'))
  const path = join(folder, 'audit.log')
  // The file is long enough that other events arrive during its compression.
  writeFileSync(path, `${'x'.repeat(16 << 20)}\n`)
  const lost: string[] = []
  const sink = new LogSink({
    path,
    format: ({ auditID }) => auditID,
    sizeBytesMax: 8 << 20,
    backupsMax: 0,
    ageMsMax: 0,
    compresses: true,
    now: Date.now,
    lost: (_plugin, _count, why) => lost.push(why),
  })
  try {
    let [taken, isOpen] = [0, true]
    const writing = async () => {
      for (; isOpen; taken++) isOpen = (await sink.write([{ ...event, auditID: 'one' }])) && isOpen
    }
    const writers = [writing(), writing(), writing()]
    while (taken === 0) await new Promise(setImmediate)
    await sink.close()
    await Promise.all(writers)
    assert.deepEqual([...new Set(lost)], ['the log is closed'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const large: AuditEvent = {
  ...event,
  requestObject: JSON.stringify('x'.repeat(1000)),
  annotations: { z: '1' },
}
const { requestObject: _, ...bare } = large
const cutAnnotations = { 'audit.k8s.io/truncated': 'true', z: '1' }
const bytes = (one: AuditEvent) => eventJson(one).length + 1

const cuts: [what: string, event: AuditEvent, bytesMax: number, taken: AuditEvent | undefined][] = [
  ['small enough', large, bytes(large), large],
  ['too large', large, bytes(large) - 1, { ...bare, annotations: cutAnnotations }],
  ['too large in any case', large, 100, undefined],
  ['too large without objects', { ...large, level: 'Metadata' }, 500, undefined],
]
for (const [what, given, bytesMax, taken] of cuts)
  test(`a record that is ${what}`, () => {
    const found: AuditEvent[] = []
    const lost: unknown[] = []
    const inner = { take: (one: AuditEvent) => void found.push(one), close: async () => {} }
    const sink = new TruncatingSink(inner, 'audit.k8s.io/v1', bytesMax, (...words) => {
      lost.push(words)
    })
    sink.take(given)
    assert.deepEqual(found, taken === undefined ? [] : [taken])
    assert.deepEqual(
      lost,
      taken === undefined ? [['truncate', 1, 'event is too large even after truncating']] : [],
    )
    if (taken !== undefined) assert.equal(eventJson(found[0]), eventJson(taken))
  })

test('a log whose directory cannot be created is rejected', () => {
  const options = { format: eventJson, sizeBytesMax: 1, backupsMax: 0, ageMsMax: 0 }
  assert.throws(
    () => new LogSink({ ...options, path: '/proc/nowhere/audit.log', now: () => 0, lost() {} }),
    /ENOENT/,
  )
})

for (const writesAtOnce of [true, false]) {
  const how = writesAtOnce ? 'at once' : 'together'
  test(`an incomplete line on a full disk does not affect the next, written ${how}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'))
    try {
      const path = join(folder, 'audit.log')
      writeFileSync(path, '{"killed":')
      const lost: string[] = []
      const sink = new LogSink({
        path,
        format: ({ auditID }) => JSON.stringify(auditID),
        sizeBytesMax: 1000,
        backupsMax: 0,
        ageMsMax: 0,
        now: () => 0,
        lost: (_plugin, _count, why) => lost.push(why),
        writesAtOnce,
      })
      const { write, writeSync } = fs
      let room = 15
      const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
      const take = (length: number) => Math.min(length, room)
      t.mock.method(fs, 'writeSync', (file: number, bytes: Buffer, at: number) => {
        if (room === 0) throw full
        const count = writeSync(file, bytes, at, take(bytes.length - at))
        room -= count
        return count
      })
      t.mock.method(fs, 'write', (...args: Parameters<typeof write>) => {
        const [file, bytes, at, length, , done] = args as never as [
          number,
          Buffer,
          number,
          number,
          null,
          (error: Error | null, count: number) => void,
        ]
        if (room === 0) return void done(full, 0)
        const count = take(length)
        room -= count
        write(file, bytes, at, count, null, done)
      })
      syncBuiltinESMExports()
      for (const auditID of ['first', 'second']) await sink.write([{ ...event, auditID }])
      room = 1000
      await sink.write([{ ...event, auditID: 'third' }])
      await sink.close()
      assert.deepEqual(lost, ['full'])
      assert.equal(readFileSync(path, 'utf8'), '{"killed":\n"first"\n"secon\n"third"\n')
    } finally {
      t.mock.restoreAll()
      syncBuiltinESMExports()
      rmSync(folder, { recursive: true })
    }
  })
}

test('a log that cannot be rotated continues later, and never in a file of others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    const path = join(folder, 'audit.log')
    const lost: number[] = []
    const sink = new LogSink({
      path,
      format: ({ auditID }) => auditID,
      sizeBytesMax: 2,
      backupsMax: 0,
      ageMsMax: 0,
      now: () => Date.parse('2021-01-01T00:00:00Z'),
      lost: (_plugin, count) => lost.push(count),
    })
    const take = async (auditID: string, isDone: () => boolean) => {
      void sink.write([{ ...event, auditID }])
      while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const isWritten = (text: string) => () => readFileSync(path, 'utf8') === text
    const aside = join(folder, 'audit-2021-01-01T00-00-00.000.log')
    mkdirSync(join(aside, 'in the way'), { recursive: true })
    await take('a', isWritten('a\n'))
    await take('b', () => lost.length === 1)
    const others = join(folder, 'others')
    const descriptor = openSync(others, 'w')
    await take('c', () => lost.length === 2)
    assert.deepEqual(lost, [1, 1])
    assert.equal(readFileSync(others, 'utf8'), '')
    rmSync(aside, { recursive: true })
    await take('d', isWritten('d\n'))
    await sink.close()
    closeSync(descriptor)
    assert.deepEqual(lost, [1, 1])
    assert.deepEqual([readFileSync(aside, 'utf8'), readFileSync(path, 'utf8')], ['a\n', 'd\n'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

for (const writesAtOnce of [false, true])
  test(`a log that another process moved away is created again when it has grown${writesAtOnce ? ', line by line too' : ''}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'))
    try {
      const [path, moved] = [join(folder, 'audit.log'), join(folder, 'moved')]
      const sink = new LogSink({
        path,
        format: ({ auditID }) => auditID,
        sizeBytesMax: 4,
        backupsMax: 0,
        ageMsMax: 0,
        now: () => Date.parse('2021-01-01T00:00:00Z'),
        lost: (_plugin, _count, why) => assert.fail(why),
        writesAtOnce,
      })
      await sink.write([{ ...event, auditID: 'a' }])
      renameSync(path, moved)
      for (const auditID of ['b', 'c', 'd']) await sink.write([{ ...event, auditID }])
      await sink.close()
      assert.deepEqual(
        [readFileSync(moved, 'utf8'), readFileSync(path, 'utf8')],
        ['a\nb\n', 'c\nd\n'],
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

/** Records batches and lost events; `write` decides whether a batch succeeds. */
function batched(options: Partial<BatchingOptions>, write: RecordWriter['write']) {
  const lost: [string, number][] = []
  const sink = new BatchingSink(
    { write, close: async () => {} },
    {
      bufferMax: 3,
      batchMax: 2,
      waitMsMax: 60_000,
      throttle: undefined,
      underWayMax: 10,
      lost: (plugin, count) => lost.push([plugin, count]),
      monotonicMs: () => performance.now(),
      ...options,
    },
  )
  return { lost, sink }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const batchings: [
  what: string,
  options: Partial<BatchingOptions>,
  records: number,
  /**
   * The number of events in each started batch, before the first ended and when the sink is closed.
   */
  begun: number[],
  all: number[],
  lost: number,
][] = [
  ['full batches are sent at once', {}, 4, [2, 2], [2, 2], 0],
  ['an incomplete batch is sent at the end', {}, 3, [2], [2, 1], 0],
  ['one a batch', { batchMax: 1 }, 3, [1, 1, 1], [1, 1, 1], 0],
  ['one after the other', { batchMax: 1, underWayMax: 1 }, 3, [1], [1, 1, 1], 0],
  ['more than may wait', { underWayMax: 1 }, 9, [2], [2, 2, 2, 1], 2],
  ['so many at once', { throttle: { perSecond: 0.01, burst: 2 } }, 8, [2, 2], [2, 2, 2, 2], 0],
  ['so many a second', { throttle: { perSecond: 0.01, burst: 1 } }, 8, [2], [2, 2, 2, 1], 1],
]
for (const [what, options, records, begun, all, lostCount] of batchings)
  test(`batches: ${what}`, async () => {
    const sizes: number[] = []
    const gate = Promise.withResolvers<boolean>()
    const { lost, sink } = batched(options, async (events) => {
      sizes.push(events.length)
      return gate.promise
    })
    for (let i = 0; i < records; i++) sink.take(event)
    await settled()
    assert.deepEqual(sizes, begun)
    const closed = sink.close()
    gate.resolve(true)
    await closed
    assert.deepEqual(sizes, all)
    assert.deepEqual(
      lost,
      Array.from({ length: lostCount }, () => ['buffered', 1]),
    )
  })

test('a batch waits only for its turn', async () => {
  let nowMs = 0
  const sizes: number[] = []
  const throttle = { perSecond: 100, burst: 1 }
  const options = { throttle, monotonicMs: () => nowMs, bufferMax: 9 }
  const { sink } = batched(options, async (events) => sizes.push(events.length) > 0)
  for (let i = 0; i < 4; i++) sink.take(event)
  await settled()
  assert.deepEqual(sizes, [2])
  nowMs = 10
  await until('the next turn', () => sizes.length === 2)
})

const modes: [isStrict: boolean, isKept: boolean, reported: boolean][] = [
  [false, true, true],
  [false, false, true],
  [true, true, true],
  [true, false, false],
]
for (const [isStrict, isKept, reported] of modes)
  test(`a record that is ${isKept ? '' : 'not '}kept, ${isStrict ? 'strictly' : 'loosely'}`, async () => {
    const sink = new BlockingSink({ write: async () => isKept, close: async () => {} }, isStrict)
    assert.equal(await sink.take(event), reported)
  })

test('the webhook gets batches, is retried, and loses events that do not fit', async () => {
  const bodies: string[] = []
  const lost: [string, number][] = []
  let failures = 1
  const writer = new WebhookSink({
    async post(body) {
      if (failures-- > 0) throw new Error('away')
      bodies.push(body)
    },
    version: 'audit.k8s.io/v1beta1',
    firstDelayMs: 1,
    random: () => 0,
    lost: (plugin, count) => lost.push([plugin, count]),
  })
  assert.equal(await writer.write([event, event]), true)
  const [list] = bodies.map((body) => JSON.parse(body))
  assert.deepEqual(
    [list.items.length, list.kind, list.apiVersion, list.items[0].timestamp],
    [2, 'EventList', 'audit.k8s.io/v1beta1', '1970-01-01T00:00:01Z'],
  )
  failures = 9
  assert.equal(await writer.write([event]), false)
  assert.deepEqual([failures, lost], [4, [['webhook', 1]]])
})

test('at the end, waiting retries are sent at once', async () => {
  const bodies: string[] = []
  let failures = 1
  const writer = new WebhookSink({
    async post(body) {
      if (failures-- > 0) throw new Error('away')
      bodies.push(body)
    },
    version: 'audit.k8s.io/v1',
    firstDelayMs: 60_000,
    random: () => 0,
    lost: () => assert.fail('nothing is lost'),
  })
  const written = writer.write([event])
  await settled()
  writer.hurry()
  assert.equal(await written, true)
  assert.equal(bodies.length, 1)
})

test('retried batches leave nothing in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const alive = setInterval(() => {}, 1000)
  const sink = new WebhookSink({
    post: async () => {
      throw new Error('away')
    },
    version: 'audit.k8s.io/v1',
    firstDelayMs: 0,
    lost() {},
    random: () => 0,
  })
  const usedAfter = async (batches: number) => {
    await Promise.all(Array.from({ length: batches }, () => sink.write([])))
    await new Promise(setImmediate)
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  await usedAfter(2500)
  const before = await usedAfter(2500)
  const grownBytes = (await usedAfter(2500)) - before
  clearInterval(alive)
  assert.ok(grownBytes < 1_000_000, `${grownBytes} bytes`)
})
