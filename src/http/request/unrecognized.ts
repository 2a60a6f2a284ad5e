/** The error for a body that cannot be decoded as any object. */
import { badRequest } from '#api/status-error.ts'

export const unrecognized = (kind: string, why: string, bytes: Buffer) =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(bytes)})`,
  )

/** The start of a body: as text if it looks like JSON, otherwise in hexadecimal. */
function summaryOf(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, 30)
  const shown = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex')
  return bytes.length > 30 ? `${shown} ...` : shown
}
