/**
 * Parses files with one secret and user per line: `secret,user name,user uid[,"group,group"]`. Read
 * once at start.
 */
import type { User } from '#access/user.ts'
import { parseCsv } from './csv.ts'

export interface CredentialRecord {
  readonly line: number
  readonly secret: string
  readonly user: User
}

/**
 * Throws an error with file and line if a record is malformed. `what` is the type of secret: token
 * or password.
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
