/**
 * The modules behind the entry points: the sources in a checkout, the bundle in an installed
 * package.
 */
import './prepare.cjs'
import { existsSync } from 'node:fs'

const sources = new URL('../src/main.ts', import.meta.url)
const bundle = new URL('../bundle/server.cjs', import.meta.url)

export const { serverEntry, testingEntry } = await import(
  (existsSync(sources) ? sources : bundle).href
)
