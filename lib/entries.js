/**
 * The modules behind the entry points: the sources in a checkout, the bundle in an installed
 * package.
 */
import './prepare.cjs'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

const sources = new URL('../src/main.ts', import.meta.url)
// An `import` of the bundle would first search its 3.5 MB for names of exports, for 25 ms.
const load = createRequire(import.meta.url)

export const { serverEntry, testingEntry } = existsSync(sources)
  ? await import(sources.href)
  : load('../bundle/server.cjs')
