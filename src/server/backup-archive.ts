/**
 * A backup as a tar archive: a snapshot of the database, the keys that are needed to use it, and a
 * first file with checksums. `tar -xf` can extract it. The archive contains secrets, so only its
 * owner can read it.
 *
 *   binnacle-backup.json   format, time, revision, checksums
 *   pki/ca.crt …           certificates and keys
 *   encryption.yaml        the file of --encryption-provider-config, if specified
 *   state.db               the database (SQLite); for etcd a copy in the same format
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  readTarHeader,
  tarBlockBytes,
  type TarEntry,
  tarHeader,
  tarPaddingBytes,
} from '#base/tar.ts'
import type { Settings } from '#settings/flags.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import { backup } from '#storage/sqlite/backup.ts'
import { databaseFileName } from '#storage/sqlite/data-directory.ts'
import { syncFile } from '#storage/sqlite/schema.ts'
import { certificateDirectory } from './certificates.ts'

export const manifestName = 'binnacle-backup.json'
export const encryptionName = 'encryption.yaml'
const formatVersion = 1
const chunkBytes = 1024 * 1024
const endBytes = 2 * tarBlockBytes

export interface BackupManifest {
  readonly format: number
  readonly createdAt: string
  /** The store that was backed up: sqlite or etcd3. */
  readonly storage: string
  /** SHA-256 of each file, by its name in the archive. */
  readonly sha256: Readonly<Record<string, string>>
}

/** Writes a SQLite database with the objects of the store to a file. */
export type CopyDatabase = (file: string) => Promise<void>

export const copyOfSqlite =
  ({ dataDir }: Pick<Settings, 'dataDir'>): CopyDatabase =>
  (file) =>
    backup(join(dataDir, databaseFileName), file)

/**
 * Writes a backup archive and returns its size in bytes. The file gets its name only when it is
 * complete.
 */
export async function writeBackup(
  settings: Settings,
  copyDatabase: CopyDatabase,
  target: string,
  nowMs: number,
): Promise<number> {
  const database = `${target}.database`
  const unfinished = `${target}.unfinished`
  try {
    rmSync(unfinished, { force: true })
    await copyDatabase(database)
    const files = new Map([...keyFiles(settings), [databaseFileName, database]])
    const sizeBytes = await pack(files, unfinished, settings.storageBackend, nowMs)
    renameSync(unfinished, target)
    syncFile(dirname(resolve(target)))
    return sizeBytes
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    const { message } = error as Error
    throw new StorageUnavailable(`the backup to ${target} failed: ${message}`, { cause: error })
  } finally {
    rmSync(database, { force: true })
    rmSync(unfinished, { force: true })
  }
}

/** The key and configuration files, by their names in the archive. */
function keyFiles(settings: Settings): Map<string, string> {
  const directory = certificateDirectory(settings)
  const files = new Map<string, string>()
  if (existsSync(directory))
    for (const name of readdirSync(directory).sort())
      if (/\.(crt|key|pub)$/.test(name)) files.set(`pki/${name}`, join(directory, name))
  const encryption = settings.encryptionProviderConfig
  if (encryption !== undefined) files.set(encryptionName, encryption)
  return files
}

async function pack(
  files: ReadonlyMap<string, string>,
  target: string,
  storage: string,
  nowMs: number,
): Promise<number> {
  const sha256: Record<string, string> = {}
  for (const [name, path] of files) sha256[name] = await hashOf(path)
  const createdAt = new Date(nowMs).toISOString()
  const manifest: BackupManifest = { format: formatVersion, createdAt, storage, sha256 }
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  const archive = await open(target, 'wx', 0o600)
  try {
    const entry = (name: string, sizeBytes: number): TarEntry => ({
      name,
      sizeBytes,
      mode: 0o600,
      modifiedSeconds: nowMs / 1000,
    })
    await archive.write(tarHeader(entry(manifestName, text.length)))
    await archive.write(Buffer.concat([text, Buffer.alloc(tarPaddingBytes(text.length))]))
    for (const [name, path] of files) {
      const { size } = await stat(path)
      await archive.write(tarHeader(entry(name, size)))
      for await (const chunk of chunksOf(path)) await archive.write(chunk)
      await archive.write(Buffer.alloc(tarPaddingBytes(size)))
    }
    await archive.write(Buffer.alloc(endBytes))
    await archive.sync()
    return (await archive.stat()).size
  } finally {
    await archive.close()
  }
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Whether a file is a backup archive. A plain database file is not. */
export async function isBackupArchive(file: string): Promise<boolean> {
  if (!(await stat(file)).isFile()) return false
  const archive = await open(file)
  try {
    const { buffer, bytesRead } = await archive.read(Buffer.alloc(tarBlockBytes), 0, tarBlockBytes)
    return bytesRead === tarBlockBytes && readTarHeader(buffer)?.name === manifestName
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  } finally {
    await archive.close()
  }
}

/**
 * Unpacks an archive. `targetOf` returns the file for each entry, or undefined to skip it. Throws
 * if a checksum differs or the archive is truncated; files written before are removed.
 */
export async function unpackBackup(
  file: string,
  targetOf: (name: string) => string | undefined,
): Promise<BackupManifest> {
  const archive = await open(file)
  const written: string[] = []
  try {
    const manifest = await readManifest(archive, file)
    const missing = new Set(Object.keys(manifest.sha256))
    for (let at = await offsetAfter(archive, 0); ; ) {
      const entry = readTarHeader(await bytesAt(archive, at, tarBlockBytes, file))
      if (entry === undefined) break
      const next = at + tarBlockBytes + entry.sizeBytes + tarPaddingBytes(entry.sizeBytes)
      const target = targetOf(entry.name)
      if (target !== undefined) written.push(target)
      const hash = await unpackOne(archive, at + tarBlockBytes, entry.sizeBytes, target, file)
      if (hash !== manifest.sha256[entry.name])
        throw new StorageUnavailable(`${file} is damaged: the checksum of ${entry.name} differs`)
      missing.delete(entry.name)
      at = next
    }
    if (missing.size > 0)
      throw new StorageUnavailable(`${file} is damaged: it lacks ${[...missing].join(', ')}`)
    return manifest
  } catch (error) {
    for (const path of written) rmSync(path, { force: true })
    throw error
  } finally {
    await archive.close()
  }
}

async function readManifest(archive: FileHandle, file: string): Promise<BackupManifest> {
  const entry = readTarHeader(await bytesAt(archive, 0, tarBlockBytes, file))
  const text = await bytesAt(archive, tarBlockBytes, entry?.sizeBytes ?? 0, file)
  const manifest = JSON.parse(text.toString()) as BackupManifest
  if (manifest.format > formatVersion)
    throw new StorageUnavailable(
      `${file} was written by a newer release (format ${manifest.format}, this one reads ${formatVersion})`,
    )
  return manifest
}

async function offsetAfter(archive: FileHandle, at: number): Promise<number> {
  const { sizeBytes = 0 } = readTarHeader(await bytesAt(archive, at, tarBlockBytes, '')) ?? {}
  return at + tarBlockBytes + sizeBytes + tarPaddingBytes(sizeBytes)
}

async function bytesAt(
  archive: FileHandle,
  at: number,
  length: number,
  file: string,
): Promise<Buffer> {
  const { buffer, bytesRead } = await archive.read(Buffer.alloc(length), 0, length, at)
  if (bytesRead < length) throw new StorageUnavailable(`${file} is truncated`)
  return buffer
}

/** Unpacks one file and returns its checksum. */
async function unpackOne(
  archive: FileHandle,
  at: number,
  sizeBytes: number,
  target: string | undefined,
  file: string,
): Promise<string> {
  const hash = createHash('sha256')
  const output = target === undefined ? undefined : await open(target, 'wx', 0o600)
  try {
    for (let done = 0; done < sizeBytes; ) {
      const wanted = Math.min(chunkBytes, sizeBytes - done)
      const chunk = await bytesAt(archive, at + done, wanted, file)
      hash.update(chunk)
      await output?.write(chunk)
      done += wanted
    }
    await output?.sync()
  } finally {
    await output?.close()
  }
  return hash.digest('hex')
}
