/**
 * Files that pair a secret with a user: `secret,user name,user uid[,"group,group"]`, one per line,
 * read once at start.
 */
import type { User } from '#access/user.ts'
import { parseCsv } from './csv.ts'

export interface CredentialRecord {
  readonly line: number
  readonly secret: string
  readonly user: User
}

/**
 * Throws, naming file and line, where a record is malformed. `what` is what the secret is called:
 * token, password.
 */
export function parseCredentials(text: string, file: string, what: string): CredentialRecord[] {
  const fail = (line: number | string, why: string) =>
    new Error(`${what} file '${file}', line ${line}: ${why}`)
  let records: ReturnType<typeof parseCsv>
  try {
    records = parseCsv(text)
  } catch (error) {
    const [, line = '?', why = ''] = /^line (\d+): (.*)$/.exec((error as Error).message) ?? []
    throw fail(line, why)
  }
  return records.map(({ line, fields }) => {
    const [secret = '', name = '', uid = '', groups] = fields
    if (fields.length < 3)
      throw fail(
        line,
        `must have at least 3 columns (${what}, user name, user uid), found ${fields.length}`,
      )
    return {
      line,
      secret,
      user: {
        name,
        uid,
        groups: groups?.split(',').filter((group) => group !== '') ?? [],
        extra: {},
      },
    }
  })
}
