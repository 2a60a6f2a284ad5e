import assert from 'node:assert/strict'
import test from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { ApiError } from '#api/status-error.ts'
import { deleteOptionsFrom, deleteOptionsFromQuery } from './delete-options.ts'
import { readOptionsText } from './delete-options-text.ts'

const none = {
  gracePeriodSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  dryRun: false,
}
const refusal = (read: () => unknown): string => {
  try {
    read()
    return 'none'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`
  }
}

test('options in the body', () => {
  assert.deepEqual(deleteOptionsFrom({}, 22), none)
  assert.deepEqual(
    deleteOptionsFrom(
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 5,
        preconditions: { uid: 'u', resourceVersion: '7' },
        propagationPolicy: 'Foreground',
        dryRun: ['All'],
      },
      22,
    ),
    {
      ...none,
      gracePeriodSeconds: 5,
      preconditions: true,
      uid: 'u',
      resourceVersion: '7',
      propagationPolicy: 'Foreground',
      dryRun: true,
    },
  )
  const cases: [body: object, expected: RegExp][] = [
    [{ kind: 'Pod' }, /^500 no kind "Pod" is registered for version "meta.k8s.io\/v1" in scheme /],
    [{ kind: 'Pod', apiVersion: 'v1' }, /^500 no kind "Pod" is registered for version "v1" in /],
    [{ kind: 'Status', apiVersion: 'v1' }, /^500 converting \(v1.Status\) to \(v1.DeleteOptions\)/],
    [{ gracePeriodSeconds: '5' }, /^400 /],
    [{ gracePeriodSeconds: 1.5 }, /^400 /],
    [{ preconditions: [] }, /^400 /],
    [{ preconditions: { uid: 1 } }, /^400 /],
    [{ orphanDependents: 'yes' }, /^400 /],
    [{ dryRun: 'All' }, /^400 /],
    [{ dryRun: ['Some'] }, /^422 .*dryRun: Unsupported value/],
    [{ propagationPolicy: 'Sideways' }, /^422 .*propagationPolicy: Unsupported value/],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, /^422 .*cannot be both set/],
  ]
  for (const [body, expected] of cases)
    assert.match(
      refusal(() => deleteOptionsFrom(body, 22)),
      expected,
      JSON.stringify(body),
    )
})

test('the body or its query may request a dry run', () => {
  const cases: [inBody: string[] | undefined, inQuery: string[], expected: boolean | RegExp][] = [
    [undefined, [], false],
    [undefined, ['All'], true],
    [[], ['All'], true],
    [['All'], [], true],
    [['All'], ['All'], true],
    [['All'], [''], true],
    [undefined, [''], false],
    [undefined, ['Some'], /^422 .*dryRun: Unsupported value/],
    [['All'], ['Some'], /^422 .*dryRun: Unsupported value/],
  ]
  for (const [dryRun, inQuery, expected] of cases) {
    const read = () => deleteOptionsFrom({ dryRun, gracePeriodSeconds: 1 }, 22, inQuery)
    if (typeof expected === 'boolean') assert.equal(read().dryRun, expected)
    else assert.match(refusal(read), expected)
  }
})

test('a body may contain any 64-bit integer', () => {
  for (const seconds of ['9223372036854775807', '9007199254740993', '-9223372036854775808']) {
    const body = readOptionsText(Buffer.from(`{"gracePeriodSeconds":${seconds}}`), 22)
    assert.equal(deleteOptionsFrom(body, 22).gracePeriodSeconds, BigInt(seconds))
  }
})

test('options in the query', () => {
  const read = (query: string) => deleteOptionsFromQuery(new URLSearchParams(query), 22)
  assert.deepEqual(read(''), none)
  assert.deepEqual(read('gracePeriodSeconds=0&propagationPolicy=Orphan&dryRun=All'), {
    ...none,
    gracePeriodSeconds: 0,
    propagationPolicy: 'Orphan',
    dryRun: true,
  })
  assert.deepEqual(read('uid=u&uid=v&resourceVersion=7&preconditions.uid=w'), {
    ...none,
    uid: 'u',
    resourceVersion: '7',
  })
  assert.deepEqual(read('uid=&resourceVersion='), none)
  assert.deepEqual(deleteOptionsFromQuery(new URLSearchParams('uid=u'), 16), none)
  assert.equal(read('orphanDependents=false').orphanDependents, false)
  assert.equal(read('orphanDependents=1').orphanDependents, true)
  const largest = 2n ** 63n - 1n
  assert.equal(read(`gracePeriodSeconds=${largest}`).gracePeriodSeconds, largest)
  assert.match(
    refusal(() => read(`gracePeriodSeconds=${largest + 1n}`)),
    /^400 strconv.ParseInt: parsing "9223372036854775808": value out of range/,
  )
  assert.match(
    refusal(() => read('gracePeriodSeconds=x')),
    /^400 strconv.ParseInt: parsing "x": invalid syntax/,
  )
  assert.match(
    refusal(() => read('dryRun=x')),
    /^422 /,
  )
})

const ignore = 'ignoreStoreReadErrorWithClusterBreakingPotential'
checkBoundaries(
  (release, body: object) =>
    refusal(() => readOptionsText(Buffer.from(JSON.stringify(body)), release)),
  [
    [
      'a string instead of a boolean',
      [31, 32],
      { [ignore]: 'x' },
      'none',
      `500 json: cannot unmarshal string into Go struct field DeleteOptions.${ignore} of type bool`,
    ],
  ],
)
checkBoundaries(
  (release, query: string) =>
    refusal(() => deleteOptionsFromQuery(new URLSearchParams(query), release)),
  [
    [
      'an unknown dry run',
      [33, 34],
      'dryRun=x',
      '422 DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"x"}: supported values: "All"',
      '422 DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
    ],
  ],
)
