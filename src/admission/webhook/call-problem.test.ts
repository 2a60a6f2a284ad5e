/** Errors of calls to webhooks, with the messages of Go's client. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PeerCertificate } from 'node:tls'
import type { CallAnswer, CallError } from '#access/https-call.ts'
import { answeredIn } from './hook-client.ts'
import { callProblem, statusProblem } from './call-problem.ts'

const addressOf = (href: string, serverName?: string) => ({
  url: new URL(href),
  host: 'h',
  serverName,
  shown: href,
})
const at = 'https://127.0.0.1:9443/v?timeout=1s'
const dated = (from: string, to: string) => ({ valid_from: from, valid_to: to }) as PeerCertificate
const named = (subjectaltname?: string) => ({ cert: { subjectaltname } })
const calls: [error: Partial<CallError>, href: string, expected: string | RegExp][] = [
  [{ late: true }, at, `Post "${at}": context deadline exceeded`],
  [
    { code: 'ECONNREFUSED', cause: { address: '127.0.0.1' } },
    at,
    `Post "${at}": dial tcp 127.0.0.1:9443: connect: connection refused`,
  ],
  [
    {
      code: 'ECONNREFUSED',
      cause: new AggregateError([{ address: '::1' }, { address: '1.2.3.4' }]),
    },
    'https://localhost:1/',
    'Post "https://localhost:1/": dial tcp [::1]:1: connect: connection refused',
  ],
  [
    { code: 'EHOSTUNREACH' },
    'https://192.0.2.1/',
    'Post "https://192.0.2.1/": dial tcp 192.0.2.1:443: connect: no route to host',
  ],
  [
    { code: 'ENETUNREACH' },
    'https://192.0.2.1/',
    'Post "https://192.0.2.1/": dial tcp 192.0.2.1:443: connect: network is unreachable',
  ],
  [
    { code: 'ENOTFOUND' },
    'https://x.invalid/',
    /: dial tcp: lookup x\.invalid( on \S+)?: no such host$/,
  ],
  [
    { code: 'EAI_AGAIN' },
    'https://x.invalid/',
    /: dial tcp: lookup x\.invalid( on \S+)?: server misbehaving$/,
  ],
  [{ code: 'ECONNRESET' }, at, `Post "${at}": EOF`],
  [
    { code: 'CERT_HAS_EXPIRED' },
    at,
    `Post "${at}": x509: certificate has expired or is not yet valid`,
  ],
  [
    {
      code: 'CERT_HAS_EXPIRED',
      shown: dated('Jan  1 00:00:00 2020 GMT', 'Jan  2 00:00:00 2020 GMT'),
    },
    at,
    `Post "${at}": x509: certificate has expired or is not yet valid: current time 2021-01-01T00:00:00Z is after 2020-01-02T00:00:00Z`,
  ],
  [
    {
      code: 'CERT_NOT_YET_VALID',
      shown: dated('Jan  1 00:00:00 2030 GMT', 'Jan  2 00:00:00 2030 GMT'),
    },
    at,
    `Post "${at}": x509: certificate has expired or is not yet valid: current time 2021-01-01T00:00:00Z is before 2030-01-01T00:00:00Z`,
  ],
  // Another one of the chain has.
  [
    {
      code: 'CERT_HAS_EXPIRED',
      shown: dated('Jan  1 00:00:00 2020 GMT', 'Jan  2 00:00:00 2030 GMT'),
    },
    at,
    `Post "${at}": x509: certificate has expired or is not yet valid`,
  ],
  [
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    at,
    `Post "${at}": x509: certificate signed by unknown authority`,
  ],
  [
    { code: 'INVALID_PURPOSE' },
    at,
    `Post "${at}": x509: certificate specifies an incompatible key usage`,
  ],
  [
    {
      code: 'EPROTO',
      message: 'tlsv1 alert internal error:ssl/record/rec.c:916:SSL alert number 80',
    },
    at,
    `Post "${at}": remote error: tls: internal error`,
  ],
  [{ code: 'EPROTO' }, at, `Post "${at}": http: server gave HTTP response to HTTPS client`],
  [
    {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      cause: named('DNS:a, IP Address:10.0.0.1, IP Address:::1'),
    },
    at,
    `Post "${at}": x509: certificate is valid for 10.0.0.1, ::1, not 127.0.0.1`,
  ],
  [
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cause: named('DNS:a, DNS:b, IP Address:10.0.0.1') },
    'https://localhost/',
    'Post "https://localhost/": x509: certificate is valid for a, b, not localhost',
  ],
  [
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cause: named('DNS:a') },
    at,
    `Post "${at}": x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  ],
  [
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cause: named() },
    'https://localhost/',
    'Post "https://localhost/": x509: certificate is not valid for any names, but wanted to match localhost',
  ],
  [{ message: 'odd' }, at, `Post "${at}": odd`],
  [
    { answered: true, code: 'ECONNRESET' },
    at,
    'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
  ],
  [
    { answered: true, late: true },
    at,
    'unexpected error when reading response body. Please retry. Original error: context deadline exceeded',
  ],
]
for (const [error, href, expected] of calls) {
  test(`a call that ended with ${JSON.stringify(error)} at ${href}`, () => {
    const reported = callProblem(error as CallError, addressOf(href), () => Date.UTC(2021, 0))
    if (typeof expected === 'string') assert.equal(reported, expected)
    else assert.match(reported, expected)
  })
}

test('a service is reported by its own name, whatever its address is', () => {
  const error = { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cause: named('DNS:a') }
  assert.match(
    callProblem(error as never, addressOf(at, 'hook.ns.svc')),
    /valid for a, not hook\.ns\.svc$/,
  )
})

const failure = (more: object) =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'told', ...more })
const statuses: [status: number, type: string, body: string, expected: string][] = [
  [400, 'text/plain', 'x', 'the server rejected our request for an unknown reason'],
  [401, 'text/plain', '', 'the server has asked for the client to provide credentials'],
  [403, 'text/plain', ' why \n', 'why'],
  [403, 'text/plain', '', ''],
  [403, 'application/json', '{}', 'unknown'],
  [404, 'text/plain', 'x', 'the server could not find the requested resource'],
  [405, '', '', 'the server does not allow this method on the requested resource'],
  [406, '', '', 'the server was unable to respond with a content type that the client supports'],
  [406, 'text/plain', 'only x', 'only x'],
  [409, '', '', 'the server reported a conflict'],
  [415, 'text/html', 'what', 'what'],
  [
    418,
    '',
    '',
    'the server responded with the status code 418 but did not return more information',
  ],
  [422, '', '', 'the server rejected our request due to an error in our request'],
  [429, '', '', 'the server has received too many requests and has asked us to try again later'],
  [500, '', '', 'an error on the server ("") has prevented the request from succeeding'],
  [
    500,
    'text/plain',
    'a "b"\nc',
    'an error on the server ("a \\"b\\"\\nc") has prevented the request from succeeding',
  ],
  [
    502,
    'application/json',
    '{"message":"told"}',
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  [503, '', 'x', 'the server is currently unable to handle the request'],
  [
    504,
    '',
    '',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
  [500, 'application/json', failure({}), 'told'],
  [500, 'application/json', failure({ apiVersion: undefined }), 'told'],
  [
    500,
    'application/json',
    failure({ status: 'Success' }),
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  [500, 'application/json', failure({ message: 'x'.repeat(3000) }), 'x'.repeat(2048)],
]
for (const [status, type, body, expected] of statuses) {
  test(`an answer ${status} ${type} ${body.slice(0, 60)}`, () => {
    const headers = type === '' ? {} : { 'content-type': type }
    assert.equal(statusProblem({ status, headers, body }), expected)
  })
}

const noVersion =
  'couldn\'t get version/kind; json parse error: json: cannot unmarshal TYPE into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
const bodies: [body: string, expected: unknown][] = [
  ['{"a":1}', { a: 1 }],
  ['a: 1\nb:\n- c', { a: 1, b: ['c'] }],
  ['null', {}],
  ['', '0-length response with status code: 200 and content type: text/x'],
  ['nonsense', noVersion.replace('TYPE', 'string')],
  ['a: [', noVersion.replace('TYPE', 'string')],
  ['[]', noVersion.replace('TYPE', 'array')],
  ['3', noVersion.replace('TYPE', 'number')],
  ['true', noVersion.replace('TYPE', 'bool')],
  ['{"a":', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
]
for (const [body, expected] of bodies) {
  test(`a body ${JSON.stringify(body)}`, () => {
    const answer: CallAnswer = { status: 200, headers: { 'content-type': 'text/x' }, body }
    const read = () => {
      try {
        return answeredIn(answer).review
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.deepEqual(read(), expected)
  })
}
