/**
 * A kind with placeholders instead of its names. All kinds with the same shape share one recorded
 * document: only the names differ. A placeholder marks the position of a name and its spelling.
 * Kinds whose names need changes in operation ids have no shape.
 */
import type { Kind, Subresource } from '#kinds/kind.ts'
import { customDefinitionName, operationId, tagOf } from './names.ts'
import { definitionName, type OpenApiSource } from './source.ts'

/** The properties of a kind that determine its paths. */
export type DescribedKind = Pick<
  Kind,
  'group' | 'version' | 'plural' | 'kind' | 'listKind' | 'namespaced' | 'verbs' | 'subresources'
>

const group = 'qzgroupzq'
const version = 'qzversionzq'
const plural = 'qzpluralzq'
const kind = 'Qzkindzq'
const listKind = 'Qzlistzq'

/**
 * Pairs of a placeholder and the function that returns its replacement. Longer placeholders come
 * first.
 */
const spellings: readonly (readonly [
  mark: string,
  spell: (kind: DescribedKind, source: OpenApiSource) => string,
])[] = [
  [
    customDefinitionName(group, version, kind),
    (one, source) => definitionName(source, one.group, one.version, one.kind),
  ],
  [
    customDefinitionName(group, version, listKind),
    (one, source) => definitionName(source, one.group, one.version, one.listKind),
  ],
  [tagOf(group, version), (one) => tagOf(one.group, one.version)],
  [operationId('', group, version, ''), (one) => operationId('', one.group, one.version, '')],
  [group, (one) => one.group],
  [version, (one) => one.version],
  [plural, (one) => one.plural],
  [kind, (one) => one.kind],
]

const anyMark = new RegExp(
  `(${spellings.map(([mark]) => mark.replaceAll('.', '\\.')).join('|')})`,
  'g',
)
const placeOf = new Map(spellings.map(([mark], i) => [mark, i]))

/** Alternating text and index of a spelling, beginning with text. */
export type Marked = readonly (string | number)[]

/** Undefined if the text contains no placeholder. */
export function markedText(text: string): Marked | undefined {
  const pieces = text.split(anyMark)
  if (pieces.length === 1) return undefined
  return pieces.map((piece, i) => (i % 2 === 0 ? piece : (placeOf.get(piece) as number)))
}

export const spellingsOf = (source: OpenApiSource, one: DescribedKind): string[] =>
  spellings.map(([, spell]) => spell(one, source))

/** Replaces the placeholders in a text with a kind's names. */
export function filled(marked: Marked, names: readonly string[]): string {
  let text = marked[0] as string
  for (let i = 1; i < marked.length; i += 2) {
    text += names[marked[i] as number]
    text += marked[i + 1]
  }
  return text
}

const isWord = (name: string): boolean => /^[A-Z][A-Za-z0-9]*$/.test(name)

/**
 * A key that is equal for kinds that differ only in their names. Undefined for kinds without a
 * shape.
 */
export function shapeOf(one: DescribedKind): string | undefined {
  if (!isWord(one.kind)) return undefined
  const subresources = [...markedSubresources(one).values()].map((sub) => [
    ...Object.values(sub).filter((value) => typeof value === 'string'),
    ...sub.verbs,
  ])
  return JSON.stringify([one.namespaced, [...one.verbs], subresources])
}

export const markedKind = (one: DescribedKind): DescribedKind => ({
  ...{ group, version, plural, kind, listKind },
  namespaced: one.namespaced,
  verbs: one.verbs,
  subresources: markedSubresources(one),
})

function markedSubresources(one: DescribedKind): Map<string, Subresource> {
  const own = `${one.group}/${one.version}`
  const marked = new Map<string, Subresource>()
  for (const [name, sub] of one.subresources) {
    const isOwn = sub.apiVersion === own && sub.kind === one.kind
    marked.set(name, isOwn ? { ...sub, apiVersion: `${group}/${version}`, kind } : sub)
  }
  return marked
}
