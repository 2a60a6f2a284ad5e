/**
 * Sections 2.7, 2.8, 4.8 and 4.9 of the specification, sentence by sentence: who owns which field,
 * apply, and dry runs.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { judge, type Said, say, type Wanted } from './conversation.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'
import { core, maps, type Row, specify, type Wire } from './specification.fixture.ts'

const group = 'owned.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const pods = `${core}/namespaces/default/pods`
const claim = `${core}/namespaces/default/persistentvolumeclaims`

/** The steps of a row, about one config map: how, as whom, what it says, what comes of it. */
type Step = [how: Said['method'], as: string, says: object | undefined, wanted?: Wanted]

const bodyOf = (name: string, how: Said['method'], says: object | undefined): unknown => {
  if (says === undefined || how === 'merge' || how === 'strategic' || how === 'json') return says
  const { metadata = {}, ...rest } = says as { metadata?: object }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...rest }
}

const talk =
  (name: string, ...steps: Step[]) =>
  async ({ server }: Wire): Promise<void> => {
    for (const [method, as, says, wanted = {}] of steps) {
      const path = method === 'POST' ? maps : `${maps}/${name}`
      const answer = await say(server, { method, path, as, body: bodyOf(name, method, says) })
      judge(answer, wanted, `${method} as ${as}`)
    }
  }

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/**
 * A custom kind whose spec has one field of a schema, or that has no schema; answers how to apply
 * to an object of it.
 */
async function defined({ server }: Wire, plural: string, field: object | undefined) {
  const kind = plural[0]?.toUpperCase() + plural.slice(1)
  const properties = { spec: { type: 'object', properties: { f: field } } }
  const openAPIV3Schema = field === undefined ? free : { type: 'object', properties }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const made = await server.ask('POST', definitions, {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Cluster', names: { plural, kind }, versions },
  })
  const list = `/apis/${group}/v1/${plural}`
  for (let i = 0; i < 2000 && made.status === 201; i++) {
    if ((await server.ask('GET', list)).status === 200) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const apply = async (as: string, f: unknown, wanted: Wanted) => {
    const body = { apiVersion: `${group}/v1`, kind, metadata: { name: 't' }, spec: { f } }
    judge(await say(server, { method: 'apply', path: `${list}/t`, as, body }), wanted, as)
  }
  return { made, apply }
}

const text = { type: 'string' }
const item = { type: 'object', required: ['k'], properties: { k: text, a: text, b: text } }
const keyed = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: item,
}

/** As a client may write it. */
const fieldsV1 = { 'f:data': {} }
const entry = {
  manager: 'x',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
}

const entries: Row[] = [
  [
    '2.7',
    'an entry has manager, operation, apiVersion, time, fieldsType and a tree of f: keys whose leaves are empty',
    async (on) => {
      await talk('entry', ['apply', 'one', { data: { a: '1' } }, { status: 201 }])(on)
      await talk('entry', ['merge', 'two', { data: { b: '1' } }])(on)
      const { body } = await on.expect(200, 'GET', `${maps}/entry`)
      const shown = body.metadata.managedFields.map(({ time, ...rest }: { time: string }) => {
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        return rest
      })
      const common = { apiVersion: 'v1', fieldsType: 'FieldsV1' }
      assert.deepEqual(shown, [
        {
          ...common,
          manager: 'one',
          operation: 'Apply',
          fieldsV1: { 'f:data': { 'f:a': {} } },
        },
        {
          ...common,
          manager: 'two',
          operation: 'Update',
          fieldsV1: { 'f:data': { 'f:b': {} } },
        },
      ])
    },
  ],
  [
    '2.7',
    'the server maintains them: what makes no sense when users write it counts as not written',
    talk(
      'senseless',
      ['POST', 'one', { data: { a: '1' } }, { status: 201 }],
      [
        'merge',
        'two',
        { metadata: { managedFields: [{ manager: 'x', operation: 'Delete' }] } },
        { owners: ['one Update data data.a'] },
      ],
      [
        'merge',
        'two',
        { metadata: { managedFields: [{ ...entry, manager: 'x'.repeat(129) }] } },
        {
          status: 422,
          message: /managedFields\[0\]\.manager: Too long: must have at most 128 bytes/,
        },
      ],
      ['GET', '', undefined, { owners: ['one Update data data.a'] }],
    ),
  ],
]

const markers: Row[] = [
  [
    '2.8',
    'other values of the markers than there are are refused',
    async (on) => {
      const rows: [string, object, RegExp][] = [
        [
          'wronglists',
          { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' },
          /x-kubernetes-list-type: (Unsupported|Invalid) value: "bag"/,
        ],
        [
          'wrongmaps',
          {
            type: 'object',
            additionalProperties: text,
            'x-kubernetes-map-type': 'loose',
          },
          /x-kubernetes-map-type: (Unsupported|Invalid) value: "loose"/,
        ],
        [
          'wrongkeys',
          {
            ...keyed,
            items: { ...item, properties: { k: { type: 'object' } } },
          },
          /must be a scalar type/,
        ],
        ['keyless', { ...keyed, 'x-kubernetes-list-map-keys': undefined }, /list-map-keys/],
      ]
      for (const [plural, field, words] of rows) {
        const { made } = await defined(on, plural, field)
        assert.equal(made.status, 422, plural)
        assert.match(made.body.message, words)
      }
    },
  ],
  [
    '2.8',
    'a set is of unique scalars, each with owners of its own',
    async (on) => {
      const field = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }
      const { apply } = await defined(on, 'sets', field)
      await apply('one', ['a', 'a'], { status: 500, message: /duplicate entries for key \[="a"\]/ })
      await apply('one', ['a'], { status: 201 })
      await apply('two', ['b'], {
        has: { 'spec.f': ['a', 'b'] },
        owners: ['one Apply spec.f["a"]', 'two Apply spec.f["b"]'],
      })
    },
  ],
  [
    '2.8',
    'a list of type map has unique keys, and items with owners of their own',
    async (on) => {
      const { apply } = await defined(on, 'keyeds', keyed)
      await apply('one', [{ k: 'x' }, { k: 'x' }], {
        status: 500,
        message: /duplicate entries for key \[k="x"\]/,
      })
      await apply('one', [{ k: 'x', a: '1' }], { status: 201 })
      await apply('two', [{ k: 'x', b: '1' }, { k: 'y' }], {
        has: { 'spec.f': [{ k: 'x', a: '1', b: '1' }, { k: 'y' }] },
      })
      await apply('two', [{ k: 'x', a: '2' }], {
        status: 409,
        causes: ['FieldManagerConflict .spec.f[k="x"].a: conflict with "one"'],
      })
    },
  ],
  [
    '2.8',
    'an atomic list is replaced and owned whole, and all that is in it',
    async (on) => {
      const field = { type: 'array', items: keyed, 'x-kubernetes-list-type': 'atomic' }
      const { apply } = await defined(on, 'atomics', field)
      await apply('one', [[{ k: 'x' }]], { status: 201, owners: ['one Apply spec.f'] })
      await apply('two', [[{ k: 'y' }]], {
        status: 409,
        causes: ['FieldManagerConflict .spec.f: conflict with "one"'],
      })
      await apply('one', [[{ k: 'z' }]], { has: { 'spec.f': [[{ k: 'z' }]] } })
    },
  ],
  [
    '2.8',
    'a map or struct is owned by its fields, or whole where it is atomic',
    async (on) => {
      const dict = { type: 'object', additionalProperties: text }
      const struct = { type: 'object', properties: { a: text, b: text } }
      const rows: [string, object, shared: boolean][] = [
        ['dicts', dict, true],
        ['granulars', { ...dict, 'x-kubernetes-map-type': 'granular' }, true],
        ['wholes', { ...dict, 'x-kubernetes-map-type': 'atomic' }, false],
        ['structs', struct, true],
        ['wholestructs', { ...struct, 'x-kubernetes-map-type': 'atomic' }, false],
      ]
      for (const [plural, field, shared] of rows) {
        const { apply } = await defined(on, plural, field)
        await apply('one', { a: '1' }, { status: 201 })
        await apply(
          'two',
          { b: '1' },
          shared
            ? { has: { 'spec.f': { a: '1', b: '1' } } }
            : { status: 409, causes: ['FieldManagerConflict .spec.f: conflict with "one"'] },
        )
      }
    },
  ],
  [
    '2.8',
    'a list that only says how it is patched is a list of type map with the merge key',
    async ({ server }) => {
      const pod = (containers: object[]) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'merged' },
        spec: { containers, automountServiceAccountToken: false },
      })
      const path = `${pods}/merged`
      const volumes = [{ name: 'v', emptyDir: {} }]
      const made = { ...pod([{ name: 'c', image: 'i' }]) }
      const whole = { ...made, spec: { ...made.spec, volumes } }
      judge(
        await say(server, { method: 'apply', path, as: 'one', body: whole }),
        { status: 201 },
        '',
      )
      const { body } = await say(server, { method: 'GET', path })
      const spec = body.metadata.managedFields[0].fieldsV1['f:spec']
      assert.deepEqual(Object.keys(spec['f:volumes']), ['k:{"name":"v"}'])
      assert.deepEqual(Object.keys(spec['f:containers']), ['k:{"name":"c"}'])
    },
  ],
  [
    '2.8',
    'without a schema all keys are fields and all lists atomic',
    async (on) => {
      const { apply } = await defined(on, 'frees', undefined)
      await apply(
        'one',
        { a: { b: [{ name: 'x' }] } },
        { status: 201, owners: ['one Apply spec spec.f spec.f.a spec.f.a.b'] },
      )
      await apply('two', { a: { c: 1 } }, { has: { 'spec.f.a': { b: [{ name: 'x' }], c: 1 } } })
      await apply(
        'two',
        { a: { b: [{ name: 'y' }] } },
        { status: 409, causes: ['FieldManagerConflict .spec.f.a.b: conflict with "one"'] },
      )
    },
  ],
]

const patchType = 'application/apply-patch+yaml'

const apply: Row[] = [
  [
    '4.9.1',
    'apply is a PATCH of its own type on the path of an object, in YAML or JSON, without managedFields',
    async (on) => {
      const yaml = Buffer.from(
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: in-yaml\ndata:\n  a: "1"\n',
      )
      const path = `${maps}/in-yaml?fieldManager=one`
      const type = { 'content-type': patchType }
      const { body } = await on.expect(201, 'PATCH', path, yaml, type)
      assert.deepEqual(body.data, { a: '1' })
      await on.expect(405, 'PATCH', `${maps}?fieldManager=one`, yaml, type)
      const managed = { metadata: { managedFields: [{}] } }
      await talk('in-yaml', [
        'apply',
        'one',
        managed,
        { status: 400, message: 'metadata.managedFields must be nil' },
      ])(on)
    },
  ],
  [
    '4.9.2',
    'a manager is required for apply alone; others have the name of their client',
    async (on) => {
      await talk('managerless', [
        'apply',
        '',
        {},
        { status: 422, message: /fieldManager: Required value: is required for apply patch/ },
      ])(on)
      const agent = { 'user-agent': 'client-of-mine/v1.2 (linux)' }
      const sent = { metadata: { name: 'managerless' }, data: { a: '1' } }
      const { body } = await on.expect(201, 'POST', maps, sent, agent)
      assert.equal(body.metadata.managedFields[0].manager, 'client-of-mine')
    },
  ],
  [
    '4.9.2',
    'the object is made where it is absent, and merged where it is there, what is applied first',
    talk(
      'merged',
      ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
      ['merge', 'one', { data: { b: '1' } }],
      ['force', 'one', { data: { a: '2' } }, { has: { data: { a: '2', b: '1' } } }],
    ),
  ],
  [
    '4.9.3',
    'what was applied before and is left out goes, unless another owns it; fields with a default get it back',
    async (on) => {
      await talk(
        'left-out',
        ['apply', 'one', { data: { a: '1', b: '1' } }, { status: 201 }],
        ['apply', 'two', { data: { b: '1' } }],
        ['apply', 'one', {}, { has: { data: { b: '1' } }, owners: ['two Apply data.b'] }],
      )(on)
      const body = (spec: object) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'defaulted' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
          ...spec,
        },
      })
      const said = { method: 'apply', path: `${claim}/defaulted`, as: 'one' } as const
      const block = { ...said, body: body({ volumeMode: 'Filesystem' }) }
      judge(await say(on.server, block), { status: 201 }, 'made')
      const without = { ...said, body: body({}) }
      judge(await say(on.server, without), { has: { 'spec.volumeMode': 'Filesystem' } }, 'left out')
    },
  ],
  [
    '4.9.4',
    'the last who says a value owns it; the same value is shared; updates fail on no conflict',
    async (on) => {
      const first: Step = ['apply', 'one', { data: { a: '1' } }, { status: 201 }]
      const ways: [name: string, Step][] = [
        ['by-put', ['PUT', 'two', { data: { a: '2' } }]],
        ['by-merge', ['merge', 'two', { data: { a: '2' } }]],
        ['by-strategic', ['strategic', 'two', { data: { a: '2' } }]],
        ['by-json', ['json', 'two', [{ op: 'replace', path: '/data/a', value: '2' }]]],
      ]
      for (const [name, [how, as, says]] of ways) {
        await talk(name, first, [how, as, says, { owners: ['two Update data.a'] }])(on)
      }
      await talk('by-apply', first, [
        'apply',
        'two',
        { data: { a: '1' } },
        { owners: ['one Apply data.a', 'two Apply data.a'] },
      ])(on)
    },
  ],
  [
    '4.9.5',
    'a conflict is 409, and is resolved by force, by leaving the field out, or by the live value',
    talk(
      'resolved',
      ['apply', 'one', { data: { a: '1', b: '1', c: '1' } }, { status: 201 }],
      [
        'apply',
        'two',
        { data: { a: '2', b: '2', c: '2' } },
        { status: 409, message: /Apply failed with 3 conflicts/ },
      ],
      ['force', 'two', { data: { a: '2' } }, { has: { 'data.a': '2' } }],
      ['apply', 'two', { data: { a: '2', c: '1' } }],
      [
        'apply',
        'one',
        { data: { b: '1', c: '1' } },
        {
          has: { data: { a: '2', b: '1', c: '1' } },
          owners: ['one Apply data.b data.c', 'two Apply data.a data.c'],
        },
      ],
    ),
  ],
  [
    '4.9.6',
    'a controller needs neither read nor version, and cannot remove what it never applied',
    talk(
      'controlled',
      ['POST', 'user', { data: { a: '1', b: '1' } }, { status: 201 }],
      ['force', 'controller', { data: { b: '2' } }],
      [
        'force',
        'controller',
        {},
        { has: { data: { a: '1' } }, owners: ['user Update data data.a'] },
      ],
    ),
  ],
  [
    '4.9.7',
    'a manager that owns nothing goes by itself',
    talk(
      'handed-over',
      ['apply', 'user', { data: { a: '1', b: '1' } }, { status: 201 }],
      ['apply', 'temporary', { data: { b: '1' } }],
      ['apply', 'user', { data: { a: '1' } }, { has: { 'data.b': '1' } }],
      ['force', 'controller', { data: { b: '2' } }],
      [
        'GET',
        '',
        undefined,
        { owners: ['controller Apply data.b', 'user Apply data.a'], has: { 'data.b': '2' } },
      ],
    ),
  ],
  ...(['merge', 'json', 'strategic', 'PUT'] as const).map((how): Row => {
    const write = (managedFields: unknown): object =>
      how === 'json'
        ? [{ op: 'replace', path: '/metadata/managedFields', value: managedFields }]
        : { metadata: { managedFields }, ...(how === 'PUT' && { data: { a: '1' } }) }
    return [
      '4.9.9',
      `one empty entry by ${how} strips all owners, and an empty list does not`,
      talk(
        `stripped-by-${how.toLowerCase()}`,
        ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
        [how, 'two', write([]), { owners: ['one Apply data.a'] }],
        [how, 'two', write([{}]), { owners: [] }],
      ),
    ]
  }),
  [
    '4.9.9',
    'a reset comes before what else the write changes, which its writer owns',
    talk(
      'stripped-and-changed',
      ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
      [
        'merge',
        'two',
        { metadata: { managedFields: [{}] }, data: { b: '1' } },
        { owners: ['two Update data.b'] },
      ],
    ),
  ],
  [
    '4.9.10',
    'what is written through a subresource of another type is not tracked there',
    async (on) => {
      const sent = {
        metadata: { name: 'elsewhere' },
        spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
      }
      const { body: made } = await on.expect(201, 'POST', pods, sent)
      const binding = { metadata: { name: 'elsewhere' }, target: { kind: 'Node', name: 'n' } }
      await on.expect(201, 'POST', `${pods}/elsewhere/binding?fieldManager=binder`, binding)
      const { body } = await on.expect(200, 'GET', `${pods}/elsewhere`)
      assert.equal(body.spec.nodeName, 'n')
      assert.deepEqual(body.metadata.managedFields, made.metadata.managedFields)
    },
  ],
  [
    '4.9.11',
    'the owners of every new object are tracked',
    async (on) => {
      const spaces = `${core}/namespaces`
      const { body } = await on.expect(201, 'POST', `${spaces}?fieldManager=one`, {
        metadata: { name: 'tracked', labels: { a: 'b' } },
      })
      assert.equal(body.metadata.managedFields[0].manager, 'one')
    },
  ],
  [
    '4.9.12',
    'by the name of the command-line tool owners go over from client-side apply; by another they conflict',
    async (on) => {
      const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
      const last = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
      const metadata = { annotations: { [annotation]: last } }
      const made: Step = [
        'POST',
        'kubectl-client-side-apply',
        { metadata, data: { a: '1', b: '1' } },
        { status: 201 },
      ]
      const conflict: Wanted = { status: 409, message: /"kubectl-client-side-apply" using v1/ }
      await talk(
        'upgraded',
        made,
        ['apply', 'other', { data: { a: '2' } }, conflict],
        ['apply', 'kubectl', { data: { b: '2' } }, conflict],
        ['apply', 'kubectl', { data: { a: '2' } }, { has: { 'data.a': '2', 'data.b': '1' } }],
      )(on)
      const { body } = await on.expect(200, 'GET', `${maps}/upgraded`)
      assert.equal(JSON.parse(body.metadata.annotations[annotation]).data.a, '2')
    },
  ],
]

const races: Row[] = [
  [
    '4.9.6, patches',
    'patches that race are all done; those that name a version are told of the race',
    async (on) => {
      const version = await on.map('raced')
      const all = Array.from({ length: 20 }, (_, i) => i)
      const patch = (data: object, resourceVersion?: string) =>
        say(on.server, {
          method: 'merge',
          path: `${maps}/raced`,
          body: { data, ...(resourceVersion && { metadata: { resourceVersion } }) },
        })
      const named = await Promise.all(all.map((i) => patch({ named: String(i) }, version)))
      const codes = named.map(({ status }) => status).sort()
      assert.deepEqual(codes, [200, ...all.slice(1).map(() => 409)])
      const free = await Promise.all(all.map((i) => patch({ [`k${i}`]: 'v' })))
      assert.ok(free.every(({ status }) => status === 200))
      const { body } = await on.expect(200, 'GET', `${maps}/raced`)
      assert.equal(Object.keys(body.data).length, 21)
    },
  ],
  [
    '2.7, number',
    'more than ten that update are folded together, the oldest first; those that apply are not',
    async (on) => {
      await talk('many', ['apply', 'applier', { data: { a: '1' } }, { status: 201 }])(on)
      for (let i = 10; i < 25; i++) {
        await talk('many', ['merge', `m${i}`, { data: { [`k${i}`]: 'v' } }])(on)
      }
      const { body } = await on.expect(200, 'GET', `${maps}/many`)
      const names = body.metadata.managedFields.map(({ manager }: { manager: string }) => manager)
      assert.equal(names.length, 11)
      assert.equal(names[0], 'applier')
      assert.ok(names.includes('ancient-changes') && names.includes('m24'))
      const data = body.metadata.managedFields.flatMap(
        ({ fieldsV1 }: { fieldsV1: Record<string, object> }) => Object.keys(fieldsV1['f:data']),
      )
      assert.equal(data.filter((key: string) => key.startsWith('f:k')).length, 15)
    },
  ],
]

specify('sections 2.7, 2.8 and 4.9', [], [...entries, ...markers, ...apply, ...races])

const ownersOf = async (server: RunningServer, name: string) =>
  (await server.ask('GET', `${maps}/${name}`)).body.metadata.managedFields

test('4.9.11: without ServerSideApply nothing is applied, and owners go with the next write', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-gate-'))
  const flags = ['--storage-backend=sqlite', '--controllers=-*']
  const change = { method: 'merge', path: `${maps}/kept`, body: { data: { b: '1' } } } as const
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } }
  try {
    const on = await startServer(flags, directory)
    const made = { metadata: { name: 'kept', labels: { a: 'b' } } }
    await say(on, { method: 'POST', path: maps, as: 'one', body: made })
    await on.stop()
    const off = await startServer([...flags, '--feature-gates=ServerSideApply=false'], directory)
    assert.equal((await ownersOf(off, 'kept')).length, 1)
    const applied = { ...change, method: 'apply', as: 'one', body: config } as const
    judge(await say(off, applied), { status: 415 }, 'apply')
    judge(await say(off, { ...change, query: 'dryRun=All' }), { owners: [] }, 'tried')
    assert.equal((await ownersOf(off, 'kept')).length, 1)
    judge(await say(off, { ...change, body: {} }), { owners: [] }, 'written')
    const written = { ...change, body: { metadata: { managedFields: [entry] } } }
    judge(await say(off, written), { owners: [] }, 'by hand')
    await off.stop()
    const again = await startServer(flags, directory)
    judge(await say(again, change), { owners: [] }, 'nobody owns what nobody was asked about')
    const one = { ...applied, body: { ...config, data: { c: '1' } } }
    judge(
      await say(again, one),
      {
        owners: [
          'one Apply data.c',
          'before-first-apply Update data data.b metadata.labels metadata.labels.a',
        ],
      },
      'the first apply',
    )
    await again.stop()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
