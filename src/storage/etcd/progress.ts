/**
 * Detects that a watch has received everything up to a revision that no key in its range has. etcd
 * since 3.4.25 and 3.5.8 reports it on request. Older releases respond before they have sent
 * earlier events. So do servers that imitate etcd, whatever version they report. For these, a
 * marker key is written in the watched range: its event follows all others. It is written only if a
 * reader waits.
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
 * The first patch release of each minor release of etcd 3 with correct progress responses; all
 * later minor releases are correct.
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
 * Attempts to write a marker when other writers are faster; a reader that still waits starts again.
 */
const markAttemptsMax = 3

export class Progress {
  readonly markerKey: string
  readonly #connection: Connection
  /** Undefined until a server has reported its version. */
  #answersProgressRequests: boolean | undefined
  #isBusy = false
  /** The revision of the last known marker, whose event every watch will receive. */
  #marked: Revision = 0

  constructor(connection: Connection, prefix: string) {
    this.#connection = connection
    this.markerKey = `${prefix}progress-marker`
  }

  get answersProgressRequests(): boolean {
    return this.#answersProgressRequests === true
  }

  /** The store was reset: markers after this revision no longer exist. */
  setBack(newest: Revision): void {
    if (this.#marked > newest) this.#marked = 0
  }

  /**
   * Ensures that a marker follows the revision, unless the server reports progress. After a failure
   * the next waiter retries.
   */
  async mark(wanted: Revision): Promise<void> {
    if (this.#isBusy || this.#marked >= wanted) return
    this.#isBusy = true
    try {
      this.#answersProgressRequests ??= await this.#believes()
      if (!this.#answersProgressRequests) await this.#write(wanted)
    } catch {
    } finally {
      this.#isBusy = false
    }
  }

  /** A server that does not report its version gets no progress requests. */
  async #believes(): Promise<boolean> {
    try {
      const status = await this.#connection.read(methods.status, Buffer.alloc(0))
      return isBelieved(decodeStatus(status))
    } catch (error) {
      if (isAway(error)) throw error
      return false
    }
  }

  /** A marker that another server wrote suffices if it is new enough. */
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
