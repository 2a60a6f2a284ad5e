#!/usr/bin/env node
/**
 * The `binnacle` command. In a checkout it runs the sources as they are (Node strips the types), in an
 * installed package what the release step left in dist/. It decides nothing else: src/main.ts does.
 */
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
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

// Compiled code is kept between starts: it halves the time to ready. A cache that cannot be written is no error.
enableCompileCache(
  inCheckout ? fileURLToPath(new URL('../.node/compile-cache', import.meta.url)) : undefined,
)
const { main } = await import((inCheckout ? source : built).href)
await main(process.argv.slice(2))
