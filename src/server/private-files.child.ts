/** Writes a long text into the file it is given; says why, where that cannot be. */
import { writePrivateFile } from './private-files.ts'

try {
  writePrivateFile(process.argv[2] as string, 'n'.repeat(100_000))
} catch (error) {
  process.stdout.write((error as Error).message)
}
