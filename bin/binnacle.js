#!/usr/bin/env node
/**
 * The `binnacle` command. In a checkout it runs the sources as they are (Node strips the types), in an
 * installed package what the release step left in dist/. It decides nothing else: src/main.ts does.
 */
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const source = new URL('../src/main.ts', import.meta.url)
const built = new URL('../dist/main.js', import.meta.url)
const inCheckout = existsSync(source)

const [major] = process.versions.node.split('.').map(Number)
const majorWanted = inCheckout ? 26 : 24
if (major < majorWanted) {
  process.stderr.write(
    `binnacle: needs Node ${majorWanted} or later and this is ${process.versions.node}` +
      `${inCheckout ? '; `npm start` fetches it by itself' : ''}\n`,
  )
  process.exit(1)
}

// A small nursery for young objects: half the idle memory for a few more, shorter collections. Node takes this only on its
// command line, so the process begins once more, as itself, before anything is loaded.
const nursery = '--max-semi-space-size=8'
const asked = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
if (process.execve !== undefined && !asked.includes('semi-space')) {
  const script = fileURLToPath(import.meta.url)
  const args = [process.execPath, ...process.execArgv, nursery, script, ...process.argv.slice(2)]
  process.execve(process.execPath, args, process.env)
}

// Code without its types, compiled, is kept for the next start. A cache that cannot be written is no error.
nodeModule.enableCompileCache(
  inCheckout ? fileURLToPath(new URL('../.node/compile-cache', import.meta.url)) : undefined,
)
const { main } = await import((inCheckout ? source : built).href)
await main(process.argv.slice(2))

// Node writes the cache when a process exits by itself; one that is killed would never leave any.
setTimeout(() => nodeModule.flushCompileCache(), 2000).unref()
