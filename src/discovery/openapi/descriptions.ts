/**
 * Descriptions in OpenAPI documents: one short sentence for each kind, for its top-level fields,
 * and for the types that users look up most. Other types and fields have no description.
 */
import { fieldSentences } from './field-sentences.ts'
import { kindSentences } from './kind-sentences.ts'

/**
 * Fields with the same meaning in every kind. Conformance tests check how two of these sentences
 * begin.
 */
const ofEveryKind: Readonly<Record<string, string>> = {
  apiVersion: 'APIVersion defines the group and version the object is written in.',
  kind: 'The kind of the object.',
  metadata: "Standard object's metadata: name, labels, annotations and what else every object has.",
  spec: 'The desired state of the object.',
  status: 'The observed state of the object. Controllers write it, not users.',
  items: 'The objects of the list.',
}

const lookUp = (table: Readonly<Record<string, string>> | undefined, key: string) =>
  table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined

/** The description of a kind or type. The description of a list derives from its item kind. */
export function describeKind(name: string, isKind: boolean): string | undefined {
  const own = lookUp(kindSentences, name)
  if (own !== undefined || !isKind || !name.endsWith('List')) return own
  return `A list of ${name.slice(0, -'List'.length)} objects.`
}

/** A sentence for a field of a kind or type. */
export function describeField(type: string, field: string, isKind: boolean): string | undefined {
  const own = Object.hasOwn(fieldSentences, type) ? lookUp(fieldSentences[type], field) : undefined
  return own ?? (isKind ? lookUp(ofEveryKind, field) : undefined)
}
