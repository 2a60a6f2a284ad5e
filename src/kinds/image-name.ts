/**
 * Parses the tag of an image name: its own tag, or `latest` without tag and digest. An invalid
 * image name has no tag. Nothing is resolved or pulled.
 */
import { byText } from '#base/by-text.ts'

const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const host = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const domain = `${host}(?:\\.${host})*(?::[0-9]+)?`
const reference = new RegExp(
  `^((?:${domain}/)?${part}(?:/${part})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
)
const identifier = /^[a-f0-9]{64}$/
const nameLengthMax = 255

export const imageTag = byText(findTag)

function findTag(image: string): string {
  if (identifier.test(image)) return ''
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(0, slash))
  const hasDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost')
  const home = hasDomain ? first : 'docker.io'
  let rest = hasDomain ? image.slice(slash + 1) : image
  if ((home === 'docker.io' || home === 'index.docker.io') && !rest.includes('/')) {
    rest = `library/${rest}`
  }
  const remote = rest.split(':')[0] as string
  if (remote.toLowerCase() !== remote) return ''
  const match = reference.exec(`${home}/${rest}`)
  if (match === null || (match[1] as string).length > nameLengthMax) return ''
  if (match[2] !== undefined) return match[2]
  return match[3] === undefined ? 'latest' : ''
}
