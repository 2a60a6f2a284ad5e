/** Headers and responses that flags add to requests; each row was recorded from kube-apiserver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AroundOptions, aroundRequests } from './around-requests.ts'
import type { AnswerHeaders, Wire } from './exchange.ts'

const reported = {
  'access-control-allow-credentials': 'true',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-expose-headers': 'Date',
}
const to = (origin: string) => ({ ...reported, 'access-control-allow-origin': origin })

const none: AroundOptions = {
  origins: [],
  directives: [],
  goAwayChance: 0,
  random: () => 0.015,
  ownHeaders: () => ({ 'audit-id': 'x' }),
}

type Kind = 'answer' | 'answerPieces' | 'stream'
interface Asked {
  readonly method?: string
  readonly origins?: string[]
  readonly by?: Kind
  readonly isHttp1?: true
}

/** The status and headers of the response, and how often GOAWAY was sent. */
function answerTo(options: Partial<AroundOptions>, requested: Asked) {
  const answers: [number, AnswerHeaders][] = []
  let goneAway = 0
  const { method = 'GET', origins = [], by = 'answer' } = requested
  const keep = (status: number, headers: AnswerHeaders) => void answers.push([status, headers])
  const wire = {
    method,
    headers: origins.length === 0 ? {} : { origin: origins.join(', ') },
    separateHeaders: { origin: origins },
    answer: keep,
    answerPieces: keep,
    stream: keep,
    ...(!requested.isHttp1 && { goAway: () => void goneAway++ }),
  } as unknown as Wire
  const serve = (wire: Wire) => {
    assert.equal(goneAway, 0, 'the connection ends with the answer, not before')
    if (by === 'answer') wire.answer(200, { a: '1' }, undefined)
    else if (by === 'answerPieces') wire.answerPieces(200, { a: '1' }, [])
    else wire.stream(200, { a: '1' })
  }
  aroundRequests(serve, { ...none, ...options })(wire)
  assert.equal(answers.length, 1)
  return [...answers[0]!, goneAway]
}

const some = ['//good\\.example(:|$)', '^https://x']
const hsts = 'max-age=31536000; includeSubDomains'
const directives = ['max-age=31536000', 'includeSubDomains']

const rows: [what: string, Partial<AroundOptions>, Asked, status: number, AnswerHeaders, number][] =
  [
    ['no origin', { origins: some }, {}, 200, { a: '1' }, 0],
    [
      'an origin',
      { origins: some },
      { origins: ['https://good.example:80'] },
      200,
      { ...to('https://good.example:80'), a: '1' },
      0,
    ],
    [
      'a watch of an origin',
      { origins: some },
      { origins: ['https://xyz'], by: 'stream' },
      200,
      { ...to('https://xyz'), a: '1' },
      0,
    ],
    [
      'a list of an origin',
      { origins: some },
      { origins: ['https://xyz'], by: 'answerPieces' },
      200,
      { ...to('https://xyz'), a: '1' },
      0,
    ],
    [
      'another origin',
      { origins: some },
      { origins: ['https://good.example.org'] },
      200,
      { a: '1' },
      0,
    ],
    [
      'two origins, the first counts',
      { origins: some },
      { origins: ['https://bad', 'https://xyz'] },
      200,
      { a: '1' },
      0,
    ],
    ['OPTIONS', { origins: some }, { method: 'OPTIONS' }, 200, { a: '1' }, 0],
    [
      'OPTIONS of another origin',
      { origins: some },
      { method: 'OPTIONS', origins: ['https://bad'] },
      200,
      { a: '1' },
      0,
    ],
    [
      'OPTIONS of an origin',
      { origins: some },
      { method: 'OPTIONS', origins: ['https://xyz'] },
      204,
      { ...to('https://xyz'), 'audit-id': 'x' },
      0,
    ],
    [
      'OPTIONS with all flags',
      { origins: some, directives, goAwayChance: 0.02 },
      { method: 'OPTIONS', origins: ['https://xyz'] },
      204,
      { ...to('https://xyz'), 'audit-id': 'x', 'strict-transport-security': hsts },
      1,
    ],
    ['HTTPS alone', { directives }, {}, 200, { 'strict-transport-security': hsts, a: '1' }, 0],
    [
      'HTTPS alone, of a watch',
      { directives },
      { by: 'stream' },
      200,
      { 'strict-transport-security': hsts, a: '1' },
      0,
    ],
    [
      'directives as they are given',
      { directives: ['foo', '', 'bar'] },
      {},
      200,
      { 'strict-transport-security': 'foo; ; bar', a: '1' },
      0,
    ],
    ['chance', { goAwayChance: 0.02 }, {}, 200, { a: '1' }, 1],
    ['no such chance', { goAwayChance: 0.01 }, {}, 200, { a: '1' }, 0],
    ['HTTP/1.1 has none', { goAwayChance: 1 }, { isHttp1: true }, 200, { a: '1' }, 0],
  ]

for (const [what, options, requested, status, headers, goneAway] of rows)
  test(what, () => assert.deepEqual(answerTo(options, requested), [status, headers, goneAway]))
