/**
 * Reads the tables of facts/ from beside the sources.
 */
import { readFileSync } from 'node:fs'

const folder = new URL('../../facts/', import.meta.url)

export const readFactsFile = (fileName: string): string =>
  readFileSync(new URL(fileName, folder), 'utf8')
