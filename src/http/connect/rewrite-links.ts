/**
 * Links in what a proxied server answers, so that they lead back through the proxy: the Location header, and attributes of
 * HTML that hold addresses. Links to other hosts stay as they are; nothing is ever followed here.
 */
import { promisify } from 'node:util'
import { deflateRaw, gunzip, gzip, inflateRaw } from 'node:zlib'
import { Readable } from 'node:stream'
import type { Passing } from './forward.ts'
import { cleanPath } from './proxy-path.ts'

export interface LinkPlace {
  /** What the path of the request has before the path of the backend. */
  readonly prefix: string
  /** The backend's host and port. */
  readonly backendHost: string
  /** The host the client asked for. */
  readonly requestHost: string
}

/** Pages up to this size have their links changed; larger ones are passed on as they are. */
const pageBytesMax = 8 << 20

const linkPattern = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s

export function rewriteLink(link: string, { prefix, backendHost, requestHost }: LinkPlace): string {
  const parts = linkPattern.exec(link)
  if (parts === null) return link
  const [, scheme, host = '', path, rest] = parts
  if (scheme !== undefined && host === '') return link
  const elsewhere = host !== '' && host !== backendHost && host !== requestHost
  if (elsewhere || !path.startsWith('/')) return link
  const kept = host !== '' && host === requestHost ? `${scheme === undefined ? '' : `${scheme}:`}//${host}` : ''
  if (path.startsWith(prefix)) return `${kept}${path}${rest}`
  const joined = cleanPath(`${prefix}/${path}`)
  const slash = path.endsWith('/') && !joined.endsWith('/') ? '/' : ''
  return `${kept}${joined}${slash}${rest}`
}

/** Attributes that hold addresses, by element. */
const attributes: Readonly<Record<string, string>> = {
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
}

const tagPattern = /<([A-Za-z][A-Za-z0-9]*)((?:\s|\/)(?:[^"'>]|"[^"]*"|'[^']*')*)>/g
const attributePattern = /([^\s"'=<>/]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)/g

export function rewritePage(page: string, place: LinkPlace): string {
  return page.replace(tagPattern, (tag, name: string, inside: string) => {
    const wanted = attributes[name.toLowerCase()]?.split(' ')
    if (wanted === undefined) return tag
    const changed = inside.replace(attributePattern, (whole, key: string, equals: string, value: string) => {
      if (!wanted.includes(key.toLowerCase())) return whole
      const quote = value.startsWith('"') || value.startsWith("'") ? value[0] : ''
      const link = quote === '' ? value : value.slice(1, -1)
      return `${key}${equals}${quote}${rewriteLink(link, place)}${quote}`
    })
    return `<${name}${changed}>`
  })
}

const codings: Readonly<Record<string, [pack: Coding, unpack: Coding]>> = {
  '': [async (bytes) => bytes, async (bytes) => bytes],
  gzip: [promisify(gzip), promisify(gunzip)],
  deflate: [promisify(deflateRaw), promisify(inflateRaw)],
}
type Coding = (bytes: Buffer) => Promise<Buffer>

export async function rewriteAnswer(passing: Passing, place: LinkPlace): Promise<Passing> {
  const { headers, status, body } = passing
  if (typeof headers.location === 'string' && headers.location !== '') {
    return { ...passing, headers: { ...headers, location: rewriteLink(headers.location, place) } }
  }
  const type = String(headers['content-type'] ?? '').split(';')[0].trim()
  const coding = codings[String(headers['content-encoding'] ?? '')]
  if (type !== 'text/html' || coding === undefined) return passing
  const chunks: Buffer[] = []
  let size = 0
  const incoming = body[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await incoming.next()
    if (done) break
    chunks.push(value)
    size += value.length
    if (size > pageBytesMax) return { status, headers, body: Readable.from(onward(chunks, incoming)) }
  }
  const page = Buffer.concat(chunks)
  if (page.length === 0) return { status, headers, body: Readable.from([]) }
  const [pack, unpack] = coding
  // One character a byte: whatever the page's encoding is, it stays.
  const changed = rewritePage((await unpack(page)).toString('latin1'), place)
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
