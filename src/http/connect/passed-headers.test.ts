/**
 * Headers that name a user are not forwarded: the backend learns the user only from this server.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '#http/exchange.ts'
import { requestHeaders } from './passed-headers.ts'

const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('t').toString('base64url')}`

// header as sent, as forwarded with an ordinary request, as forwarded with an upgrade
const rows: [string, string | string[], unknown, unknown][] = [
  ['authorization', 'Bearer t', undefined, undefined],
  ['proxy-authorization', 'Basic t', undefined, undefined],
  ['impersonate-user', 'root', undefined, undefined],
  ['impersonate-extra-scopes', 'all', undefined, undefined],
  ['x-remote-user', 'root', undefined, undefined],
  ['x-remote-group', ['system:masters', 'b'], undefined, undefined],
  ['x-remote-extra-a', 'b', undefined, undefined],
  ['x-remote-uid', '0', undefined, undefined],
  ['x-own-user', 'root', undefined, undefined],
  ['transfer-encoding', 'chunked', undefined, undefined],
  ['te', 'trailers', undefined, undefined],
  ['keep-alive', '5', undefined, undefined],
  ['http2-settings', 'x', undefined, undefined],
  ['x-listed', '1', undefined, '1'],
  [':authority', 'a', undefined, undefined],
  ['cookie', 'a=b', 'a=b', 'a=b'],
  ['upgrade', 'websocket', undefined, 'websocket'],
  ['sec-websocket-protocol', 'v5.channel.k8s.io', 'v5.channel.k8s.io', 'v5.channel.k8s.io'],
  [
    'sec-websocket-protocol',
    `${token}, v4.channel.k8s.io, b`,
    'v4.channel.k8s.io,b',
    'v4.channel.k8s.io,b',
  ],
  [
    'sec-websocket-protocol',
    [token, 'v4.channel.k8s.io'],
    'v4.channel.k8s.io',
    'v4.channel.k8s.io',
  ],
  ['sec-websocket-protocol', token, undefined, undefined],
]
for (const [name, value, plain, upgrading] of rows) {
  test(`${name}: ${String(value).replace(token, '<token>')}`, () => {
    const headers = { host: 'h', connection: 'X-Listed, Upgrade', [name]: value }
    const exchange = {
      wire: { separateHeaders: headers, remoteAddress: '::ffff:10.9.8.7' },
    } as unknown as Exchange
    const passed = (leaves: boolean) =>
      requestHeaders(exchange, (one) => one === 'x-own-user', leaves)
    assert.deepEqual([passed(false)[name], passed(true)[name]], [plain, upgrading])
    assert.equal(passed(false).connection, undefined)
    assert.equal(passed(true)['x-forwarded-for'], '10.9.8.7')
  })
}
