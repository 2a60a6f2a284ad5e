/** The label and field selectors of a list or watch as one function on cache entries. */
import { type FieldSelector, requireKnownFields, soleName } from '#api/field-selector.ts'
import {
  isEquality,
  type LabelSelector,
  labelMatcher,
  selectsEverything,
} from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import type { Kind, Resource } from '#kinds/kind.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { RequiredLabel } from '#watchcache/resource-cache.ts'

export interface Selection {
  /** Undefined if everything matches. */
  readonly matches: ((entry: Entry) => boolean) | undefined
  /** The only name that can match, if there is one. */
  readonly name: string | undefined
  /** A label that all matching objects have. */
  readonly label: RequiredLabel | undefined
}

/** The selectable fields of each resource, with the index of their values in entries. */
const namesOf = new WeakMap<Resource, Map<string, number>>()

function selectableNames(resource: Resource): Map<string, number> {
  const known = namesOf.get(resource)
  if (known !== undefined) return known
  const { selectableFields } = resource.behaviour
  const empty = resource.hub.conform({}).object
  const names = Object.keys(selectableFields?.(empty as KubeObject) ?? {})
  const made = new Map(names.map((name, index) => [name, index]))
  namesOf.set(resource, made)
  return made
}

const isSelectable = (
  { selectableFields }: Kind,
  field: string,
  own: ReadonlyMap<string, number>,
): boolean => own.has(field) && selectableFields?.includes(field) !== false

const noNames = new Map<string, number>()

/** Rejects unknown fields with the kind's message. `name` is the name in the path. */
export function select(
  kind: Kind,
  labels: LabelSelector,
  fields: FieldSelector,
  name?: string,
): Selection {
  // Without field selectors the kind's rules are not needed and not loaded.
  const own = fields.length === 0 ? noNames : selectableNames(kind.resource)
  requireKnownFields(fields, (field) => {
    if (field === 'metadata.name' || isSelectable(kind, field, own)) return undefined
    if (field === 'metadata.namespace' && takesNamespace(kind, own.size)) return undefined
    return unknownField(kind, field, own.size > 0)
  })
  if (name !== undefined && fields.length > 0 && soleName(fields) !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  const wanted =
    name === undefined ? fields : [...fields, { field: 'metadata.name', value: name, equal: true }]
  const byLabel = selectsEverything(labels) ? undefined : labelMatcher(labels)
  const rules = rulesOf(wanted)
  if (byLabel === undefined && wanted.length === 0)
    return { matches: undefined, name: undefined, label: undefined }
  return {
    name: soleName(wanted),
    label: soughtLabel(labels),
    matches(entry) {
      if (byLabel !== undefined && !byLabel(entry.labels)) return false
      for (const { field, only, noneOf } of rules) {
        const value = fieldOf(entry, field, own)
        if ((only !== undefined && value !== only) || noneOf?.has(value)) return false
      }
      return true
    },
  }
}

/**
 * All requirements of one field: there may be thousands, and each object is matched against them.
 */
interface FieldRule {
  readonly field: string
  only?: string
  noneOf?: Set<string>
}

function rulesOf(wanted: FieldSelector): readonly FieldRule[] {
  const rules = new Map<string, FieldRule>()
  for (const { field, value, equal } of wanted) {
    const rule = rules.get(field) ?? { field }
    rules.set(field, rule)
    const { only = value } = rule
    if (equal) rule.only = only
    // Two different required values match nothing.
    if (!equal) (rule.noneOf ??= new Set()).add(value)
    else if (only !== value) (rule.noneOf ??= new Set()).add(only)
  }
  return [...rules.values()]
}

function soughtLabel(labels: LabelSelector): RequiredLabel | undefined {
  if (labels === 'nothing') return undefined
  const first = labels.find(isEquality)
  return first && { key: first.key, value: first.values[0] }
}

/**
 * Kinds without selectable fields accept a metadata.namespace selector even if they are
 * cluster-scoped.
 */
const takesNamespace = ({ namespaced, resource: { behaviour } }: Kind, ownCount: number) =>
  namespaced
    ? behaviour.selectsNamespace !== false
    : ownCount === 0 && behaviour.unknownFieldText === undefined

function unknownField(kind: Kind, field: string, hasOwn: boolean): string {
  if (hasOwn || kind.resource.behaviour.unknownFieldText !== undefined)
    return (
      kind.resource.behaviour.unknownFieldText?.(field) ?? `field label not supported: ${field}`
    )
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
}

function fieldOf(entry: Entry, field: string, own: Map<string, number>): string {
  if (field === 'metadata.name') return entry.name
  if (field === 'metadata.namespace') return entry.namespace
  return entry.fields?.[own.get(field) as number] ?? ''
}
