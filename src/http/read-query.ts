/**
 * The parameters of a query as Go reads them: one with a semicolon in it, or with an escape that is none, is not there at all.
 * What is left is read as everybody reads it.
 */
const unreadable = /;|%(?![0-9A-Fa-f]{2})/

export const readQuery = (text: string): URLSearchParams =>
  new URLSearchParams(unreadable.test(text) ? readable(text) : text)

const readable = (text: string): string =>
  text
    .split('&')
    .filter((pair) => !unreadable.test(pair))
    .join('&')
