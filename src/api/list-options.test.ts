import assert from 'node:assert/strict'
import test from 'node:test'
import { listParameters, parseListOptions, parseResourceVersion } from './list-options.ts'
import { ApiError } from './status-error.ts'

const read = (query: string, watchForced = false) =>
  parseListOptions(new URLSearchParams(query), 22, watchForced)
const refusal = (query: string): string => {
  try {
    read(query)
    return 'none'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`
  }
}

test('the parsed options', () => {
  const { limit, continueToken, timeoutSeconds, watch, allowWatchBookmarks, resourceVersion } =
    read('limit=5&continue=abc&timeoutSeconds=7&watch=1&allowWatchBookmarks=true&resourceVersion=9')
  assert.deepEqual(
    { limit, continueToken, timeoutSeconds, watch, allowWatchBookmarks, resourceVersion },
    {
      limit: 5,
      continueToken: 'abc',
      timeoutSeconds: 7,
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: '9',
    },
  )
})

test('flags are false only if absent, false or 0', () => {
  const cases: [query: string, watch: boolean][] = [
    ['', false],
    ['watch=false', false],
    ['watch=FALSE', false],
    ['watch=0', false],
    ['watch=', true],
    ['watch=no', true],
  ]
  for (const [query, watch] of cases) assert.equal(read(query).watch, watch, query)
  assert.equal(read('', true).watch, true)
  // A path with /watch/ does not change the parameters.
  assert.equal(read('resourceVersionMatch=Exact&resourceVersion=1', true).watch, true)
})

test('messages of kube-apiserver', () => {
  const cases: [query: string, expected: RegExp][] = [
    ['limit=x', /^400 strconv.ParseInt: parsing "x": invalid syntax$/],
    ['limit=9223372036854775808', /^400 .*value out of range$/],
    ['limit=9223372036854775807', /^none$/],
    ['limit=-1', /^none$/],
    ['labelSelector=(', /^400 /],
    ['fieldSelector=a', /^400 invalid selector/],
    ['resourceVersionMatch=Exact', /^422 .*forbidden unless resourceVersion is provided/],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      /^422 .*"exact" is forbidden for resourceVersion "0"/,
    ],
    ['resourceVersionMatch=Exact&resourceVersion=1&watch=1', /^422 .*forbidden for watch/],
    // Every problem is reported, and numbers are read before selectors.
    ['resourceVersionMatch=Exact&watch=1', /^422 .*forbidden for watch, .*unless resourceVersion/],
    ['labelSelector=(&limit=x', /^400 strconv/],
    ['limit=x&timeoutSeconds=y', /^400 .*"y"/],
    [
      'resourceVersionMatch=x&resourceVersion=1',
      /^422 .*supported values: "Exact", "NotOlderThan"/,
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      /^422 .*forbidden when continue is provided/,
    ],
  ]
  for (const [query, expected] of cases) assert.match(refusal(query), expected, query)
})

test('releases before 1.19 ignore resourceVersionMatch', () => {
  const query = new URLSearchParams('resourceVersionMatch=x')
  assert.equal(parseListOptions(query, 18).resourceVersionMatch, '')
  assert.throws(() => parseListOptions(query, 19), ApiError)
})

const watches: [query: string, release: number, gate: boolean, expected: string][] = [
  ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 37, true, 'true'],
  ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', 37, true, 'false'],
  ['sendInitialEvents=&resourceVersionMatch=NotOlderThan&resourceVersion=5', 37, true, 'true'],
  // A watch without a resourceVersion starts with the existing objects.
  ['', 37, true, 'true'],
  ['resourceVersion=0', 37, true, 'true'],
  ['continue=x', 37, true, 'forbidden when continue is provided'],
  ['resourceVersion=5', 37, true, 'undefined'],
  ['', 37, false, 'undefined'],
  ['sendInitialEvents=true', 26, false, 'undefined'],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=1', 26, false, 'forbidden for watch$'],
  ['sendInitialEvents=true', 37, true, 'requires setting resourceVersionMatch to NotOlderThan'],
  [
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    27,
    false,
    'unless the WatchList feature gate is enabled',
  ],
  ['resourceVersionMatch=NotOlderThan', 37, true, 'unless sendInitialEvents is provided'],
  [
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    37,
    true,
    'NotOlderThan, resourceVersionMatch: Unsupported value: "Exact"',
  ],
  [
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x',
    37,
    true,
    'forbidden when continue is provided',
  ],
]
for (const [query, release, gate, expected] of watches)
  test(`a watch with ${query || 'nothing else'} in 1.${release}, gate ${gate}`, () => {
    const params = new URLSearchParams(`watch=1&${query}`)
    const outcome = () => {
      try {
        return String(parseListOptions(params, release, false, gate).sendInitialEvents)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return error.message
      }
    }
    assert.match(outcome(), new RegExp(expected))
  })

const initialEventsOfLists: [release: number, isRejected: boolean][] = [
  [27, true],
  [26, false],
]
for (const [release, isRejected] of initialEventsOfLists)
  test(`1.${release}: a list ${isRejected ? 'rejects' : 'ignores'} sendInitialEvents`, () => {
    const parse = () => parseListOptions(new URLSearchParams('sendInitialEvents=true'), release)
    if (isRejected) assert.throws(parse, /sendInitialEvents: Forbidden: .* is forbidden for list/)
    else assert.equal(parse().sendInitialEvents, undefined)
  })

test('resource versions', () => {
  assert.equal(parseResourceVersion(''), undefined)
  assert.equal(parseResourceVersion('0'), 0)
  assert.equal(parseResourceVersion('42'), 42)
  assert.equal(parseResourceVersion('18446744073709551615'), Number.MAX_SAFE_INTEGER)
  for (const text of ['-1', 'x', '1.5', ' 1', '18446744073709551616', '0x1']) {
    assert.throws(
      () => parseResourceVersion(text),
      (error) => error instanceof ApiError && error.code === 400,
      text,
    )
  }
})

const requested: [Parameters<typeof listParameters>[0], string][] = [
  [{}, ''],
  [{ labelSelector: 'a=b,c', limit: 3 }, 'labelSelector=a%3Db%2Cc&limit=3'],
  [
    { fieldSelector: 'x=y', continueToken: 't', resourceVersion: '7' },
    'fieldSelector=x%3Dy&continue=t&resourceVersion=7',
  ],
]
for (const [query, text] of requested)
  test(`a query of a client: ${text}`, () => assert.equal(`${listParameters(query)}`, text))
