/**
 * Makes bundle/ for the package, before `npm pack`: the server as one file, the thread of the store
 * as another. Also writes the types of the entry points, the initial objects of test clusters, and
 * bundle/package.json, which names the commit. It never touches src/.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkedOutCommit } from '#server/build-info.ts'
import { bundle } from './bundle.ts'
import { initialStoreText } from './initial-store.ts'
import { writeTypes } from './types.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * Beside the bundle: its format, which is not that of the package, and the commit of its sources.
 */
export const bundleManifest = (): string => {
  const gitCommit = checkedOutCommit(new URL('../../', import.meta.url))
  return `${JSON.stringify({ type: 'commonjs', gitCommit }, null, 2)}\n`
}

async function makeBundle(to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)
  writeFileSync(join(to, 'package.json'), bundleManifest())
  await bundle(to, { packages: false })
  writeTypes(join(to, 'types'))
  writeFileSync(join(to, 'initial-store.json'), await initialStoreText())
}

if (import.meta.main) await makeBundle(join(root, 'bundle'))
