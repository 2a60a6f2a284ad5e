/**
 * Field ownership (managedFields, not ownerReferences) of the writes of a kind. It gives
 * src/patch/apply the types, versions and conversions of the kind.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import { copyWithEmptyMarks } from '#api/written-empty.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { FieldManagerKind } from '#patch/apply/field-manager.ts'
import type { FieldSet } from '#patch/apply/field-set.ts'
import type { Type } from '#schema/type.ts'
import { ConvertedElsewhere, withConversions } from './converted-elsewhere.ts'
import { fromHub } from './decode.ts'
import { type Server, timestamp, type WriteRequest } from './server.ts'

/** Loaded with the first write. */
const loadManager = loadLater<typeof import('#patch/apply/field-manager.ts')>(
  import.meta.url,
  '#patch/apply/field-manager',
)
const loadFieldSet = loadLater<typeof import('#patch/apply/field-set.ts')>(
  import.meta.url,
  '#patch/apply/field-set',
)

const managerKinds = new WeakMap<Kind, FieldManagerKind>()

/** Runs a computation of field ownership; repeats it if a webhook must first convert the object. */
export function withOwners<Result>(
  server: Server,
  kind: Kind,
  act: (manager: FieldManagerKind) => Result,
): Awaitable<Result> {
  const manager = fieldManagerKind(server, kind)
  return kind.resource.convertsElsewhere ? withConversions(manager, act) : act(manager)
}

function fieldManagerKind({ release }: Server, kind: Kind): FieldManagerKind {
  const known = managerKinds.get(kind)
  if (known !== undefined) return known
  const { resource } = kind
  // As in kube-apiserver, the core group does not know the types of other groups, and vice versa.
  // So a manager of an event in the other group's version is unknown. Other groups that share a
  // resource know each other's types.
  const versionOf = (apiVersion: string) => {
    const found = resource.kindOf(apiVersion)
    return (found?.group === '') === (kind.group === '') ? found : undefined
  }
  const resets = new Map<string, FieldSet | undefined>()
  const made: FieldManagerKind = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    release,
    saysSubresource: entriesSaySubresource(kind.type),
    typeFor(apiVersion) {
      const found = versionOf(apiVersion)
      return found?.ownedType ?? found?.type
    },
    convert(object, toApiVersion) {
      const from = versionOf(object.apiVersion as string)
      const to = versionOf(toApiVersion)
      if (from === undefined || to === undefined) return undefined
      if (from === to) return object
      if (resource.renamed !== undefined) {
        const seen = resource.renamed(object, to)
        if (seen instanceof Promise) throw new ConvertedElsewhere(object, toApiVersion, seen)
        return seen
      }
      // After removals the object may lack fields that its type always has; `conform` adds them.
      const converted = resource.convert([from.conform(object as Loose).object], from, to)
      return converted instanceof Promise ? undefined : converted[0]
    },
    resetFields(apiVersion, subresource) {
      const has = releaseOf(release).has.bind(releaseOf(release))
      if (!has(resetFieldsHaveNoOwner)) return undefined
      if (kind.origin === 'custom') {
        // Each version of a custom kind has its own setting of the status subresource.
        const inAll = subresource === 'status' && has(statusResetsInAllVersions)
        const version = apiVersion === kind.apiVersion || inAll ? versionOf(apiVersion) : undefined
        if (!version?.subresources.has('status')) return undefined
      }
      if (!resets.has(subresource)) {
        const { behaviour } = resource
        const rules = subresource === '' ? behaviour : behaviour.subresources?.[subresource]
        const { resetFields } = rules ?? {}
        const paths =
          typeof resetFields === 'function' ? resetFields(releaseOf(release)) : resetFields
        resets.set(
          subresource,
          paths === undefined ? undefined : loadFieldSet().makeFieldSet(paths),
        )
      }
      return resets.get(subresource)
    },
  }
  managerKinds.set(kind, made)
  return made
}

/** Whether entries of managedFields have `subresource` in the type of the release. */
function entriesSaySubresource(type: Type): boolean {
  const member = (of: Type | undefined, name: string) =>
    of?.is === 'struct' ? of.byName.get(name)?.type : undefined
  const entries = member(member(type, 'metadata'), 'managedFields')
  return entries?.is !== 'list' || member(entries.items, 'subresource') !== undefined
}

const statusResetsInAllVersions = change(
  'a write to the status of a custom object leaves the owners of other versions their spec',
  { since: 35 },
)
const resetFieldsHaveNoOwner = change('fields that a write resets have no owner', { since: 21 })
export const ownsFirstWrite = change('managed fields are recorded from the first write on', {
  since: 18,
})

/**
 * Records the ownership of an update or create in `next` (hub version). Field sets are computed in
 * the version of the request, on the result of `asOwned`.
 */
export function claimFields(
  server: Server,
  request: WriteRequest,
  next: KubeObject,
  live: KubeObject | undefined,
  asOwned: (object: KubeObject) => KubeObject = (object) => object,
): Awaitable<void> {
  if (!server.feature('ServerSideApply')) {
    delete next.metadata.managedFields
    return
  }
  const { kind, subresource } = request.target
  const who = {
    manager: request.options.fieldManager,
    subresource,
    now: timestamp(server.clock),
    onlyOnceApplied: !releaseOf(server.release).has(ownsFirstWrite),
  }
  const record = (before: KubeObject | undefined, requested: KubeObject) => {
    const owned = asOwned(requested)
    const entries = withOwners(server, kind, (of) =>
      loadManager().recordUpdate(of, before, owned, who),
    )
    if (!(entries instanceof Promise)) return setManaged(next, entries)
    // If the object cannot be converted to the managers' versions, all managedFields are dropped.
    return entries.catch(() => []).then((found) => setManaged(next, found))
  }
  if (kind === hubOf(kind)) return record(live, next)
  // Lists and maps that were written empty are owned too, so the copy keeps their marks.
  return after(fromHub(kind, copyWithEmptyMarks(next)), (requested) =>
    after(live && fromHub(kind, copyData(live)), (before) => record(before, requested)),
  )
}

export function setManaged(object: KubeObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length === 0) delete object.metadata.managedFields
  else object.metadata.managedFields = entries
}
