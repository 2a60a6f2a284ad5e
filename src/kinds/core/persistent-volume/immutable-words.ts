/** How errors of volumes and claims that cannot change say so. */
import { change, releaseOf } from '#api/releases/change.ts'
const showsDifference = change(
  'errors of volumes and claims that cannot change show the difference',
  { since: 19 },
)

/** `named`: whether the bare words had their subject too. */
export function immutableWords(
  release: number,
  subject: string,
  words: string,
  difference: () => string,
  named = false,
): string {
  if (releaseOf(release).has(showsDifference)) return `${subject} ${words}\n${difference()}`
  return named ? `${subject} ${words}` : words
}
