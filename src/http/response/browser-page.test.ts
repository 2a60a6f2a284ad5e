import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBrowserVisit, pageBody } from './browser-page.ts'
import type { ClientCertificates, Headers, Wire } from '#http/exchange.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const certificates = {} as ClientCertificates
interface Visit {
  method?: string
  url?: string
  headers: Headers
  certificates?: ClientCertificates
}
const rows: [what: string, visit: Visit, isVisit: boolean][] = [
  ['a browser', { headers: { accept: browser } }, true],
  ['a HEAD of a browser', { method: 'HEAD', headers: { accept: browser } }, true],
  ['kubectl', { headers: { accept: 'application/json, */*' } }, false],
  ['curl', { headers: { accept: '*/*' } }, false],
  ['a client without Accept', { headers: {} }, false],
  ['a token', { headers: { accept: browser, authorization: 'Bearer a' } }, false],
  ['a client certificate', { headers: { accept: browser }, certificates }, false],
  ['another path', { url: '/api', headers: { accept: browser } }, false],
  ['a POST', { method: 'POST', headers: { accept: browser } }, false],
]
for (const [what, { method = 'GET', url = '/', headers, certificates }, isVisit] of rows)
  test(`${what} ${isVisit ? 'gets' : 'does not get'} the page`, () => {
    const wire = { method, url, headers, clientCertificate: () => certificates }
    assert.equal(isBrowserVisit(wire as Wire), isVisit)
  })

test('the page loads nothing and shows no data', () => {
  assert.doesNotMatch(String(pageBody), /<script|src=|https?:|@import/)
})
