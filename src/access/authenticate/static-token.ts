/**
 * Authenticates tokens from a static file, which is read only at start. The tokens never expire.
 * Only digests are stored, so the duration of a lookup reveals nothing about a token.
 */
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import type { User } from '#access/user.ts'
import { parseCredentials } from './credential-file.ts'
import { tokenDigest } from './token-digest.ts'

export class StaticTokenAuthenticator implements TokenAuthenticator {
  readonly name = 'static-token'
  /** Problems of the file that do not prevent its use. */
  readonly warnings: string[] = []
  readonly #users = new Map<string, User>()

  constructor(text: string, file: string) {
    for (const { line, secret, user } of parseCredentials(text, file, 'token')) {
      if (secret === '') {
        this.warnings.push(`empty token in token file '${file}', line ${line}`)
        continue
      }
      const digest = tokenDigest(secret)
      if (this.#users.has(digest))
        this.warnings.push(`duplicate token in token file '${file}', line ${line}`)
      this.#users.set(digest, user)
    }
  }

  authenticateToken(token: string): AuthenticationResult {
    const user = this.#users.get(tokenDigest(token))
    return user === undefined ? undefined : { user }
  }
}
