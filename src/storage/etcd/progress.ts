/**
 * How a watch learns that it has received everything up to a revision that no key of its range has. Servers since 3.4.25 and
 * 3.5.8 can be asked on the stream. Older ones answer before they have sent what came before, so there a marker is
 * written among the keys of the watch: its event comes after all the others. It is written only where somebody waits.
 */
import { type Connection, methods } from './connection.ts'
import { decodePut, decodeStatus, encodePut } from './messages.ts'
import type { Revision } from '#storage/storage.ts'

/** The first patches of these minor releases of etcd 3 whose answers can be believed; all later releases can. */
const believedFrom: Readonly<Record<number, number>> = { 4: 25, 5: 8 }

export function isBelieved(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  if (major !== 3) return major > 3
  const from = believedFrom[minor]
  return from === undefined ? minor > 5 : patch >= from
}

export class Progress {
  readonly markerKey: string
  readonly #connection: Connection
  /** Undefined until a server has said which version it is. */
  #canBeAsked: boolean | undefined
  #isBusy = false
  /** The revision of the last marker: its event is on its way to every watch. */
  #marked: Revision = 0

  constructor(connection: Connection, prefix: string) {
    this.#connection = connection
    this.markerKey = `${prefix}progress-marker`
  }

  get canBeAsked(): boolean {
    return this.#canBeAsked === true
  }

  /** Sees to it that the marker comes after a revision, where the stream cannot be asked. What fails is tried by the next. */
  async mark(wanted: Revision): Promise<void> {
    if (this.#isBusy || this.#marked >= wanted) return
    this.#isBusy = true
    try {
      if (this.#canBeAsked === undefined) {
        const status = await this.#connection.read(methods.status, Buffer.alloc(0))
        this.#canBeAsked = isBelieved(decodeStatus(status).version)
      }
      if (!this.#canBeAsked) {
        const put = encodePut(this.markerKey, Buffer.alloc(0))
        this.#marked = decodePut(await this.#connection.write(methods.put, put))
      }
    } catch {
    } finally {
      this.#isBusy = false
    }
  }
}
