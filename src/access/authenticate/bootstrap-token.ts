/**
 * Bootstrap tokens: `<id>.<secret>`, stored as Secrets in kube-system. A new node uses one to
 * request its certificate. Each request reads the Secret, so deleting or editing it takes effect at
 * once.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { timestampMs } from '#api/timestamp.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const secretType = 'bootstrap.kubernetes.io/token'
const defaultGroup = 'system:bootstrappers'

export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  readonly name = 'bootstrap-token'
  readonly #reader: ObjectReader
  readonly #clock: Clock

  constructor(reader: ObjectReader, clock: Clock) {
    this.#reader = reader
    this.#clock = clock
  }

  authenticateToken(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    const [, id, secret] = tokenForm.exec(token) ?? []
    return id === undefined || secret === undefined ? undefined : this.#lookUp(id, secret)
  }

  async #lookUp(id: string, secret: string): Promise<AuthenticationResult> {
    const object = await this.#reader.get('', 'secrets', 'kube-system', `bootstrap-token-${id}`)
    if (object === undefined || object.metadata.deletionTimestamp != null) return undefined
    if (object.type !== secretType) return undefined
    if (!sameText(valueOf(object, 'token-secret'), secret)) return undefined
    if (valueOf(object, 'token-id') !== id) return undefined
    if (this.#hasExpired(valueOf(object, 'expiration'))) return undefined
    if (valueOf(object, 'usage-bootstrap-authentication') !== 'true') return undefined
    const groups = groupsOf(valueOf(object, 'auth-extra-groups'))
    if (groups === undefined) return undefined
    return { user: { name: `system:bootstrap:${id}`, uid: '', groups, extra: {} } }
  }

  /** A token with an unreadable date counts as expired. */
  #hasExpired(expiration: string): boolean {
    if (expiration === '') return false
    const time = timestampMs(expiration)
    return Number.isNaN(time) || time <= this.#clock.now()
  }
}

function valueOf({ data }: KubeObject, key: string): string {
  const value = data != null && Object.hasOwn(data, key) ? data[key] : undefined
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''
}

/** The sorted groups; undefined if one is not allowed. */
function groupsOf(extra: string): string[] | undefined {
  if (extra === '') return [defaultGroup]
  const groups = new Set([defaultGroup])
  for (const group of extra.split(',')) {
    if (!groupForm.test(group)) return undefined
    groups.add(group)
  }
  return [...groups].sort()
}

const sameText = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
