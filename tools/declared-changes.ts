/**
 * Every change between releases that the server knows. A change registers itself when its module is
 * loaded, so all modules that declare one are loaded here: none can be missed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ReleaseChange, declaredChanges } from '#api/releases/change.ts'

const root = resolve(import.meta.dirname, '..')
const ofRegistry = "releases/change.ts'"

/** Paths of the modules that declare changes: `src/kinds/core/pod/behaviour.ts`. */
export const modulesWithChanges = (): string[] =>
  readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[^.]+\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const text = readFileSync(path, 'utf8')
      return text.includes(ofRegistry) && /[^.\w]change\(/.test(text)
    })
    .map((path) => path.slice(root.length + 1))
    .sort()

/** Every change, by the module whose text has its title. */
export async function changesByModule(): Promise<ReadonlyMap<string, readonly ReleaseChange[]>> {
  const paths = modulesWithChanges()
  for (const path of paths) await import(join(root, path))
  const changes = declaredChanges()
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [path, changes.filter(({ title }) => text.includes(title))]
    }),
  )
}

/** Every change, ordered by title. */
export async function allChanges(): Promise<readonly ReleaseChange[]> {
  await changesByModule()
  return declaredChanges().toSorted((a, b) => (a.title < b.title ? -1 : 1))
}
