/** Reads the tables in facts/: next to the sources, or inside the single executable. */
import { readFileSync } from 'node:fs'
import { embeddedFile } from '#base/embedded-file.ts'

const folder = new URL('../../facts/', import.meta.url)

export const readFactsFile = (fileName: string): string =>
  embeddedFile(`facts/${fileName}`) ?? readFileSync(new URL(fileName, folder), 'utf8')
