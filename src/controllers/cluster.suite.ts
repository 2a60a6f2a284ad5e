/** A server in memory with the controllers a test names, reached as controllers reach it. */
import { generateKeyPairSync, randomBytes, randomUUID, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readSigningKey } from '#access/authenticate/key-files.ts'
import { TokenMint } from '#access/authenticate/service-account-token.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { namespaceLifecycle } from '#admission/namespace-lifecycle.ts'
import { storageObjectInUseProtection } from '#admission/storage-defaults.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { issueCertificate } from '#base/certificate.ts'
import { systemClock } from '#base/clock.ts'
import type { ApiClient } from '#client/client.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { loadFacts } from '#kinds/facts.ts'
import { featureGates } from '#kinds/feature-gates.ts'
import { servedSchema } from '#kinds/served-schema.ts'
import { storedParser } from '#kinds/stored-form.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import type { Storage } from '#storage/storage.ts'
import { localClient } from '#verbs/local-client.ts'
import { objectReader } from '#verbs/reader.ts'
import type { Server } from '#verbs/server.ts'
import { WatchCache } from '#watchcache/watch-cache.ts'
import type { Controller, Surroundings } from './controller.ts'
import { runControllers } from './run.ts'

const readFacts = (name: string) =>
  readFileSync(new URL(`../../facts/${name}`, import.meta.url), 'utf8')
const facts = loadFacts(readFacts)
const suffix = () => randomBytes(3).toString('hex').slice(0, 5)
const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

export interface Cluster {
  readonly server: Server
  readonly client: ApiClient
  readonly surroundings: Surroundings
  /** The errors that controllers reported. */
  readonly complaints: string[]
  /** Begins further controllers; the answer ends them. */
  run(...controllers: Controller[]): () => void
  stop(): Promise<void>
}

export async function startCluster(
  options: { release?: number; storage?: Storage; wrap?: (client: ApiClient) => ApiClient } = {},
): Promise<Cluster> {
  const { release = 22, storage = createMemoryStorage(), wrap = (client) => client } = options
  const server = await makeServer(release, storage)
  const stopping = new AbortController()
  const complaints: string[] = []
  const user = (account: string) => ({
    name: `system:serviceaccount:kube-system:${account}`,
    uid: '',
    groups: ['system:masters'],
    extra: {},
  })
  const surroundings: Surroundings = {
    clientFor: (account) => wrap(localClient(server, user(account), 'kube-controller-manager')),
    clock: systemClock,
    schemaOf(apiVersion, name) {
      const kind = server.catalog.byKind(apiVersion, name)
      return kind && servedSchema(kind)
    },
    release,
    feature: server.feature,
    report: (message, error) =>
      complaints.push(`${message} ${error instanceof Error ? error.stack : error}`),
    randomSuffix: suffix,
    ...secretsOfServer(),
    signingDurationMs: 365 * 24 * 3_600_000,
    terminatedPodsMax: 3,
    legacyTokenUnusedMs: 365 * 24 * 3_600_000,
    othersSeeMs: 0,
  }
  const client = localClient(server, user('test'), 'test')
  for (const name of ['default', 'kube-system']) {
    await client
      .create({ group: '', version: 'v1', plural: 'namespaces' }, '', { metadata: { name } })
      .catch(() => {})
  }
  return {
    server,
    client,
    surroundings,
    complaints,
    run(...controllers) {
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, stopping.signal])
      void runControllers({ controllers, surroundings, elect: undefined, signal })
      return () => stop.abort()
    },
    async stop() {
      stopping.abort()
      await server.cache.close()
      if (options.storage === undefined) await storage.close()
    },
  }
}

function secretsOfServer(): Pick<Surroundings, 'rootCertificates' | 'mint' | 'authority'> {
  const { privateKey, publicKey } = keyPair()
  const now = Date.now()
  const pem = issueCertificate(
    {
      subject: { commonName: 'test authority' },
      publicKey,
      usages: ['authority'],
      notBeforeMs: now - 60_000,
      notAfterMs: now + 10 * 365 * 24 * 3_600_000,
      serial: randomBytes(16),
    },
    { privateKey },
  )
  const tokenKey = keyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return {
    rootCertificates: pem,
    mint: new TokenMint('https://kubernetes.default.svc', readSigningKey(tokenKey, 'test')),
    authority: { certificate: new X509Certificate(pem), privateKey },
  }
}

async function makeServer(release: number, storage: Storage): Promise<Server> {
  const gates = featureGates(JSON.parse(readFacts('features.json')), release, new Map() as never)
  if ('error' in gates) throw new Error(gates.error)
  const catalog = new Catalog([])
  const root = '/registry'
  for (const resource of builtInResources(facts, {
    release,
    feature: gates.enabled,
    root,
    serves: () => true,
  })) {
    catalog.add(resource)
  }
  const parseStored = storedParser(catalog)
  const cache = new WatchCache(
    {
      storage,
      parse: parseStored,
      clock: systemClock,
      root,
      limits: () => ({ eventsMax: 10_000, ageMsMax: 300_000 }),
      report: (message, error) => console.error(message, error),
    },
    await storage.currentRevision(),
  )
  cache.start()
  const reader = objectReader({ catalog, cache, storage, parseStored })
  return {
    catalog,
    storage,
    cache,
    reader,
    admission: new AdmissionChain(
      [
        namespaceLifecycle(release),
        storageObjectInUseProtection(releaseOf(release), gates.enabled),
      ],
      reader,
    ),
    allocators: {
      reserve: async () => undefined,
      release: () => undefined,
      repair: async () => {},
    },
    clock: systemClock,
    release,
    feature: gates.enabled,
    parseStored,
    isVersion: () => false,
    typeNamed: () => undefined,
    newUid: randomUUID,
    randomSuffix: suffix,
    storesProtobuf: false,
    readsFromMemory: () => true,
    allowPrivileged: true,
    eventTtlSeconds: 3600,
  } as unknown as Server
}

export const core = (plural: string) => ({ group: '', version: 'v1', plural })

export const configMap = (
  namespace: string,
  name: string,
  owners: KubeObject[] = [],
): KubeObject => ({
  metadata: {
    name,
    namespace,
    ownerReferences: owners.map(({ apiVersion = 'v1', kind = 'ConfigMap', metadata }) => ({
      apiVersion,
      kind,
      name: metadata.name as string,
      uid: metadata.uid as string,
      blockOwnerDeletion: true,
    })),
  },
})
