/**
 * How a watch learns that it has received everything up to a revision that no key of its range has.
 * Servers since 3.4.25 and 3.5.8 report it on the stream on request. Older ones answer before they
 * have sent earlier events, and so do servers that imitate etcd, whatever version they report.
 * There a marker is written among the keys of the watch: its event comes after all the others. It
 * is written only if a reader waits.
 */
import { type Connection, methods } from './connection.ts'
import { isAway } from './failure.ts'
import {
  decodeRange,
  decodeStatus,
  decodeWrite,
  encodeRange,
  encodeWrite,
  type EtcdStatus,
} from './messages.ts'
import type { Revision } from '#storage/storage.ts'

/**
 * The first patches of these minor releases of etcd 3 whose progress responses are correct; all
 * later releases' are.
 */
const believedFrom: Readonly<Record<number, number>> = { 4: 25, 5: 8 }

export function isBelieved({ version, isMember }: Omit<EtcdStatus, 'sizeBytes'>): boolean {
  if (!isMember) return false
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  if (major !== 3) return major > 3
  const from = believedFrom[minor]
  return from === undefined ? minor > 5 : patch >= from
}

/**
 * How often a marker is tried that other writers may overtake; a reader that still waits then tries
 * again.
 */
const markAttemptsMax = 3

export class Progress {
  readonly markerKey: string
  readonly #connection: Connection
  /** Undefined until a server has reported its version. */
  #canBeAsked: boolean | undefined
  #isBusy = false
  /** The revision of the last marker that is known here: its event is on its way to every watch. */
  #marked: Revision = 0

  constructor(connection: Connection, prefix: string) {
    this.#connection = connection
    this.markerKey = `${prefix}progress-marker`
  }

  get canBeAsked(): boolean {
    return this.#canBeAsked === true
  }

  /** Markers after this revision are gone, and with them their events. */
  setBack(newest: Revision): void {
    if (this.#marked > newest) this.#marked = 0
  }

  /**
   * Ensures that the marker comes after a revision, where the stream cannot report progress. A
   * failure is retried by the next waiter.
   */
  async mark(wanted: Revision): Promise<void> {
    if (this.#isBusy || this.#marked >= wanted) return
    this.#isBusy = true
    try {
      this.#canBeAsked ??= await this.#believes()
      if (!this.#canBeAsked) await this.#write(wanted)
    } catch {
    } finally {
      this.#isBusy = false
    }
  }

  /**
   * A server that does not report its version, or not to this client, gets no progress requests.
   */
  async #believes(): Promise<boolean> {
    try {
      const status = await this.#connection.read(methods.status, Buffer.alloc(0))
      return isBelieved(decodeStatus(status))
    } catch (error) {
      if (isAway(error)) throw error
      return false
    }
  }

  /**
   * Where another server has written the marker meanwhile, its marker will do if it is new enough.
   */
  async #write(wanted: Revision): Promise<void> {
    for (let attempt = 0; attempt < markAttemptsMax && this.#marked < wanted; attempt++) {
      const write = { key: this.markerKey, ifRevision: this.#marked, value: Buffer.alloc(0) }
      const response = await this.#connection.write(methods.txn, encodeWrite(write))
      const { succeeded, revision, found } = decodeWrite(response)
      if (succeeded) this.#marked = revision
      else if (found) this.#marked = found.modRevision
      else this.#marked = await this.#read()
    }
  }

  async #read(): Promise<Revision> {
    const range = await this.#connection.read(methods.range, encodeRange({ key: this.markerKey }))
    return decodeRange(range).items[0]?.modRevision ?? 0
  }
}
