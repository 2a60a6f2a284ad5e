/**
 * Tokens from a file. They never expire, and the file is read only at start. Only their digests are
 * kept, so that how long a look-up takes says nothing about a token.
 */
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import type { User } from '#access/user.ts'
import { parseCredentials } from './credential-file.ts'
import { tokenDigest } from './token-digest.ts'

export class StaticTokenAuthenticator implements TokenAuthenticator {
  readonly name = 'static-token'
  /** What is odd about the file without making it unusable. */
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
