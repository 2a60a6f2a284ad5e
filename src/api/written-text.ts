/**
 * Remembers how a quantity or a time was written where its canonical text is another one.
 * Kubernetes' messages show the internals of such values: `1.5` differs from `1500m`, and a time
 * has its fraction of a second. The memory is of the object itself: a copy has none, and no encoder
 * sees it.
 */
const writtenText = Symbol('texts as written')

type Holder = { [writtenText]?: Map<string, string> }

export function rememberText(holder: object, field: string, text: string): void {
  const known = (holder as Holder)[writtenText]
  if (known !== undefined) known.set(field, text)
  else Object.defineProperty(holder, writtenText, { value: new Map([[field, text]]) })
}

/** undefined: as it stands there. */
export const textWritten = (holder: object, field: string): string | undefined =>
  (holder as Holder)[writtenText]?.get(field)

/** Everything that is remembered of an object. */
export const textsWritten = (holder: object): Iterable<string> =>
  (holder as Holder)[writtenText]?.values() ?? []

/** A value that another field takes over brings its memory along. */
export function copyText(from: object, to: object, field: string): void {
  const text = textWritten(from, field)
  if (text !== undefined) rememberText(to, field, text)
}
