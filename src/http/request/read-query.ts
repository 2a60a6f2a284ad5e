/**
 * Parses the parameters of a query as Go does: a parameter with a semicolon or an invalid escape is
 * ignored, and the others are used.
 */
const unreadable = /;|%(?![0-9A-Fa-f]{2})/

export const readQuery = (text: string): URLSearchParams =>
  new URLSearchParams(unreadable.test(text) ? readable(text) : text)

const readable = (text: string): string =>
  text
    .split('&')
    .filter((pair) => !unreadable.test(pair))
    .join('&')
