/** The error for an unsuccessful response, with the Status that the server sent. */
import type { Json } from '#api/object-meta.ts'

export interface StatusBody {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: Json
}

export class FailedRequest extends Error {
  override name = 'FailedRequest'
  /** The HTTP status code. */
  readonly code: number
  /** For example `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`. */
  readonly reason: string
  readonly status: StatusBody

  constructor(method: string, url: string, code: number, text: string) {
    const status = statusOf(text)
    super(`${method} ${url}: ${code} ${status.message ?? text.trim()}`)
    this.code = code
    this.reason = status.reason ?? ''
    this.status = status
  }
}

/** Some responses, such as those for unknown paths, are plain text. */
function statusOf(text: string): StatusBody {
  try {
    const parsed = JSON.parse(text) as StatusBody
    if (parsed?.kind === 'Status') return parsed
  } catch {}
  return { message: text.trim() }
}
