import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientWords, networkWords } from './network-words.ts'

const broken = 'net/http: HTTP/1.x transport connection broken: malformed'
const answered = (text: string) => ({ rawPacket: Buffer.from(text) })
// code, more of the error, words
const troubles: [string, object, string][] = [
  ['INVALID_PURPOSE', {}, 'x509: certificate specifies an incompatible key usage'],
  ['EPROTO', { message: 'wrong version' }, 'tls: first record does not look like a TLS handshake'],
  [
    'EPROTO',
    { message: 'tlsv1 alert no application protocol:a.c:9:SSL alert number 120\n' },
    'remote error: tls: no application protocol',
  ],
  [
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    { message: 'a:SSL alert number 116' },
    'remote error: tls: certificate required',
  ],
  ['HPE_INVALID_CONSTANT', answered('nonsense'), `${broken} HTTP response "nonsense"`],
  ['HPE_INVALID_CONSTANT', answered('what is\r\nit'), `${broken} HTTP status code "is"`],
  ['HPE_INVALID_STATUS', answered('HTTP/1.1 2x0 OK\r\n'), `${broken} HTTP status code "2x0"`],
  ['HPE_INVALID_VERSION', answered('HTTP/x 200 OK\r\n'), `${broken} HTTP version "HTTP/x"`],
  [
    'HPE_INVALID_HEADER_TOKEN',
    answered('HTTP/1.1 200 OK\r\na: b\r\nbad\0one\r\n\r\n'),
    `${broken} MIME header: missing colon: "bad\\x00one"`,
  ],
]
for (const [code, more, expected] of troubles) {
  test(`${code}: ${expected}`, () => {
    const error = Object.assign(new Error('m'), { code, ...more })
    assert.equal(networkWords(error, 'a:1'), expected)
  })
}

test('a direct call to a port without TLS gets the HTTP error', () => {
  const error = Object.assign(new Error('m'), { code: 'EPROTO' })
  assert.equal(
    clientWords(networkWords(error, 'a:1')),
    'http: server gave HTTP response to HTTPS client',
  )
  assert.equal(clientWords('EOF'), 'EOF')
})
