/**
 * Parts of objects in kube-apiserver's internal form, printed as JSON since 1.34: every member is
 * present with its Go name.
 *
 *     const source = form({ Server: 'text', ReadOnly: 'flag' })
 *     internalJson(source, { server: 'a' })  →  {"Server":"a","ReadOnly":false}
 */
import { goJson } from '#api/go-syntax.ts'
import { indentedJson } from '#api/indented-json.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { unifiedDiff } from '#api/unified-diff.ts'

/**
 * The type of a member. A text, number or flag is never absent; `any` is null if absent. `values`
 * is a list and `map` a map, which are null if absent and empty if written empty. A form is a
 * pointer to a structure, `inline` a structure, and `list` a list of structures.
 */
export type Member =
  | 'text'
  | 'number'
  | 'flag'
  | 'any'
  | 'values'
  | 'map'
  | Form
  | { readonly inline: Form }
  | { readonly list: Form }
  | { readonly as: string; readonly member: Member }

export interface Form {
  readonly members: readonly (readonly [goName: string, jsonName: string, Member])[]
}

/** A member whose JSON name cannot be derived from its Go name. */
export const named = (as: string, member: Member): Member => ({ as, member })

/** Members by Go name, in the order of kube-apiserver's internal types. */
export const form = (members: Readonly<Record<string, Member>>): Form => ({
  members: Object.entries(members).map(([name, member]) =>
    typeof member === 'object' && 'as' in member
      ? [name, member.as, member.member]
      : [name, jsonNameOf(name), member],
  ),
})

/** `AWSElasticBlockStore` → `awsElasticBlockStore`, `NFS` → `nfs`, `VolumeID` → `volumeID`. */
const jsonNameOf = (goName: string): string =>
  goName.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (capitals) => capitals.toLowerCase())

export function internalJson(shape: Form, value: Loose | null | undefined): string {
  const members = shape.members.map(
    ([goName, jsonName, member]) =>
      `${goJson(goName)}:${emptyJson(member, value, jsonName) ?? memberJson(member, value?.[jsonName])}`,
  )
  return `{${members.join(',')}}`
}

function emptyJson(member: Member, holder: Loose | null | undefined, name: string) {
  if (!wasWrittenEmpty(holder, name) || (holder?.[name] ?? null) !== null) return undefined
  if (member === 'map') return '{}'
  return member === 'values' || (typeof member === 'object' && 'list' in member) ? '[]' : undefined
}

function memberJson(member: Member, value: unknown): string {
  if (member === 'text') return goJson(value ?? '')
  if (member === 'number') return goJson(value ?? 0)
  if (member === 'flag') return goJson(value ?? false)
  if (typeof member === 'string') return goJson(value)
  if ('as' in member) return memberJson(member.member, value)
  if ('inline' in member) return internalJson(member.inline, value as Loose)
  if (value === null || value === undefined) return 'null'
  if ('list' in member)
    return `[${(value as Loose[]).map((item) => internalJson(member.list, item)).join(',')}]`
  return internalJson(member, value as Loose)
}

/** The line-by-line difference between two values. */
export const internalDiff = (shape: Form, before: Loose, after: Loose): string =>
  unifiedDiff(indentedJson(internalJson(shape, before)), indentedJson(internalJson(shape, after)))
