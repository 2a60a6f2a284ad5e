/**
 * Keeps all members of objects that have a key twice. Go decodes each of them in turn, so that each
 * can be the first fault. JSON.parse keeps the last one alone.
 *
 *   {"a":1,"a":2} → {"a":1,"a\u00001":2}, and `memberName` of both is `a`
 */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/gs
const mark = '\0'

export function withRepeatedMembers(text: string): string {
  const open: Set<string>[] = []
  let count = 0
  return text.replace(tokens, (token, colon?: string) => {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    if (colon === undefined) return token
    const name = JSON.parse(token.slice(0, -colon.length)) as string
    const names = open.at(-1)
    if (names === undefined || !names.has(name)) {
      names?.add(name)
      return token
    }
    return `${JSON.stringify(`${name}${mark}${++count}`)}:`
  })
}

export function memberName(written: string): string {
  const at = written.indexOf(mark)
  return at < 0 ? written : written.slice(0, at)
}
