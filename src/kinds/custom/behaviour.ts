/**
 * The behaviour of custom kinds: raises generations, reads selectable fields, and protects the
 * status if the version has the status subresource.
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { isObject } from '#schema/misfit.ts'
import { sortedCopy } from '#schema/structural/sorted-copy.ts'

export interface CustomRules {
  /** Whether the version with this apiVersion has the status subresource. */
  hasStatus(apiVersion: string): boolean
  /** Whether any version has the status subresource. */
  readonly anyStatus: boolean
  /**
   * Sets the status to the default of the schema. The caller deletes the status of the request
   * first.
   */
  defaultStatus(object: KubeObject): void
  /** Paths of selectable fields of all versions, such as 'spec.size'. */
  readonly selectable: readonly string[]
  readonly release: Release
  /**
   * The object without fields that a version does not have. Returns the object itself if nothing
   * differs.
   */
  seenAs(object: KubeObject, apiVersion: string): KubeObject
}

export function customBehaviour(rules: CustomRules): Behaviour {
  const { anyStatus } = rules
  const hasStatusSubresource = ({ requestApiVersion = '' }: Context) =>
    rules.hasStatus(requestApiVersion)
  const inRequestVersion = (object: KubeObject, { requestApiVersion = '' }: Context) =>
    rules.seenAs(object, requestApiVersion)
  return {
    unconditionalUpdate: false,
    unknownFieldText: (field) => `field label not supported: ${field}`,
    ...(rules.selectable.length > 0 && {
      selectableFields: (object) =>
        Object.fromEntries(rules.selectable.map((path) => [path, textAt(object as Json, path)])),
    }),
    prepareForCreate(object, context) {
      if (hasStatusSubresource(context)) {
        delete object.status
        rules.defaultStatus(object)
      }
      object.metadata.generation = 1
    },
    prepareForUpdate(next, old, context) {
      const before = inRequestVersion(old, context)
      if (hasStatusSubresource(context)) keepStatus(next, before)
      if (!sameBody(next, before)) next.metadata.generation = (old.metadata.generation ?? 0) + 1
    },
    warningsOnCreate: (object, context) =>
      finalizerWarnings(object, undefined, releaseOf(context.release)),
    warningsOnUpdate: (next, old, context) =>
      finalizerWarnings(next, old, releaseOf(context.release)),
    ...(anyStatus && {
      resetFields: [['status']],
      subresources: {
        status: {
          resetFields: rules.release.has(resetsMetadata) ? [['metadata'], ['spec']] : [['spec']],
          prepareForUpdate: (next, old, context) =>
            keepAllButStatus(next, inRequestVersion(old, context)),
        },
      },
    }),
  }
}

const resetsMetadata = change('a write to the status of a custom object owns no metadata', {
  since: 36,
})

/** The value at a path, as a string for field selectors. Empty if absent. */
function textAt(object: Json, path: string): string {
  let value: Json | undefined = object
  for (const name of path.split('.')) {
    const holder: Json | undefined = value
    if (holder === undefined || !isObject(holder) || !Object.hasOwn(holder, name)) return ''
    value = holder[name]
  }
  return value === null || typeof value === 'object' ? '' : String(value)
}

/** Compares all fields except metadata. An absent field, null and an empty list all differ. */
function sameBody(next: KubeObject, old: KubeObject): boolean {
  return bodyText(next) === bodyText(old)
}

function bodyText({ metadata: _, ...body }: KubeObject): string {
  return JSON.stringify(sortedCopy(body as Json))
}

function keepAllButStatus(next: KubeObject, old: KubeObject): void {
  // A write that only changes managedFields passes the existing object itself.
  if (next === old) return
  const { status, metadata } = next
  const { managedFields } = metadata
  for (const key of Object.keys(next)) delete next[key]
  Object.assign(next, structuredClone(old))
  if (managedFields === undefined) delete next.metadata.managedFields
  else next.metadata.managedFields = managedFields
  if (status === undefined) delete next.status
  else next.status = status
}
