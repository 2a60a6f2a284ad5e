/**
 * The errors about immutable fields of volumes and claims: since 1.19 with the difference, since
 * 1.34 as a unified diff.
 */
import { change, releaseOf } from '#api/releases/change.ts'

const showsDifference = change('volumes and claims show what must not change', { since: 19 })
const showsUnifiedDiff = change('what must not change is shown as a unified diff of JSON', {
  since: 34,
})

export interface Difference {
  /** As lines of Go syntax. */
  readonly asGo: () => string
  readonly unified: () => string
}

/** `named`: whether the message without a difference also names the object. */
export function immutableWords(
  release: number,
  subject: string,
  words: string,
  { asGo, unified }: Difference,
  named = false,
): string {
  const { has } = releaseOf(release)
  if (has(showsUnifiedDiff)) return `${subject} ${words}\n${unified()}`
  if (has(showsDifference)) return `${subject} ${words}\n${asGo()}`
  return named ? `${subject} ${words}` : words
}
