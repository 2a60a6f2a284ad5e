/** Valid and invalid responses of webhooks, with error messages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionRequest } from '#admission/admission.ts'
import type { Loose } from '#api/object-meta.ts'
import { kindOf, podKind, requestOf } from '#admission/requests.suite.ts'
import { readVerdict, reviewText, type ReviewVersion, reviewIn, reviewVersionOf } from './review.ts'
import { Versioned } from './versioned.ts'

const uid = 'u'
const allowed = { uid, allowed: true }
const review = (response: unknown, more: Loose = {}): Loose => ({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  response,
  ...more,
})
/** The result of a response: the error with its step, or the verdict. */
function outcome(answer: Loose, mutating = false, version: ReviewVersion = 'v1'): unknown {
  const json = JSON.stringify(answer)
  let read: Loose
  try {
    read = reviewIn(version, { review: answer, json })
  } catch (error) {
    return `unread: ${(error as Error).message}`
  }
  try {
    const verdict = readVerdict(version, uid, mutating, read)
    return Object.fromEntries(
      Object.entries(verdict).filter(([, value]) => JSON.stringify(value)?.length > 2),
    )
  } catch (error) {
    return (error as Error).message
  }
}

const patch = Buffer.from('[{"op":"remove","path":"/data"}]').toString('base64')
const expectedV1 = 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got'
const unregistered = (kind: string, version: string) =>
  `unread: no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:100"`
const rows: [what: string, answer: Loose, expected: unknown][] = [
  ['allowed', review(allowed), { allowed: true }],
  ['denied', review({ uid, allowed: false }), { allowed: false }],
  ['allowed by nothing', review({ uid }), { allowed: false }],
  ['allowed by null', review({ uid, allowed: null }), { allowed: false }],
  [
    'all there is',
    review({ ...allowed, warnings: ['w'], auditAnnotations: { a: 'b' }, status: { code: 1 } }),
    {
      allowed: true,
      warnings: ['w'],
      auditAnnotations: { a: 'b' },
      result: { metadata: {}, code: 1 },
    },
  ],
  ['an unknown field', review({ ...allowed, odd: 1 }), { allowed: true }],
  ['no response', review(undefined), 'webhook response was absent'],
  ['null for a response', review(null), 'webhook response was absent'],
  ['another uid', review({ ...allowed, uid: 'x' }), 'expected response.uid="u", got "x"'],
  ['no uid', review({ allowed: true }), 'expected response.uid="u", got ""'],
  ['no kind', review(allowed, { kind: undefined }), `${expectedV1} admission.k8s.io/v1, Kind=`],
  [
    'no version',
    review(allowed, { apiVersion: undefined }),
    `${expectedV1} /, Kind=AdmissionReview`,
  ],
  ['neither', { response: allowed }, `${expectedV1} /, Kind=`],
  ['another kind', review(allowed, { kind: 'X' }), unregistered('X', 'admission.k8s.io/v1')],
  [
    'an unknown version',
    review(allowed, { apiVersion: 'admission.k8s.io/v2' }),
    unregistered('AdmissionReview', 'admission.k8s.io/v2'),
  ],
  [
    'the older version',
    review(allowed, { apiVersion: 'admission.k8s.io/v1beta1' }),
    'unread: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  ],
  [
    'a Status',
    { kind: 'Status', apiVersion: 'v1', status: 'Failure' },
    'unread: converting (v1.Status) to (v1.AdmissionReview): unknown conversion',
  ],
  ['a patch', review({ ...allowed, patch }), 'validating webhook may not return response.patch'],
  [
    'a type of patch',
    review({ ...allowed, patchType: 'JSONPatch' }),
    'validating webhook may not return response.patchType',
  ],
]
for (const [what, answer, expected] of rows) {
  test(`a validating webhook answers ${what}`, () => assert.deepEqual(outcome(answer), expected))
}

const mutations: [what: string, response: Loose, expected: unknown][] = [
  ['nothing', {}, { allowed: true }],
  ['a patch', { patch, patchType: 'JSONPatch' }, { allowed: true, patch, patchType: 'JSONPatch' }],
  ['an empty patch', { patch: '' }, { allowed: true }],
  ['a patch of no type', { patch }, 'webhook returned response.patch but not response.patchType'],
  [
    'a type of no patch',
    { patchType: 'JSONPatch' },
    'webhook returned response.patchType but not response.patch',
  ],
  [
    'a type without a name',
    { patch, patchType: '' },
    'webhook returned invalid response.patchType of ""',
  ],
]
for (const [what, response, expected] of mutations) {
  test(`a mutating webhook answers ${what}`, () =>
    assert.deepEqual(outcome(review({ ...allowed, ...response }), true), expected))
}

const older = { apiVersion: 'admission.k8s.io/v1beta1' }
const olderRows: [what: string, answer: Loose, mutating: boolean, expected: unknown][] = [
  ['no uid', review({ allowed: true }, older), false, { allowed: true }],
  ['no kind', { response: { allowed: true } }, false, { allowed: true }],
  ['no response', review(undefined, older), false, 'webhook response was absent'],
  ['a patch of a validating one', review({ ...allowed, patch }, older), false, { allowed: true }],
  [
    'a patch of any type',
    review({ ...allowed, patch, patchType: 'x' }, older),
    true,
    { allowed: true, patch, patchType: 'JSONPatch' },
  ],
  [
    'the newer version',
    review(allowed),
    true,
    'unread: converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion',
  ],
  [
    'a wrong type',
    review({ allowed: 1 }, older),
    true,
    /^unread: v1beta1\.AdmissionReview\.Response: v1beta1\.AdmissionResponse\.Allowed: ReadBool: /,
  ],
]
for (const [what, answer, mutating, expected] of olderRows) {
  test(`of the older review, ${what}`, () => {
    const reported = outcome(answer, mutating, 'v1beta1')
    if (expected instanceof RegExp) assert.match(String(reported), expected)
    else assert.deepEqual(reported, expected)
  })
}

const wrong: [response: unknown, words: string][] = [
  [[], 'Response: readObjectStart: expect { or n, but found [,'],
  ['x', 'Response: readObjectStart: expect { or n, but found ",'],
  [
    { allowed: 'yes' },
    'Response: v1.AdmissionResponse.Allowed: ReadBool: expect t or f, but found ",',
  ],
  [
    { uid: 3 },
    'Response: v1.AdmissionResponse.Allowed: UID: ReadString: expects " or n, but found 3,',
  ],
  [{ patch: 3 }, 'Response: v1.AdmissionResponse.Patch: base64Codec: invalid input,'],
  [
    { patch: '!!' },
    'Response: v1.AdmissionResponse.Patch: decode base64: illegal base64 data at input byte 0,',
  ],
  [
    { patchType: 3 },
    'Response: v1.AdmissionResponse.PatchType: ReadString: expects " or n, but found 3,',
  ],
  [
    { warnings: 'x' },
    'Response: v1.AdmissionResponse.Warnings: []string: decode slice: expect [ or n, but found ",',
  ],
  [
    { warnings: [3] },
    'Response: v1.AdmissionResponse.Warnings: []string: ReadString: expects " or n, but found 3,',
  ],
  [
    { auditAnnotations: { a: 1 } },
    'Response: v1.AdmissionResponse.AuditAnnotations: ReadString: expects " or n, but found 1,',
  ],
  [
    { auditAnnotations: [] },
    'Response: v1.AdmissionResponse.AuditAnnotations: ReadMapCB: expect { or n, but found [,',
  ],
  [
    { status: 'x' },
    'Response: v1.AdmissionResponse.Result: readObjectStart: expect { or n, but found ",',
  ],
  [
    { status: { message: 3 } },
    'Response: v1.AdmissionResponse.Result: v1.Status.Message: ReadString: expects " or n, but found 3,',
  ],
]
for (const [response, words] of wrong) {
  test(`a response ${JSON.stringify(response)} does not fit`, () => {
    const isMap = typeof response === 'object' && !Array.isArray(response)
    const reported = String(outcome(review(isMap ? { ...allowed, ...response } : response)))
    assert.equal(
      reported.slice(0, reported.indexOf(' error found')),
      `unread: v1.AdmissionReview.${words}`,
    )
  })
}

const versions: [versions: string[], expected: string][] = [
  [['v1'], 'v1'],
  [['v1beta1', 'v1'], 'v1beta1'],
  [['v9', 'v1', 'v1beta1'], 'v1'],
  [['v9'], 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'],
  [[], 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'],
]
for (const [given, expected] of versions) {
  test(`of ${given.join(', ') || 'no versions'}`, () => {
    const chosen = () => {
      try {
        return reviewVersionOf(given)
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.equal(chosen(), expected)
  })
}

const mapKind = kindOf('v1', 'configmaps')
const map = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' } }
const ofNode = kindOf('v1', 'nodes')
async function requested(request: AdmissionRequest, release = 22, version: ReviewVersion = 'v1') {
  const versioned = await Versioned.of(request, request.kind, 22)
  return JSON.parse(reviewText(version, uid, request, versioned, release))
}
const create = (more: Partial<AdmissionRequest> = {}) => requestOf('CREATE', mapKind, map, more)
const user = (more: Loose) =>
  create({ user: { name: '', uid: '', groups: [], extra: {}, ...more } })
const deletion = (options: Loose) => requestOf('DELETE', mapKind, undefined, { name: 'm', options })
const eviction = {
  kind: 'Eviction',
  apiVersion: 'policy/v1',
  metadata: { name: 'p' },
}
const evict = requestOf('CREATE', podKind, eviction, { subresource: 'eviction', name: 'p' })
const meta = 'meta.k8s.io/v1'
const ofDeletion = { kind: 'DeleteOptions', apiVersion: meta }
const bound = { group: 'policy', version: 'v1', kind: 'Eviction' }
const pods = { group: '', version: 'v1', resource: 'pods' }
const namespaces = kindOf('v1', 'namespaces')
const inItself = (operation: 'CREATE' | 'UPDATE', metadata: Loose) =>
  requestOf(operation, namespaces, { metadata }, { name: 'n' })
const alike = { ...namespaces, type: namespaces.type, group: 'example.com' } as typeof namespaces

const shown: [what: string, request: AdmissionRequest, part: string, expected: unknown][] = [
  ['nobody', user({}), 'userInfo', {}],
  ['a name', user({ name: 'n' }), 'userInfo', { username: 'n' }],
  [
    'all fields of a user',
    user({ name: 'n', uid: 'i', groups: ['g'], extra: { a: ['b'] } }),
    'userInfo',
    { username: 'n', uid: 'i', groups: ['g'], extra: { a: ['b'] } },
  ],
  ['a creation', create(), 'options', { kind: 'CreateOptions', apiVersion: meta }],
  [
    'a dry run',
    create({ dryRun: true, options: { fieldManager: 'f' } }),
    'options',
    { kind: 'CreateOptions', apiVersion: meta, dryRun: ['All'], fieldManager: 'f' },
  ],
  ['that it is a dry run', create({ dryRun: true }), 'dryRun', true],
  ['no dry run', create(), 'dryRun', false],
  [
    'an update',
    requestOf('UPDATE', mapKind, map, { old: map }),
    'options',
    { kind: 'UpdateOptions', apiVersion: meta },
  ],
  ['a deletion', deletion({}), 'options', ofDeletion],
  [
    'all options of a deletion',
    deletion({
      gracePeriodSeconds: 0,
      uid: 'i',
      resourceVersion: '7',
      orphanDependents: false,
      propagationPolicy: 'Orphan',
    }),
    'options',
    {
      ...ofDeletion,
      gracePeriodSeconds: 0,
      preconditions: { uid: 'i', resourceVersion: '7' },
      orphanDependents: false,
      propagationPolicy: 'Orphan',
    },
  ],
  [
    'empty preconditions',
    deletion({ preconditions: true }),
    'options',
    { ...ofDeletion, preconditions: {} },
  ],
  ['no object of a deletion', deletion({}), 'object', null],
  ['no options of a connection', requestOf('CONNECT', podKind, { kind: 'X' }), 'options', null],
  ['a kind of its own', evict, 'kind', bound],
  ['a kind of its own, as requested', evict, 'requestKind', bound],
  ['the resource it is of', evict, 'resource', pods],
  ['the requested resource', evict, 'requestResource', pods],
  ['the subresource', evict, 'subResource', 'eviction'],
  ['the requested subresource', evict, 'requestSubResource', 'eviction'],
  ['no subresource', create(), 'subResource', undefined],
  ['no requested subresource', create(), 'requestSubResource', undefined],
  ['the namespace', create(), 'namespace', 'ns'],
  [
    'no namespace',
    requestOf('CREATE', ofNode, { metadata: { name: 'n' } }),
    'namespace',
    undefined,
  ],
  ['no name', create({ name: '' }), 'name', undefined],
  ['a new namespace, in itself', inItself('CREATE', { name: 'n' }), 'namespace', 'n'],
  [
    'one whose name is made for it',
    inItself('CREATE', { generateName: 'n' }),
    'namespace',
    undefined,
  ],
  [
    'one that is there, as the request has it',
    inItself('UPDATE', { name: 'n' }),
    'namespace',
    undefined,
  ],
  [
    'namespaces of another group',
    requestOf('CREATE', alike, { metadata: { name: 'n' } }, { namespace: '', name: 'n' }),
    'namespace',
    undefined,
  ],
]
for (const [what, request, part, expected] of shown) {
  test(`a review shows ${what}`, async () => {
    const { request: reported } = await requested(request)
    assert.deepEqual(reported[part], expected)
  })
}

const put = { isNamed: true }
const namedIn: [
  what: string,
  release: number,
  request: AdmissionRequest,
  name: string | undefined,
][] = [
  ['a new object', 15, create(), undefined],
  ['a new object', 16, create(), 'm'],
  ['a new object at its own path', 15, create(put), 'm'],
  ['a binding', 15, create({ ...put, subresource: 'binding' }), undefined],
  ['an eviction', 15, create({ ...put, subresource: 'eviction' }), undefined],
  ['an eviction', 16, create({ ...put, subresource: 'eviction' }), 'm'],
  ['a token', 15, create({ ...put, subresource: 'token' }), 'm'],
  ['a change', 15, requestOf('UPDATE', mapKind, map), 'm'],
]
for (const [what, release, request, name] of namedIn) {
  test(`1.${release} sends ${name ?? 'no name'} for ${what}`, async () =>
    assert.equal((await requested(request, release)).request.name, name))
}

test('the version of the review is the requested one', async () => {
  for (const version of ['v1', 'v1beta1'] as const) {
    const { apiVersion, kind, request } = await requested(create(), 22, version)
    assert.deepEqual(
      [apiVersion, kind, request.uid],
      [`admission.k8s.io/${version}`, 'AdmissionReview', uid],
    )
  }
})
