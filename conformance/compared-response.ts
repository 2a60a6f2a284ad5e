/** What a client sees of an answer, as the recordings hold it. */

export interface ComparedResponse {
  readonly status: number
  readonly type?: string
  readonly body: unknown
  readonly warning?: string
}
