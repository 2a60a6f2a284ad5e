/** Several errors as one text, the way the original joins them: each said once, brackets around more than one. */
export function joinErrors(errors: readonly string[]): string {
  const said = [...new Set(errors)]
  return said.length === 1 ? `${said[0]}` : `[${said.join(', ')}]`
}
