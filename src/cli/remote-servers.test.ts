/** What the flags about kubelets come to: who they must be, and who we are to them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Server } from '#verbs/server.ts'
import type { Settings } from './flags.ts'
import { connectParts, type RemoteSurroundings } from './remote-servers.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-kubelets-'))
after(() => rmSync(place, { recursive: true, force: true }))
const file = (text: string) => {
  const path = join(place, text)
  writeFileSync(path, text)
  return path
}

const timeout = { kubeletTimeoutMs: 7000 }
const shown = { cert: 'cert', key: 'key', connectTimeoutMs: 7000 }
// settings, trust, trust of those who ask not to be asked
const rows: [object, object, object][] = [
  [timeout, { connectTimeoutMs: 7000, insecure: true }, { connectTimeoutMs: 7000, insecure: true }],
  [
    { ...timeout, kubeletCertificateAuthority: file('ca') },
    { connectTimeoutMs: 7000, ca: 'ca', insecure: false },
    { connectTimeoutMs: 7000, insecure: true },
  ],
  [
    {
      ...timeout,
      kubeletCertificateAuthority: file('ca'),
      kubeletClientCertificate: file('cert'),
      kubeletClientKey: file('key'),
    },
    { ...shown, ca: 'ca', insecure: false },
    { ...shown, insecure: true },
  ],
]
for (const [settings, trust, blindTrust] of rows) {
  test(`kubelets with ${Object.keys(settings).join(', ')}`, () => {
    const types = { kubeletPreferredAddressTypes: ['InternalIP'], proxyLoopbackAllowed: false }
    const { kubelet } = connectParts(
      { ...settings, ...types } as unknown as Settings,
      {} as Server,
      {} as RemoteSurroundings,
    )
    assert.deepEqual(kubelet, { trust, blindTrust, addressTypes: ['InternalIP'] })
  })
}
