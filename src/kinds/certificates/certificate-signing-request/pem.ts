/** Finds PEM blocks like Go's decoder, which ignores text around them. */

export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Buffer
  /** The bytes after the block. */
  readonly rest: Buffer
}

const start = '-----BEGIN '
const dashes = '-----'

/**
 * How many broken blocks are skipped: far more than a real file has. Each may cost a scan of all
 * bytes that follow, so hostile input without this limit would take quadratic time.
 */
const brokenMax = 100

/** The first valid block. Broken blocks before it are skipped. */
export function decodePem(bytes: Buffer): PemBlock | undefined {
  const text = bytes.toString('latin1')
  for (let from = 0, broken = 0; broken <= brokenMax; broken++) {
    const at = text.startsWith(start, from) ? from : text.indexOf(`\n${start}`, from)
    if (at < 0) return undefined
    const begin = text.indexOf(start, at) + start.length
    const block = blockAt(text, begin)
    if (block !== undefined) return block
    from = begin
  }
  return undefined
}

function blockAt(text: string, begin: number): PemBlock | undefined {
  const lineEnd = endOfLine(text, begin)
  const line = text.slice(begin, lineEnd).replace(/(?<![ \t\r])[ \t\r]+$/, '')
  if (!line.endsWith(dashes)) return undefined
  const type = line.slice(0, -dashes.length)
  const endLine = `${dashes}END ${type}${dashes}`
  const bodyFrom = lineEnd + 1
  const endAt = text.startsWith(endLine, bodyFrom)
    ? bodyFrom
    : text.indexOf(`\n${endLine}`, bodyFrom - 1) + 1
  if (endAt < bodyFrom) return undefined
  const afterAt = endAt + endLine.length
  if (text.slice(afterAt, endOfLine(text, afterAt)).trim() !== '') return undefined
  const { headers, body } = splitHeaders(text.slice(bodyFrom, endAt))
  const encoded = body.replace(/[\r\n \t]/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined
  const rest = Buffer.from(text.slice(endOfLine(text, afterAt) + 1), 'latin1')
  return { type, hasHeaders: headers > 0, bytes: Buffer.from(encoded, 'base64'), rest }
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}

/** Lines `Key: value` before the body. */
function splitHeaders(text: string): { headers: number; body: string } {
  let headers = 0
  let from = 0
  for (;;) {
    const end = endOfLine(text, from)
    const line = text.slice(from, end)
    if (!line.includes(':')) return { headers, body: text.slice(from) }
    headers++
    if (end === text.length) return { headers, body: '' }
    from = end + 1
  }
}
