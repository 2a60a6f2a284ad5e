/**
 * Parts of objects as kube-apiserver holds them inside, and prints them as JSON since 1.34: every
 * member is there, under the name that it has in Go.
 *
 *     const source = form({ Server: 'text', ReadOnly: 'flag' })
 *     internalJson(source, { server: 'a' })  →  {"Server":"a","ReadOnly":false}
 */
import { goJson } from '#api/go-syntax.ts'
import { indentedJson } from '#api/indented-json.ts'
import type { Loose } from '#api/object-meta.ts'
import { unifiedDiff } from '#api/unified-diff.ts'

/**
 * What a member holds: a text, number or flag that is never absent, or `any` value, which is null
 * where it is absent. A form is a pointer to a structure, `inline` a structure, `list` a list of
 * structures.
 */
export type Member =
  | 'text'
  | 'number'
  | 'flag'
  | 'any'
  | Form
  | { readonly inline: Form }
  | { readonly list: Form }
  | { readonly as: string; readonly member: Member }

export interface Form {
  readonly members: readonly (readonly [goName: string, jsonName: string, Member])[]
}

/** A member whose name in JSON does not follow from its name in Go. */
export const named = (as: string, member: Member): Member => ({ as, member })

/** Members by their names in Go, in the order of kube-apiserver's internal types. */
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
    ([goName, jsonName, member]) => `${goJson(goName)}:${memberJson(member, value?.[jsonName])}`,
  )
  return `{${members.join(',')}}`
}

function memberJson(member: Member, value: unknown): string {
  if (member === 'text') return goJson(value ?? '')
  if (member === 'number') return goJson(value ?? 0)
  if (member === 'flag') return goJson(value ?? false)
  if (member === 'any') return goJson(value)
  if ('as' in member) return memberJson(member.member, value)
  if ('inline' in member) return internalJson(member.inline, value as Loose)
  if (value === null || value === undefined) return 'null'
  if ('list' in member)
    return `[${(value as Loose[]).map((item) => internalJson(member.list, item)).join(',')}]`
  return internalJson(member, value as Loose)
}

/** What differs between two values, line by line. */
export const internalDiff = (shape: Form, before: Loose, after: Loose): string =>
  unifiedDiff(indentedJson(internalJson(shape, before)), indentedJson(internalJson(shape, after)))
