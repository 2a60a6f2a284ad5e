/**
 * Reconciles the bootstrap policy at start. It creates missing objects and restores removed
 * permissions and subjects, unless the autoupdate annotation of an object is "false". It keeps the
 * rules, subjects, labels and annotations that an operator added. It removes an aggregationRule
 * that the policy lacks, and replaces a binding to another role.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { equalValues } from '#patch/json-map.ts'
import { autoUpdateAnnotation, bootstrapPolicy } from './bootstrap-policy.ts'
import { rbacGroup } from './rbac.ts'
import { uncovered } from './rule-coverage.ts'

/** `replace` deletes the old binding and creates a new one, because roleRef is immutable. */
export type PolicyWrite =
  | { operation: 'create'; object: KubeObject }
  | { operation: 'update'; object: KubeObject }
  | { operation: 'replace'; object: KubeObject; old: KubeObject }

export interface PolicyWriter {
  /** Creates the namespace if it does not exist. */
  ensureNamespace(name: string): Promise<void>
  create(plural: string, object: KubeObject): Promise<void>
  update(plural: string, object: KubeObject): Promise<void>
  delete(plural: string, object: KubeObject): Promise<void>
}

/** How often a write is retried when another client wrote at the same time. */
const attemptsMax = 5

export const pluralOf = (object: KubeObject): string => `${object.kind?.toLowerCase()}s`

/** The write after which `existing` contains `expected`. Undefined if no write is needed. */
export function reconcile(
  expected: KubeObject,
  existing: KubeObject | undefined,
): PolicyWrite | undefined {
  if (existing === undefined) return { operation: 'create', object: expected }
  if (existing.metadata.annotations?.[autoUpdateAnnotation] === 'false') return undefined
  if (expected.roleRef !== undefined && !sameRole(expected.roleRef, existing.roleRef))
    return { operation: 'replace', object: expected, old: existing }
  const object: KubeObject = { ...existing, metadata: { ...existing.metadata } }
  merge(object.metadata, 'labels', expected)
  merge(object.metadata, 'annotations', expected)
  if (expected.roleRef !== undefined) addSubjects(object, expected)
  else addRules(object, expected)
  return isSame(object, existing) ? undefined : { operation: 'update', object: copyData(object) }
}

/** Unchanged parts are the same references, so comparing references is enough. */
const isSame = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.labels === b.metadata.labels &&
  a.metadata.annotations === b.metadata.annotations &&
  ['rules', 'aggregationRule', 'subjects'].every((part) => a[part] === b[part])

/** The existing value wins: an operator may have changed it. */
function merge(metadata: Loose, field: 'labels' | 'annotations', expected: KubeObject): void {
  const had = metadata[field] ?? {}
  const wanted = expected.metadata[field] ?? {}
  if (Object.keys(wanted).every((key) => Object.hasOwn(had, key))) return
  metadata[field] = { ...wanted, ...had }
}

function addRules(object: KubeObject, expected: KubeObject): void {
  const missing = uncovered(object.rules ?? [], expected.rules ?? [])
  if (missing.length > 0) object.rules = [...(object.rules ?? []), ...missing]
  const wanted: Loose[] = expected.aggregationRule?.clusterRoleSelectors ?? []
  if (expected.aggregationRule === undefined) {
    delete object.aggregationRule
    return
  }
  const selectors: Loose[] = object.aggregationRule?.clusterRoleSelectors ?? []
  const lacking = wanted.filter((one) => !selectors.some((had) => equalValues(one, had)))
  if (lacking.length > 0)
    object.aggregationRule = { clusterRoleSelectors: [...selectors, ...lacking] }
}

function addSubjects(object: KubeObject, expected: KubeObject): void {
  const subjects: Loose[] = object.subjects ?? []
  const missing = ((expected.subjects ?? []) as Loose[]).filter(
    (subject) => !subjects.some((had) => sameSubject(subject, had)),
  )
  if (missing.length > 0) object.subjects = [...subjects, ...missing]
}

const sameRole = (a: Loose, b: Loose | undefined): boolean =>
  a.apiGroup === b?.apiGroup && a.kind === b?.kind && a.name === b?.name
const sameSubject = (a: Loose, b: Loose): boolean =>
  ['kind', 'apiGroup', 'name', 'namespace'].every((key) => (a[key] ?? '') === (b[key] ?? ''))

/** Roles that became aggregated roles, and the roles that contain their former rules. */
const aggregatedRoles = ['admin', 'edit', 'view'].map((name) => [
  name,
  `system:aggregate-to-${name}`,
])

/**
 * Writes the policy of the emulated release to the store. Rejects if a write keeps failing.
 */
export async function reconcileBootstrapPolicy(
  release: number,
  reader: ObjectReader,
  writer: PolicyWriter,
): Promise<void> {
  const policy = bootstrapPolicy(release)
  const get = (plural: string, name: string) => reader.get(rbacGroup, plural, '', name)
  for (const [old, now] of aggregatedRoles as [string, string][]) {
    const role = await get('clusterroles', old)
    if (role === undefined || role.aggregationRule !== undefined) continue
    if ((await get('clusterroles', now)) !== undefined) continue
    await ignoreExisting(writer.create('clusterroles', renamed(role, now)))
  }
  const viewer = policy.find(
    ({ kind, metadata }) =>
      kind === 'ClusterRoleBinding' && metadata.name === 'system:public-info-viewer',
  )
  const discovery = await get('clusterrolebindings', 'system:discovery')
  if (viewer !== undefined && discovery !== undefined) {
    if ((await get('clusterrolebindings', 'system:public-info-viewer')) === undefined) {
      const copy = renamed(discovery, 'system:public-info-viewer')
      await ignoreExisting(
        writer.create('clusterrolebindings', { ...copy, roleRef: viewer.roleRef }),
      )
    }
  }
  const namespaces = new Set(policy.flatMap(({ metadata }) => metadata.namespace ?? []))
  await Promise.all([...namespaces].map((name) => writer.ensureNamespace(name)))
  await Promise.all(policy.map((expected) => ensure(expected, reader, writer)))
}

async function ensure(expected: KubeObject, reader: ObjectReader, writer: PolicyWriter) {
  const plural = pluralOf(expected)
  const { namespace = '', name = '' } = expected.metadata
  for (let attempt = 1; ; attempt++) {
    const write = reconcile(expected, await reader.get(rbacGroup, plural, namespace, name))
    if (write === undefined) return
    try {
      if (write.operation === 'update') return await writer.update(plural, write.object)
      if (write.operation === 'replace') await writer.delete(plural, write.old)
      return await writer.create(plural, write.object)
    } catch (error) {
      const raced = error instanceof ApiError && (error.code === 409 || error.code === 404)
      if (!raced || attempt === attemptsMax) throw error
    }
  }
}

function renamed(object: KubeObject, name: string): KubeObject {
  const { labels, annotations } = object.metadata
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) }
  return { ...copyData(object), metadata }
}

async function ignoreExisting(write: Promise<void>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error
  }
}
