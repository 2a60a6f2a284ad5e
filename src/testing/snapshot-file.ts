/**
 * Stores a snapshot in a file: every object with its revision, without history. Another process of
 * the same version can start clusters from it. It does not contain keys that sign tokens.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { MemoryStorage, type SavedStore } from '#storage/memory/memory.ts'
import type { Snapshot } from './snapshot.ts'

const format = 'binnacle snapshot 1'

interface Content {
  readonly format: string
  readonly store: SavedStore
  readonly clock: Snapshot['clock']
  readonly seed: Snapshot['seed']
}

/** Write to a temporary file and rename it, so that a crash leaves no partial file. */
export function writeSnapshot(path: string, { storage, clock, seed }: Snapshot): void {
  const content: Content = { format, store: storage.save(), clock, seed }
  writeFileSync(`${path}.partial`, serialize(content), { mode: 0o600 })
  renameSync(`${path}.partial`, path)
}

export function readSnapshot(path: string): Snapshot {
  const { store, clock, seed } = contentOf(path)
  const storage = MemoryStorage.restored(store)
  return { revision: store.revision, storage, clock, seed }
}

function contentOf(path: string): Content {
  const bytes = readFileSync(path)
  try {
    const content = deserialize(bytes) as Content
    if (content.format === format) return content
  } catch {}
  throw new Error(`${path} is no snapshot of a cluster`)
}
