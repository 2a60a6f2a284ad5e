/** Domain names in certificates that Go accepts: non-empty labels of visible ASCII characters. */

/** The empty name is valid. A name constraint may begin with a dot. */
export function isDomainName(text: string, constraint: boolean): boolean {
  if (text === '') return true
  if (text.endsWith('.')) return false
  const name = constraint ? text.replace(/^\./, '') : text
  return /^[!-~]*$/.test(name) && name.split('.').every((label) => label !== '')
}
