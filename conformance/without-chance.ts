/**
 * Removes from an answer what is random in kube-apiserver before it is compared: the order of
 * errors where it iterates over maps, of lists and first events that come from its watch cache, the
 * times of bookmarks, and what two servers never have in common and a message shows.
 */
import type { ComparedResponse } from './compared-response.ts'

/**
 * A whole object or template shown in a message: versions, and places in memory, are of the server
 * that shows it.
 */
const shownWhole = /(Invalid value: )("\{(?!id\})|core\.PodTemplateSpec\{)[\s\S]*$/
const shownWholeInText = /("\{(?!id\})|core\.PodTemplateSpec\{)[\s\S]*$/
const addressGiven = /10\.0\.\d+\.\d+(?="[:}])/g

/** A text up to the first whole object it shows. */
export const withoutWholes = (text: string): string =>
  text.replace(shownWholeInText, '<whole>').replace(addressGiven, '<ip>')

interface Shown {
  readonly kind?: string
  readonly type?: string
  readonly message?: string
  readonly items?: readonly unknown[]
  readonly rows?: readonly unknown[]
}

const ofChance = /kube-api-access-|odePort|"10\.0\.|:3[0-2]\d{3}\/|"token":"eyJ/

/** Names, addresses and ports that a server chooses: volumes of tokens, what services are given. */
const withoutChosen = (body: unknown): unknown => {
  const text = JSON.stringify(body) ?? 'null'
  if (!ofChance.test(text)) return body
  return JSON.parse(
    text
      .replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<chance>')
      .replace(/"healthCheckNodePort":\d+/g, '"healthCheckNodePort":"<port>"')
      .replace(/odePort:\d{5}/g, 'odePort:<port>')
      .replace(/"token":"eyJ[^"]*"/g, '"token":"<token>"')
      .replace(/"10\.0\.\d+\.\d+"/g, '"<ip>"')
      .replace(/:3[0-2]\d{3}\//g, ':<port>/'),
  )
}

export function withoutChance(given: ComparedResponse): ComparedResponse {
  const seen = { ...given, body: withoutChosen(given.body) }
  if (typeof seen.body === 'string') return { ...seen, body: withoutVersions(seen) }
  if (Array.isArray(seen.body)) return { ...seen, body: frames(seen.body) }
  const shown = (seen.body ?? {}) as Shown
  const { kind, type, message, items, rows } = shown
  if (type !== undefined && 'object' in shown) return { ...seen, body: frames([shown]) }
  if (Array.isArray(items)) return { ...seen, body: { ...shown, items: sorted(items) } }
  if (Array.isArray(rows)) return { ...seen, body: { ...shown, rows: sorted(rows) } }
  if (kind !== 'Status' || typeof message !== 'string') return seen
  const body = JSON.parse(JSON.stringify(seen.body).replace(/0x[0-9a-f]{6,}/g, '0x<address>'))
  const parts = message
    .replace(/in record \(\d+\)/, 'in record (<rv>)')
    .replace(/ in object meta: \d+/, ' in object meta: <rv>')
    .replace(/in the precondition \(\d+\)/, 'in the precondition (<rv>)')
  body.message = withoutWholes(parts)
    .replace(/0x[0-9a-f]{6,}/g, '0x<address>')
    .split(/errors:|, |\[|\]|\n/)
    .sort()
    .join(' | ')
  for (const cause of body.details?.causes ?? []) {
    cause.message = cause.message.replace(shownWhole, '$1<whole>').replace(addressGiven, '<ip>')
  }
  return { ...seen, body }
}

/** YAML has versions as text; in protobuf they cannot be found here. */
function withoutVersions({ type = '', body }: ComparedResponse): string {
  if (type.includes('protobuf')) return '<protobuf>'
  return String(body)
    .replace(/resourceVersion: "\d+"/g, 'resourceVersion: <rv>')
    .replace(/- description: [\s\S]*?\n {2}format:/g, '- description: <text>\n  format:')
}

const sorted = (values: readonly unknown[]): readonly unknown[] =>
  values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/** The frames of a watch; a bookmark may come or not. */
const frames = (all: readonly Shown[]): readonly unknown[] =>
  sorted(all.filter(({ type }) => type !== 'BOOKMARK'))

/** Places in memory are of the server that shows them. */
export const withoutPlaces = (seen: ComparedResponse): ComparedResponse => ({
  ...seen,
  body: JSON.parse((JSON.stringify(seen.body) ?? 'null').replace(/0x[0-9a-f]{6,}/g, '0x<address>')),
})
