/** Formats JSON on several lines like Go's json.MarshalIndent, with one space per level. */

/** The input must not contain whitespace between tokens. */
export function indentedJson(json: string): string {
  let out = ''
  let depth = 0
  const newLine = () => `\n${' '.repeat(depth)}`
  for (let i = 0; i < json.length; i++) {
    const ch = json[i] as string
    if (ch === '"') {
      const end = endOfText(json, i)
      out += json.slice(i, end)
      i = end - 1
    } else if (ch === '{' || ch === '[') {
      const isEmpty = json[i + 1] === '}' || json[i + 1] === ']'
      if (isEmpty) {
        out += ch + json[++i]
        continue
      }
      depth++
      out += ch + newLine()
    } else if (ch === '}' || ch === ']') {
      depth--
      out += newLine() + ch
    } else if (ch === ',') out += `,${newLine()}`
    else if (ch === ':') out += ': '
    else out += ch
  }
  return out
}

/** The index after the closing quote of a string. */
function endOfText(json: string, start: number): number {
  let i = start + 1
  while (json[i] !== '"') i += json[i] === '\\' ? 2 : 1
  return i + 1
}
