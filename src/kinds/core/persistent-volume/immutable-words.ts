/** How volumes and claims that must not change say so: from 1.19 on with the difference, before that with the bare words. */
const differenceSince = 19

/** `named`: whether the bare words had their subject too. */
export function immutableWords(
  release: number,
  subject: string,
  words: string,
  difference: () => string,
  named = false,
): string {
  if (release >= differenceSince) return `${subject} ${words}\n${difference()}`
  return named ? `${subject} ${words}` : words
}
