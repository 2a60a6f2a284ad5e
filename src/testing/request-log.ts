/** Records the requests to one cluster, oldest first, for assertions in tests. */
import type { AnswerHeaders, Wire } from '#http/exchange.ts'

export interface RequestRecord {
  readonly method: string
  /** Path and query, without the path of the cluster. */
  readonly url: string
  readonly userAgent: string
  /** The status of the response; 0 until it is known. */
  status: number
}

/** The number of newest requests that are kept. */
const requestsMax = 10_000

export class RequestLog {
  #records: RequestRecord[] = []

  get records(): readonly RequestRecord[] {
    return this.#records
  }

  clear(): void {
    this.#records = []
  }

  /** Adds a request and its status as soon as the server responds. */
  follow(wire: Wire): RequestRecord {
    const { answer, answerPieces, stream } = wire
    const record: RequestRecord = {
      method: wire.method,
      url: wire.url,
      userAgent: String(wire.headers['user-agent'] ?? ''),
      status: 0,
    }
    if (this.#records.length >= requestsMax) this.#records = this.#records.slice(requestsMax / 2)
    this.#records.push(record)
    const seen = (status: number) => {
      record.status = status
    }
    wire.answer = (status, headers: AnswerHeaders, body) => {
      seen(status)
      answer.call(wire, status, headers, body)
    }
    wire.answerPieces = (status, headers, pieces) => {
      seen(status)
      answerPieces.call(wire, status, headers, pieces)
    }
    wire.stream = (status, headers) => {
      seen(status)
      return stream.call(wire, status, headers)
    }
    return record
  }
}
