/**
 * Selects the names that a definition gets: the requested ones that are free in its group. Accepted
 * names are kept until the definition requests others.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Condition } from './conditions.ts'

export interface Accepted {
  readonly names: Loose
  readonly condition: Condition
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i])

/** Whether two sets of names are equal; absent and empty lists are the same. */
export const sameNames = (a: Loose, b: Loose): boolean =>
  ['plural', 'singular', 'kind', 'listKind'].every((one) => (a[one] ?? '') === (b[one] ?? '')) &&
  ['shortNames', 'categories'].every((one) => sameList(a[one] ?? [], b[one] ?? []))

/** `group`: all definitions of the group, including this one. */
export function acceptNames(definition: KubeObject, group: Iterable<KubeObject>): Accepted {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { status } of group) {
    const { plural, singular, shortNames = [], kind, listKind } = status?.acceptedNames ?? {}
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  const requested: Loose = definition.spec.names
  const before: Loose = definition.status?.acceptedNames ?? {}
  const names: Loose = { ...before }
  let problem: { reason: string; message: string } | undefined
  const isTaken = (name: string, own: string, used: Set<string>) => name !== own && used.has(name)
  const take = (field: string, used: Set<string>, reason: string) => {
    const name: string = requested[field] ?? ''
    if (isTaken(name, before[field] ?? '', used)) problem = { reason, message: inUse(name) }
    else if (name !== '') names[field] = name
  }
  take('plural', resources, 'PluralConflict')
  take('singular', resources, 'SingularConflict')
  if (!sameList(requested.shortNames, before.shortNames)) {
    const taken = (requested.shortNames ?? []).filter(
      (name: string) => !(before.shortNames ?? []).includes(name) && resources.has(name),
    )
    if (taken.length > 0) {
      const texts: string[] = [...new Set<string>(taken.map(inUse))]
      const message = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
      problem = { reason: 'ShortNamesConflict', message }
    } else if (requested.shortNames === undefined) delete names.shortNames
    else names.shortNames = requested.shortNames
  }
  take('kind', kinds, 'KindConflict')
  take('listKind', kinds, 'ListKindConflict')
  if (requested.categories === undefined) delete names.categories
  else names.categories = requested.categories
  const found = problem ?? { reason: 'NoConflicts', message: 'no conflicts found' }
  const condition = { type: 'NamesAccepted', status: problem ? 'False' : 'True', ...found } as const
  return { names: inOrder(names), condition }
}

const inUse = (name: string): string => `${goQuote(name)} is already in use`

/** The fields in the order of their type. */
function inOrder(names: Loose): Loose {
  const { plural = '', singular, shortNames, kind = '', listKind, categories } = names
  return {
    plural,
    ...(singular && { singular }),
    ...(shortNames?.length && { shortNames }),
    kind,
    ...(listKind && { listKind }),
    ...(categories?.length && { categories }),
  }
}
