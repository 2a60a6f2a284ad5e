/** Compresses a rotated file: NAME becomes NAME.gz. If that fails, only NAME remains. */
import { createReadStream, createWriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export const compressedEnding = '.gz'

export async function compressFile(path: string): Promise<void> {
  const compressed = `${path}${compressedEnding}`
  try {
    await pipeline(
      createReadStream(path),
      createGzip(),
      createWriteStream(compressed, { mode: 0o600 }),
    )
  } catch (error) {
    await unlink(compressed).catch(() => {})
    throw error
  }
  await unlink(path)
}
