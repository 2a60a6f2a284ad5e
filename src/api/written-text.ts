/**
 * Remembers the written text of a quantity or time if it differs from the canonical text.
 * Kubernetes' messages show it: `1.5` differs from `1500m`, and a time has fractional seconds. It
 * is stored on the object itself, so copies and encoded objects do not have it.
 */
const writtenText = Symbol('texts as written')

type Holder = { [writtenText]?: Map<string, string> }

export function rememberText(holder: object, field: string, text: string): void {
  const known = (holder as Holder)[writtenText]
  if (known !== undefined) known.set(field, text)
  else Object.defineProperty(holder, writtenText, { value: new Map([[field, text]]) })
}

/** The text as written. Undefined if the value was written in canonical form. */
export const textWritten = (holder: object, field: string): string | undefined =>
  (holder as Holder)[writtenText]?.get(field)

/** All original texts of an object. */
export const textsWritten = (holder: object): Iterable<string> =>
  (holder as Holder)[writtenText]?.values() ?? []

/** Copies the written text when another field takes over the value. */
export function copyText(from: object, to: object, field: string): void {
  const text = textWritten(from, field)
  if (text !== undefined) rememberText(to, field, text)
}
