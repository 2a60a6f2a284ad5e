/**
 * Loads every module of a checkout once and ends, so that its first start finds them without types and compiled. It starts
 * nothing: a module of ours does nothing by being loaded.
 */
import { prepareLoading } from './loading.js'

const { readdirSync } = process.getBuiltinModule('node:fs')

/** Tests and what they use, and the thread of the store, which is loaded as a thread. */
const isLeftOut = (path) =>
  /\.(test|suite|fixture|bench|child)\.ts$/.test(path) || path === 'storage/sqlite/writer.ts'

const root = await prepareLoading(true, () => {})
for (const name of readdirSync(root, { recursive: true }).sort()) {
  const path = name.replaceAll('\\', '/')
  if (path.endsWith('.ts') && !isLeftOut(path)) await import(root.href + path)
}
// Both kinds of what is kept are written at the end.
process.exit(0)
