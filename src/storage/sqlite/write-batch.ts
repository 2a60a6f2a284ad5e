/** Combines writes into one request, and gives each waiter the result of its write. */
import type { Change, Outcome, Revision } from '#storage/storage.ts'
import {
  deletion,
  type ExpireAnswer,
  numbersPerWrite,
  type WriteAnswer,
  type QueuedWrite,
} from './protocol.ts'

export interface PendingWrite {
  readonly key: string
  /** undefined means a deletion. */
  readonly bytes: Buffer | undefined
  readonly ifRevision: Revision
  readonly deadline: number
  readonly ttlMs: number
}

export interface Waiting extends PendingWrite {
  readonly answer: PromiseWithResolvers<Outcome>
}

/** The overhead of a write in the log besides its value. */
const writeBytes = 4096

/** Splits the writes, in order, into batches of at most `bytesMax` bytes or one write. */
export function batchesOf(writes: Waiting[], bytesMax: number): Waiting[][] {
  const batches: Waiting[][] = []
  let size = 0
  let first = 0
  for (let i = 0; i < writes.length; i++) {
    const added = (writes[i].bytes?.length ?? 0) + writeBytes
    if (i > first && size + added > bytesMax) {
      batches.push(writes.slice(first, i))
      first = i
      size = 0
    }
    size += added
  }
  batches.push(first === 0 ? writes : writes.slice(first))
  return batches
}

/** Encodes a batch as one request. */
export function requestOf(writes: Waiting[]): QueuedWrite {
  let size = 0
  for (const write of writes) size += write.bytes?.length ?? 0
  const bytes = new Uint8Array(size)
  const numbers = new Float64Array(writes.length * numbersPerWrite)
  const keys: string[] = new Array(writes.length)
  let offset = 0
  for (let i = 0; i < writes.length; i++) {
    const write = writes[i]
    const at = i * numbersPerWrite
    keys[i] = write.key
    numbers[at] = write.ifRevision
    numbers[at + 1] = write.bytes ? write.bytes.length : deletion
    numbers[at + 2] = write.deadline
    numbers[at + 3] = write.ttlMs
    if (!write.bytes) continue
    bytes.set(write.bytes, offset)
    offset += write.bytes.length
  }
  return { kind: 'write', keys, numbers, bytes }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Adds the changes of the successful writes, in order. */
export function addWritten(changes: Change[], writes: Waiting[], answer: WriteAnswer): void {
  for (let i = 0; i < writes.length; i++) {
    const revision = answer.revisions[i]
    if (revision > 0) changes.push({ key: writes[i].key, revision, bytes: writes[i].bytes })
  }
}

export function addExpired(changes: Change[], answer: ExpireAnswer): void {
  for (const [i, key] of answer.keys.entries()) {
    changes.push({ key, revision: answer.revisions[i], bytes: undefined })
  }
}

/** Resolves each waiter with its result. */
export function answerWrites(writes: Waiting[], answer: WriteAnswer): void {
  for (const { index, revision, bytes } of answer.refused) {
    const { key } = writes[index]
    const current = bytes && { key, revision, bytes: viewOf(bytes) }
    writes[index].answer.resolve({ ok: false, current })
  }
  for (let i = 0; i < writes.length; i++) {
    const revision = answer.revisions[i]
    if (revision > 0) writes[i].answer.resolve({ ok: true, revision })
  }
}
