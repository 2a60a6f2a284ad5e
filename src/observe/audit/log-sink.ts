/**
 * Writes audit events as lines of a file. A large file is rotated: renamed with the time, and
 * compressed if configured. Old files are deleted by number and age. Lines are written
 * synchronously, so that requests wait for the disk, or in batches. Batches wait in memory while
 * the disk is slow; beyond a limit they are dropped and counted.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Awaitable } from '#base/awaitable.ts'
import { makeDirectory } from '#storage/make-directory.ts'
import { compressedEnding, compressFile } from './compress-file.ts'
import type { AuditEvent } from './event.ts'
import type { Lost, RecordWriter } from './sink.ts'

export interface LogSinkOptions {
  /** `-` for standard output. */
  readonly path: string
  readonly format: (event: AuditEvent) => string
  /** A file is rotated at this size. */
  readonly sizeBytesMax: number
  /** 0: keep all backups. */
  readonly backupsMax: number
  /** 0: keep backups forever. */
  readonly ageMsMax: number
  /** Whether rotated files are compressed with gzip. */
  readonly compresses?: boolean
  /** Whether each event is written synchronously, before the request continues. */
  readonly writesAtOnce?: boolean
  readonly now: () => number
  readonly lost: Lost
  /** Limit of the bytes that wait to be written. */
  readonly waitingBytesMax?: number
}

const waitingBytesDefault = 64 << 20
const standardOutput = 1
const lineEnd = 0x0a
/** How long to wait if standard output is a full pipe. */
const fullMs = 10

/** Lines to write together, and a promise for the callers that wait for them. */
interface Waiting {
  readonly lines: string[]
  bytes: number
  readonly written: PromiseWithResolvers<boolean>
}

const nothing = (): Waiting => ({ lines: [], bytes: 0, written: Promise.withResolvers() })

export class LogSink implements RecordWriter {
  readonly #options: LogSinkOptions
  #descriptor: number
  #size = 0
  /**
   * The last line is incomplete, for example because the disk was full: the next event must start a
   * new line.
   */
  #isTorn = false
  #waiting = nothing()
  #writing: Promise<void> | undefined
  #compressing: Promise<void> | undefined
  #isClosed = false

  constructor(options: LogSinkOptions) {
    this.#options = options
    if (options.path === '-') this.#descriptor = standardOutput
    else {
      makeDirectory(dirname(options.path))
      this.#descriptor = openSync(options.path, 'a', 0o600)
      this.#size = statSync(options.path).size
      this.#isTorn = this.#size > 0 && !endsLine(options.path, this.#size)
    }
  }

  write(events: readonly AuditEvent[]): Awaitable<boolean> {
    if (this.#isClosed) {
      this.#options.lost('log', events.length, 'the log is closed')
      return false
    }
    if (this.#options.writesAtOnce && this.#descriptor !== standardOutput)
      return this.#writeNow(events)
    const { format, lost, waitingBytesMax = waitingBytesDefault } = this.#options
    const waiting = this.#waiting
    for (const [at, event] of events.entries()) {
      const line = `${format(event)}\n`
      if (waiting.bytes + line.length > waitingBytesMax) {
        lost('log', events.length - at, 'too many records wait for the disk')
        return false
      }
      waiting.lines.push(line)
      waiting.bytes += line.length
      this.#writing ??= this.#drain()
    }
    return waiting.written.promise
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#compressing
    // After it is closed, another file may get its descriptor number.
    this.#isClosed = true
    // The events that arrived during the last write are already queued.
    await this.#writing
    await this.#compressing
    if (this.#descriptor !== standardOutput) closeSync(this.#descriptor)
  }

  #writeNow(events: readonly AuditEvent[]): boolean {
    const { format, lost, sizeBytesMax } = this.#options
    for (const [at, event] of events.entries()) {
      try {
        if (this.#size >= sizeBytesMax) this.#rotate()
        const bytes = this.#bytesOf(`${format(event)}\n`)
        for (let at = 0; at < bytes.length; )
          at += this.#wrote(bytes, at, writeSync(this.#descriptor, bytes, at))
      } catch (error) {
        lost('log', events.length - at, (error as Error).message)
        return false
      }
    }
    return true
  }

  async #drain(): Promise<void> {
    // Combines the events of one event loop tick.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.#waiting.lines.length > 0) {
      const { lines, written } = this.#waiting
      this.#waiting = nothing()
      try {
        await this.#write(lines)
        written.resolve(true)
      } catch (error) {
        this.#options.lost('log', lines.length, (error as Error).message)
        written.resolve(false)
      }
    }
    this.#writing = undefined
  }

  async #write(lines: readonly string[]): Promise<void> {
    let from = 0
    while (from < lines.length) {
      if (this.#size >= this.#options.sizeBytesMax) this.#rotate()
      let to = from
      let room = this.#options.sizeBytesMax - this.#size
      do room -= lines[to++].length
      while (to < lines.length && room > lines[to].length)
      await this.#append(this.#bytesOf(lines.slice(from, to).join('')))
      from = to
    }
  }

  #bytesOf = (lines: string) => Buffer.from(this.#isTorn ? `\n${lines}` : lines)

  /** How many of these bytes the file contains now. */
  #wrote(bytes: Buffer, at: number, count: number): number {
    this.#size += count
    this.#isTorn = bytes[at + count - 1] !== lineEnd
    return count
  }

  async #append(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += await new Promise<number>((resolve, reject) => {
        write(this.#descriptor, bytes, at, bytes.length - at, null, (error, count) => {
          if (error === null) resolve(this.#wrote(bytes, at, count))
          else if (error.code === 'EAGAIN') setTimeout(resolve, fullMs, 0)
          else reject(error)
        })
      })
    }
  }

  /** Closes the old file last, because the system may reuse its descriptor number at once. */
  #rotate(): void {
    if (this.#descriptor === standardOutput) return
    const { path, now } = this.#options
    const stamp = new Date(now()).toISOString().slice(0, 23).replaceAll(':', '-')
    // Rename only if the file exists: another process may have moved it, or the previous rotation
    // may have failed. A new file is created in each case.
    if (existsSync(path))
      renameSync(path, join(dirname(path), `${this.#stem()}-${stamp}${extname(path)}`))
    const old = this.#descriptor
    this.#descriptor = openSync(path, 'a', 0o600)
    this.#size = 0
    this.#isTorn = false
    closeSync(old)
    this.#forgetOld()
    if (this.#options.compresses) this.#compressing ??= this.#compressOld()
  }

  /**
   * Compresses rotated files one by one, including those of earlier server runs. Skips a file that
   * cannot be compressed.
   */
  async #compressOld(): Promise<void> {
    const failed = new Set<string>()
    const next = () =>
      this.#oldFiles().find((name) => !name.endsWith(compressedEnding) && !failed.has(name))
    for (let name = next(); name !== undefined; name = next()) {
      const last = name
      await compressFile(join(dirname(this.#options.path), name)).catch(() => failed.add(last))
    }
    this.#compressing = undefined
  }

  #stem(): string {
    const { path } = this.#options
    return basename(path, extname(path))
  }

  /** Names of rotated files, newest first. */
  #oldFiles(): string[] {
    const { path } = this.#options
    const start = `${this.#stem()}-`
    return readdirSync(dirname(path))
      .filter((name) => {
        const plain = plainName(name)
        const isOurs = plain.startsWith(start) && plain.endsWith(extname(path))
        return isOurs && stampOf(plain, start) !== undefined
      })
      .sort()
      .reverse()
  }

  #forgetOld(): void {
    const { path, backupsMax, ageMsMax, now } = this.#options
    const folder = dirname(path)
    const start = `${this.#stem()}-`
    // During compression a backup exists twice, plain and compressed. It counts once.
    const met = new Set<string>()
    for (const name of this.#oldFiles()) {
      met.add(plainName(name))
      const aged = ageMsMax > 0 && now() - (stampOf(name, start) ?? 0) > ageMsMax
      if (aged || (backupsMax > 0 && met.size > backupsMax))
        // Compression may have removed the plain file already.
        rmSync(join(folder, name), { force: true })
    }
  }
}

/** Whether the existing file ends with a complete line. */
function endsLine(path: string, size: number): boolean {
  const descriptor = openSync(path, 'r')
  try {
    const last = Buffer.alloc(1)
    readSync(descriptor, last, 0, 1, size - 1)
    return last[0] === lineEnd
  } finally {
    closeSync(descriptor)
  }
}

const plainName = (name: string) =>
  name.endsWith(compressedEnding) ? name.slice(0, -compressedEnding.length) : name

/** `audit-2021-05-04T10-11-12.345.log` */
function stampOf(name: string, start: string): number | undefined {
  const [, day, hour, minute, rest] =
    /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})/.exec(name.slice(start.length)) ?? []
  return day === undefined ? undefined : Date.parse(`${day}${hour}:${minute}:${rest}Z`)
}
