import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Catalog } from '#kinds/catalog.ts'
import type { Resource } from '#kinds/kind.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { sealing } from './sealing.ts'

const secret = Buffer.alloc(16, 'k').toString('base64')
const root = '/registry'

const catalog = new Catalog([])
for (const [group, plural, path] of [
  ['', 'secrets', 'secrets'],
  ['', 'events', 'events'],
  ['', 'services', 'services/specs'],
  ['', 'endpoints', 'services/endpoints'],
  ['apps', 'deployments', 'deployments'],
  ['networking.k8s.io', 'ingresses', 'ingress'],
  [
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    'apiextensions.k8s.io/customresourcedefinitions',
  ],
]) {
  catalog.add({ group, plural, storagePrefix: `${root}/${path}`, kinds: [] } as unknown as Resource)
}

const paths = [
  'secrets/a/b',
  'events/a/b',
  'services/specs/a/b',
  'services/endpoints/a/b',
  'deployments/a/b',
  'ingress/a/b',
  'apiextensions.k8s.io/customresourcedefinitions/a',
  'example.com/widgets/a/b',
  'ranges/serviceips',
  'masterleases/192.0.2.1',
]

const withConfig = async <T>(text: string, work: (file: string) => Promise<T> | T): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-sealing-'))
  const file = join(directory, 'config.yaml')
  writeFileSync(file, text)
  try {
    return await work(file)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const configOf = (...entries: (readonly string[])[]) =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: entries.map((resources, at) => ({
      resources,
      providers: [{ aescbc: { keys: [{ name: `k${at}`, secret }] } }],
    })),
  })

/** Which of the paths are sealed, by the key that did it. */
const sealedBy = (text: string) =>
  withConfig(text, async (file) => {
    const inner = createMemoryStorage()
    const storage = sealing(file, catalog, root)(inner)
    const sealed: string[] = []
    for (const path of paths) {
      const key = `${root}/${path}`
      await storage.put(key, Buffer.from('plain'), { ifRevision: 0 })
      const stored = (await inner.get(key)).value?.bytes.toString('latin1') ?? ''
      const by = /^k8s:enc:aescbc:v1:(\w+):/.exec(stored)?.[1]
      if (by !== undefined) sealed.push(`${path} ${by}`)
    }
    await inner.close()
    return sealed
  })

/** Recorded from kube-apiserver 1.22.17. */
const rows: [entries: string[][], sealed: string[]][] = [
  [[['secrets']], ['secrets/a/b k0']],
  [[['secrets.']], ['secrets/a/b k0']],
  [[['Secrets', 'secrets.core', 'deployments', 'nothing', '']], []],
  [[['services']], ['services/specs/a/b k0', 'ranges/serviceips k0']],
  [[['endpoints', 'events']], ['events/a/b k0', 'services/endpoints/a/b k0']],
  [[['events.events.k8s.io', 'ingresses.extensions', 'serviceipallocations']], []],
  [[['*.apps', 'ingresses.networking.k8s.io']], ['deployments/a/b k0', 'ingress/a/b k0']],
  [[['apiServerIPInfo']], ['masterleases/192.0.2.1 k0']],
  [[['widgets.example.com', '*.example.com', '*.apiextensions.k8s.io', '*.*']], []],
  [
    [['*'], ['secrets']],
    [
      'secrets/a/b k1',
      'events/a/b k0',
      'services/specs/a/b k0',
      'services/endpoints/a/b k0',
      'ranges/serviceips k0',
      'masterleases/192.0.2.1 k0',
    ],
  ],
  [[['secrets'], ['secrets']], ['secrets/a/b k0']],
]
for (const [entries, sealed] of rows) {
  test(`${JSON.stringify(entries)} seals ${sealed.length} of the paths`, async () =>
    assert.deepEqual(await sealedBy(configOf(...entries)), sealed))
}

test('a file that cannot be understood ends the start with the name of its flag', () =>
  withConfig('{}', (file) => {
    assert.throws(() => sealing(file, catalog, root), {
      name: 'CannotStart',
      message: `--encryption-provider-config: error while parsing encryption provider configuration file "${file}": error while parsing file: Object 'Kind' is missing`,
    })
  }))
