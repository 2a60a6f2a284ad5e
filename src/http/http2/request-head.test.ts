import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areTrailers, requestHead } from './request-head.ts'

const start = [':method', 'GET', ':scheme', 'https', ':path', '/api']

const heads: [string, string[], Record<string, string> | undefined][] = [
  ['plain', [...start, 'accept', 'a'], { accept: 'a' }],
  ['names like those of objects', [...start, '__proto__', 'a'], { __proto__: 'a' } as never],
  ['the same twice is joined', [...start, 'accept', 'a', 'accept', 'b'], { accept: 'a, b' }],
  [
    'cookies are joined their own way',
    [...start, 'cookie', 'a', 'cookie', 'b'],
    { cookie: 'a; b' },
  ],
  [
    'the first credentials count',
    [...start, 'authorization', 'a', 'authorization', 'b'],
    { authorization: 'a' },
  ],
  ['trailers are wanted', [...start, 'te', 'trailers'], { te: 'trailers' }],
  ['no path', start.slice(0, 4), undefined],
  ['an empty path', [...start.slice(0, 5), ''], undefined],
  ['a path from nowhere', [...start.slice(0, 5), 'api'], undefined],
  ['another scheme', [':method', 'GET', ':scheme', 'ftp', ':path', '/api'], undefined],
  ['an empty method', [':method', '', ':scheme', 'https', ':path', '/api'], undefined],
  ['no scheme', [':method', 'GET', ':path', '/'], undefined],
  ['no method', start.slice(2), undefined],
  ['a pseudo-header twice', [...start, ':path', '/b'], undefined],
  ['a pseudo-header of responses', [...start, ':status', '200'], undefined],
  [
    'a pseudo-header after others',
    [':method', 'GET', 'a', 'b', ':scheme', 'http', ':path', '/'],
    undefined,
  ],
  ['capital letters', [...start, 'Accept', 'a'], undefined],
  ['an empty name', [...start, '', 'a'], undefined],
  ['a line break in a value', [...start, 'a', 'b\r\nc: d'], undefined],
  ['a control character in a value', [...start, 'a', 'b\x01'], undefined],
  ['one in the path', [...start.slice(0, 5), '/api?\x1b'], undefined],
  ['one that is the last', [...start, 'a', '\x7f'], undefined],
  [
    'tabs and bytes of UTF-8 are allowed in values',
    [...start, 'a', 'b\t\xc3\xbc'],
    { a: 'b\t\xc3\xbc' },
  ],
  ['a header of the connection', [...start, 'connection', 'close'], undefined],
  ['another coding', [...start, 'transfer-encoding', 'chunked'], undefined],
  ['other wishes than trailers', [...start, 'te', 'gzip'], undefined],
]
for (const [name, list, expected] of heads) {
  test(name, () => {
    const head = requestHead(list)
    if (expected === undefined) return assert.equal(head, undefined)
    assert.deepEqual([head?.method, head?.path], ['GET', '/api'])
    for (const [key, value] of Object.entries(expected)) assert.equal(head?.headers[key], value)
  })
}

test('trailers contain no pseudo-headers', () => {
  assert.equal(areTrailers(['a', ':b']), true)
  assert.equal(areTrailers(['a', 'b', ':path', '/']), false)
})
