/**
 * Names of domains in certificates, as Go takes them: labels of visible characters, none of them
 * empty.
 */

/** None at all is one too. A `constraint` may begin with a point. */
export function isDomainName(text: string, constraint: boolean): boolean {
  if (text === '') return true
  if (text.endsWith('.')) return false
  const name = constraint ? text.replace(/^\./, '') : text
  return /^[!-~]*$/.test(name) && name.split('.').every((label) => label !== '')
}
