/**
 * HTTP basic authentication from a file of passwords, in releases up to 1.18. Passwords are
 * compared in constant time.
 */
import { change } from '#api/releases/change.ts'
import { hash, timingSafeEqual } from 'node:crypto'
import type { Authenticator, Credentials, AuthenticationResult } from '#access/authenticate.ts'
import type { User } from '#access/user.ts'
import { parseCredentials } from './credential-file.ts'
import { firstValue } from './header-values.ts'

export const hasBasicAuth = change('clients can authenticate with HTTP basic authentication', {
  until: 18,
})
/** The challenge of a 401, in its WWW-Authenticate header. */
export const basicChallenge = 'Basic realm="kubernetes-master"'

const digest = (password: string): Buffer => hash('sha256', password, 'buffer')

export class BasicAuthenticator implements Authenticator {
  readonly name = 'basic'
  readonly #users = new Map<string, { password: Buffer; user: User }>()
  /** Compared if the user is unknown, so that the duration does not reveal this. */
  readonly #nobody = digest(Math.random().toString())

  constructor(text: string, file: string) {
    for (const { secret, user } of parseCredentials(text, file, 'password'))
      this.#users.set(user.name, { password: digest(secret), user })
  }

  authenticate({ headers }: Credentials): AuthenticationResult {
    const given = credentialsOf(firstValue(headers.authorization) ?? '')
    if (given === undefined) return undefined
    const known = this.#users.get(given.name)
    const equal = timingSafeEqual(digest(given.password), known?.password ?? this.#nobody)
    if (known === undefined || !equal) return { refused: 'invalid username/password combination' }
    return { user: known.user, consumed: ['authorization'] }
  }
}

function credentialsOf(header: string): { name: string; password: string } | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]*={0,2})$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
