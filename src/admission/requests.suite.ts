/**
 * Shared fixtures for tests of plugins: real kinds from the facts, requests about small objects,
 * and the message of a rejection.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { loadFacts } from '#kinds/facts.ts'
import type { Kind } from '#kinds/kind.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest, Operation } from './admission.ts'
import { AdmissionChain } from './chain.ts'

const folder = join(import.meta.dirname, '..', '..', 'facts')
const facts = loadFacts((name) => readFileSync(join(folder, name), 'utf8'))

export const catalog = catalogOf(22)

/** Every built-in kind of a release, with all feature gates on. */
export function catalogOf(release: number): Catalog {
  const made = new Catalog([])
  for (const resource of builtInResources(facts, {
    release,
    feature: () => true,
    root: '/registry',
    serves: () => true,
  })) {
    made.add(resource)
  }
  return made
}

/** The types of the same release. */
export const types: KnownTypes = {
  isVersion: (apiVersion) => kindsOf(apiVersion).size > 0,
  typeNamed(apiVersion, kind) {
    const name = kindsOf(apiVersion).get(kind)
    return name === undefined ? undefined : facts.typeOf(name, 22)
  },
}

function kindsOf(apiVersion: string) {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return facts.kindsOf(group, version, 22)
}

export function kindOf(apiVersion: string, plural: string, of = catalog): Kind {
  const [version, group = ''] = apiVersion.split('/').reverse()
  const found = of.find(group, version as string, plural)
  if (found === undefined) throw new Error(`no ${plural} of ${apiVersion}`)
  return found
}

export const admin = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

export function requestOf(
  operation: Operation,
  kind: Kind,
  object: Loose | undefined,
  changes: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return {
    operation,
    kind,
    subresource: '',
    namespace: kind.namespaced ? 'ns' : '',
    name: object?.metadata?.name ?? '',
    object: object as KubeObject | undefined,
    old: undefined,
    user: admin,
    dryRun: false,
    options: {},
    warnings: [],
    auditAnnotations: new Map(),
    ...changes,
  }
}

export const podKind = kindOf('v1', 'pods')

export const pod = (spec: Loose = {}, metadata: Loose = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i', resources: {} }], ...spec },
})

/** Runs both steps of a plugin for a request; returns the rejection or `admitted`. */
export async function outcome(
  plugin: AdmissionPlugin,
  request: AdmissionRequest,
  reader: ObjectReader,
): Promise<string> {
  const chain = new AdmissionChain([plugin], reader)
  try {
    await chain.mutate(request)
    await chain.validate(request)
    return 'admitted'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.message}`
  }
}
