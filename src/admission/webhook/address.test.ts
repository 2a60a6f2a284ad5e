/** The addresses of webhooks: their URL, or an endpoint of their service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { addressOf } from './address.ts'
import { ownPlace } from './webhook-server.suite.ts'

const metadata = { name: 'hook', namespace: 'ns' }
const service = (ports: Loose[], more: Loose = {}) => ({ spec: { ports, ...more } })
const endpoints = (...subsets: Loose[]) => ({ subsets })
const there = { ip: '10.1.2.3' }
const named = { namespace: 'ns', name: 'hook' }

interface Row {
  readonly client: Loose
  readonly service?: Loose
  readonly endpoints?: Loose
  readonly timeoutMs?: number
  /** url, host, server name, shown; or the error. */
  readonly expected: unknown[] | string
}
const at = 'https://hook.ns.svc'
const query = '?timeout=5s'
const rows: Record<string, Row> = {
  'a URL': {
    client: { url: 'https://a.b:8443/x' },
    expected: [
      'https://a.b:8443/x?timeout=5s',
      'a.b:8443',
      undefined,
      'https://a.b:8443/x?timeout=5s',
    ],
  },
  'a URL without a port, which is known by one': {
    client: { url: 'https://a.b/x' },
    expected: ['https://a.b/x?timeout=5s', 'a.b:443', undefined, 'https://a.b/x?timeout=5s'],
  },
  'a URL whose path goes astray': {
    client: { url: 'https://a.b:8443//x/./y//../../z%20z/' },
    expected: [
      'https://a.b:8443/z%20z?timeout=5s',
      'a.b:8443',
      undefined,
      'https://a.b:8443/z%20z?timeout=5s',
    ],
  },
  'part of a second, which is one': {
    client: { url: 'https://a.b/x' },
    timeoutMs: 1200,
    expected: ['https://a.b/x?timeout=2s', 'a.b:443', undefined, 'https://a.b/x?timeout=2s'],
  },
  'no URL that is one': {
    client: { url: 'nonsense' },
    expected: 'Unparsable URL: parse "nonsense"',
  },
  neither: { client: {}, expected: 'webhook configuration must have either service or URL' },
  'a service': {
    client: { service: { ...named, path: '/p' } },
    service: service([{ port: 443 }]),
    endpoints: endpoints({ addresses: [there], ports: [{ port: 9443 }] }),
    expected: [
      'https://10.1.2.3:9443/p?timeout=5s',
      'hook.ns.svc:443',
      'hook.ns.svc',
      `${at}:443/p${query}`,
    ],
  },
  'a service at a path that goes astray': {
    client: { service: { ...named, path: '//p//../q/./r/' } },
    service: service([{ port: 443 }]),
    endpoints: endpoints({ addresses: [there], ports: [{ port: 9443 }] }),
    expected: [
      'https://10.1.2.3:9443/q/r?timeout=5s',
      'hook.ns.svc:443',
      'hook.ns.svc',
      `${at}:443/q/r${query}`,
    ],
  },
  'a service without a path': {
    client: { service: named },
    service: service([{ port: 443 }]),
    endpoints: endpoints({ addresses: [there], ports: [{ port: 9443 }] }),
    expected: [
      'https://10.1.2.3:9443/?timeout=5s',
      'hook.ns.svc:443',
      'hook.ns.svc',
      `${at}:443/${query}`,
    ],
  },
  'a service at a port of its own, among several': {
    client: { service: { ...named, port: 8443 } },
    service: service([
      { name: 'a', port: 443 },
      { name: 'b', port: 8443 },
    ]),
    endpoints: endpoints({
      addresses: [there],
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    }),
    expected: [
      'https://10.1.2.3:2/?timeout=5s',
      'hook.ns.svc:8443',
      'hook.ns.svc',
      `${at}:8443/${query}`,
    ],
  },
  'endpoints of the other family': {
    client: { service: named },
    service: service([{ port: 443 }]),
    endpoints: endpoints({ addresses: [{ ip: 'fd00::1' }], ports: [{ port: 9443 }] }),
    expected: [
      'https://[fd00::1]:9443/?timeout=5s',
      'hook.ns.svc:443',
      'hook.ns.svc',
      `${at}:443/${query}`,
    ],
  },
  'endpoints of which only the second is ready': {
    client: { service: named },
    service: service([{ port: 443 }]),
    endpoints: endpoints(
      { notReadyAddresses: [there], ports: [{ port: 1 }] },
      { addresses: [], ports: [{ port: 2 }] },
      { addresses: [there], ports: [{ port: 3 }] },
    ),
    expected: [
      'https://10.1.2.3:3/?timeout=5s',
      'hook.ns.svc:443',
      'hook.ns.svc',
      `${at}:443/${query}`,
    ],
  },
  'a service elsewhere': {
    client: { service: { ...named, port: 8443 } },
    service: service([], { type: 'ExternalName', externalName: 'far.example.com' }),
    expected: [
      'https://far.example.com:8443/?timeout=5s',
      'hook.ns.svc:8443',
      'hook.ns.svc',
      `${at}:8443/${query}`,
    ],
  },
  'this server, wherever the service leads': {
    client: { service: { namespace: 'default', name: 'kubernetes', path: '/p' } },
    expected: [
      'https://127.0.0.1:1/p?timeout=5s',
      'kubernetes.default.svc:443',
      'kubernetes.default.svc',
      'https://kubernetes.default.svc:443/p?timeout=5s',
    ],
  },
  'another port of this server': {
    client: { service: { namespace: 'default', name: 'kubernetes', port: 8443 } },
    expected: `Post "https://kubernetes.default.svc:8443/${query}": service "kubernetes" not found`,
  },
  'no such service': {
    client: { service: named },
    expected: `Post "${at}:443/${query}": service "hook" not found`,
  },
  'no such port': {
    client: { service: { ...named, port: 8443 } },
    service: service([{ port: 443 }]),
    endpoints: endpoints({ addresses: [there], ports: [{ port: 9443 }] }),
    expected: `Post "${at}:8443/${query}": no service port 8443 found for service "hook"`,
  },
  'no endpoints': {
    client: { service: named },
    service: service([{ port: 443 }]),
    expected: `Post "${at}:443/${query}": no endpoints available for service "hook"`,
  },
  'no endpoints of that port': {
    client: { service: named },
    service: service([{ name: 'https', port: 443 }]),
    endpoints: endpoints({ addresses: [there], ports: [{ name: 'http', port: 80 }] }),
    expected: `Post "${at}:443/${query}": no endpoints available for service "hook"`,
  },
}
for (const [what, row] of Object.entries(rows)) {
  test(`the address of ${what}`, async () => {
    const reader = new MemoryReader()
    if (row.service) reader.put('', 'services', { metadata, ...row.service })
    if (row.endpoints) reader.put('', 'endpoints', { metadata, ...row.endpoints })
    const found = await addressOf(row.client, row.timeoutMs ?? 5000, reader, ownPlace).then(
      ({ url, host, serverName, shown }) => [url.href, host, serverName, shown],
      (error: Error) => error.message,
    )
    assert.deepEqual(found, row.expected)
  })
}
