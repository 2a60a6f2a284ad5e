/**
 * Sources without their types, kept from one start to the next in one file: Node would open each of some five hundred, and
 * what it kept of each beside it. A source counts as long as its file has the time and the size it had. What cannot be kept,
 * or read back, is no error: it is made anew.
 */
import { dirname } from 'node:path'

// Not imported: that would load all Node has behind the name, streams and promises included.
const fs = process.getBuiltinModule('node:fs')

/** By then a start has loaded what it needs; what is loaded late comes in company. */
const saveAfterMs = 2000

/** The file: the length of its index, the index (JSON), and the sources one after another. */
const lengthBytes = 4

export class KeptSources {
  #place
  #root
  #strip
  #fd
  /** By path: the time and the size of the file, and the bytes or where they are kept. */
  #entries = new Map()
  #saving

  /** `place` is the file, `root` the directory of the sources with a slash at its end; `strip` takes the types out of a text. */
  constructor(place, root, strip) {
    this.#place = place
    this.#root = root
    this.#strip = strip
    this.#open()
  }

  /** Of the file at `path` below the root. */
  source(path) {
    const { mtimeMs, size } = fs.statSync(this.#root + path)
    const kept = this.#entries.get(path)
    const bytes = kept?.mtimeMs === mtimeMs && kept.size === size ? this.#bytes(kept) : undefined
    if (bytes !== undefined) return bytes.toString()
    const text = this.#strip(fs.readFileSync(this.#root + path, 'utf8'))
    this.#entries.set(path, { mtimeMs, size, bytes: Buffer.from(text) })
    this.#planSave()
    return text
  }

  /** Writes all that still counts: complete or not at all, also where the machine stops in the middle. */
  save() {
    clearTimeout(this.#saving)
    process.off('exit', this.#saveAtEnd)
    this.#saving = undefined
    const draft = `${this.#place}.${process.pid}`
    try {
      fs.mkdirSync(dirname(this.#place), { recursive: true })
      fs.writeFileSync(draft, this.#packed(), { flush: true })
      fs.renameSync(draft, this.#place)
      this.#open()
    } catch {
      try {
        fs.rmSync(draft)
      } catch {
        // It was not even begun.
      }
    }
  }

  #saveAtEnd = () => this.save()

  /** Soon, because a server may be killed; at its end at the latest, because it may not live so long. */
  #planSave() {
    if (this.#saving !== undefined) return
    this.#saving = setTimeout(() => this.save(), saveAfterMs).unref()
    process.once('exit', this.#saveAtEnd)
  }

  #packed() {
    const index = []
    const texts = []
    for (const [path, entry] of this.#entries) {
      const now = fs.statSync(this.#root + path, { throwIfNoEntry: false })
      if (now?.mtimeMs !== entry.mtimeMs || now.size !== entry.size) continue
      const bytes = this.#bytes(entry)
      if (bytes === undefined) continue
      index.push([path, entry.mtimeMs, entry.size, bytes.length])
      texts.push(bytes)
    }
    const head = Buffer.from(JSON.stringify(index))
    const length = Buffer.alloc(lengthBytes)
    length.writeUInt32LE(head.length)
    return Buffer.concat([length, head, ...texts])
  }

  #bytes({ bytes, at, length }) {
    return bytes ?? this.#read(at, length)
  }

  #read(at, length) {
    const bytes = Buffer.allocUnsafe(length)
    return fs.readSync(this.#fd, bytes, 0, length, at) === length ? bytes : undefined
  }

  /** What is no such file, or not all of one, holds nothing. */
  #open() {
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
    this.#fd = undefined
    this.#entries = new Map()
    try {
      this.#fd = fs.openSync(this.#place, 'r')
      const fileSize = fs.fstatSync(this.#fd).size
      const headLength = this.#read(0, lengthBytes).readUInt32LE()
      let at = lengthBytes + headLength
      if (at > fileSize) return
      const found = JSON.parse(this.#read(lengthBytes, headLength).toString()).map(
        ([path, mtimeMs, size, length]) => {
          const entry = { mtimeMs, size, at, length }
          at += length
          return [path, entry]
        },
      )
      if (at === fileSize) this.#entries = new Map(found)
    } catch {
      // As a first start.
    }
  }
}
