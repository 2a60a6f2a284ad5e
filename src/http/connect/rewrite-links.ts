/**
 * Rewrites links in responses of proxied servers so that they lead through the proxy: the Location
 * header, and HTML attributes with URLs. Links to other hosts are unchanged. No link is followed.
 */
import { promisify } from 'node:util'
import { deflateRaw, gunzip, gzip, inflateRaw } from 'node:zlib'
import { Readable } from 'node:stream'
import { ApiError } from '#api/status-error.ts'
import type { Passing } from './forward.ts'
import { cleanPath } from './proxy-path.ts'

export interface LinkPlace {
  /** The part of the request's path before the backend's path. */
  readonly prefix: string
  /** The backend's host and port. */
  readonly backendHost: string
  /** The host that the client requested. */
  readonly requestHost: string
}

/** Larger pages are forwarded unchanged. */
const pageBytesMax = 8 << 20

const linkPattern = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s

export function rewriteLink(link: string, { prefix, backendHost, requestHost }: LinkPlace): string {
  const parts = linkPattern.exec(link)
  if (parts === null) return link
  const [, scheme, host = '', path, rest] = parts
  if (scheme !== undefined && host === '') return link
  const elsewhere = host !== '' && host !== backendHost && host !== requestHost
  if (elsewhere || !path.startsWith('/')) return link
  const kept =
    host !== '' && host === requestHost
      ? `${scheme === undefined ? '' : `${scheme}:`}//${host}`
      : ''
  if (path.startsWith(prefix)) return `${kept}${path}${rest}`
  const joined = cleanPath(`${prefix}/${path}`)
  const slash = path.endsWith('/') && !joined.endsWith('/') ? '/' : ''
  return `${kept}${joined}${slash}${rest}`
}

/** The attributes with URLs, by element. */
const attributes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: 'href',
    applet: 'codebase',
    area: 'href',
    audio: 'src',
    base: 'href',
    blockquote: 'cite',
    body: 'background',
    button: 'formaction',
    command: 'icon',
    del: 'cite',
    embed: 'src',
    form: 'action',
    frame: 'longdesc src',
    head: 'profile',
    html: 'manifest',
    iframe: 'longdesc src',
    img: 'longdesc src usemap',
    input: 'src usemap formaction',
    ins: 'cite',
    link: 'href',
    object: 'classid codebase data usemap',
    q: 'cite',
    script: 'src',
    source: 'src',
    video: 'poster src',
  }).map(([element, names]) => [element, names.split(' ')]),
)

const isSpace = (letter: string) =>
  letter === ' ' || letter === '\n' || letter === '\t' || letter === '\r' || letter === '\f'

/** Rewrites a page in one pass; an unclosed tag ends it. */
export function rewritePage(page: string, place: LinkPlace): string {
  const made: string[] = []
  let copied = 0
  for (let at = page.indexOf('<'); at !== -1; at = page.indexOf('<', at)) {
    let end = at + 1
    while (end < page.length && /[A-Za-z0-9]/.test(page[end])) end++
    const wanted = attributes.get(page.slice(at + 1, end).toLowerCase())
    at = end
    if (wanted === undefined) continue
    for (;;) {
      const found = nextAttribute(page, at)
      if (found === undefined) return made.join('') + page.slice(copied)
      at = found.end
      if (found.name === '') break
      if (!wanted.includes(found.name.toLowerCase()) || found.valueEnd === 0) continue
      made.push(
        page.slice(copied, found.valueStart),
        rewriteLink(page.slice(found.valueStart, found.valueEnd), place),
      )
      copied = found.valueEnd
    }
  }
  return made.join('') + page.slice(copied)
}

interface Attribute {
  /** Empty at the end of the tag. */
  readonly name: string
  readonly valueStart: number
  /** Zero if the attribute has no value. */
  readonly valueEnd: number
  readonly end: number
}

/** The next attribute of a tag, or its end; undefined at the end of the page. */
function nextAttribute(page: string, from: number): Attribute | undefined {
  let at = from
  while (at < page.length && (isSpace(page[at]) || page[at] === '/')) at++
  if (at >= page.length) return undefined
  if (page[at] === '>') return { name: '', valueStart: 0, valueEnd: 0, end: at + 1 }
  const start = at
  at++
  while (
    at < page.length &&
    !isSpace(page[at]) &&
    page[at] !== '=' &&
    page[at] !== '>' &&
    page[at] !== '/'
  )
    at++
  const name = page.slice(start, at)
  while (at < page.length && isSpace(page[at])) at++
  if (page[at] !== '=') return { name, valueStart: 0, valueEnd: 0, end: at }
  at++
  while (at < page.length && isSpace(page[at])) at++
  const quote = page[at]
  if (quote === '"' || quote === "'") {
    const close = page.indexOf(quote, at + 1)
    return close === -1 ? undefined : { name, valueStart: at + 1, valueEnd: close, end: close + 1 }
  }
  const valueStart = at
  while (at < page.length && !isSpace(page[at]) && page[at] !== '>') at++
  return { name, valueStart, valueEnd: at, end: at }
}

type Coding = (bytes: Buffer) => Promise<Buffer>

/** A limit for the decompressed page, because a few bytes may decompress to gigabytes. */
const unpacked = { maxOutputLength: pageBytesMax }
const asItIs: Coding = async (bytes) => bytes
const codings: ReadonlyMap<string, [pack: Coding, unpack: Coding]> = new Map([
  ['', [asItIs, asItIs]],
  ['gzip', [promisify(gzip) as Coding, (bytes: Buffer) => promisify(gunzip)(bytes, unpacked)]],
  [
    'deflate',
    [promisify(deflateRaw) as Coding, (bytes: Buffer) => promisify(inflateRaw)(bytes, unpacked)],
  ],
])

export async function rewriteAnswer(passing: Passing, place: LinkPlace): Promise<Passing> {
  const { headers, status, body } = passing
  if (typeof headers.location === 'string' && headers.location !== '') {
    return { ...passing, headers: { ...headers, location: rewriteLink(headers.location, place) } }
  }
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    .trim()
  const coding = codings.get(String(headers['content-encoding'] ?? ''))
  if (type !== 'text/html' || coding === undefined) return passing
  const chunks: Buffer[] = []
  let size = 0
  const incoming = body[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await incoming.next().catch(() => {
      throw new ApiError(500, '', 'unexpected EOF')
    })
    if (done) break
    chunks.push(value)
    size += value.length
    if (size > pageBytesMax)
      return { status, headers, body: Readable.from(onward(chunks, incoming)) }
  }
  const page = Buffer.concat(chunks)
  if (page.length === 0) return { status, headers, body: Readable.from([]) }
  const [pack, unpack] = coding
  const plain = await unpack(page).catch(() => undefined)
  // The page is not compressed as declared, or too large: forward it unchanged.
  if (plain === undefined) return { status, headers, body: Readable.from([page]) }
  // latin1 preserves the bytes whatever the page's encoding.
  const changed = rewritePage(plain.toString('latin1'), place)
  const packed = await pack(Buffer.from(changed, 'latin1'))
  return {
    status,
    headers: { ...headers, 'content-length': packed.length },
    body: Readable.from([packed]),
  }
}

async function* onward(first: Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (;;) {
    const { value, done } = await rest.next()
    if (done) return
    yield value
  }
}
