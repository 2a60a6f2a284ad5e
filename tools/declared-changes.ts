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

/** Titles that a module puts together: `there is the flag --${name}` stands for all flags. */
const templatesIn = (text: string): RegExp[] =>
  [...text.matchAll(/(?<![.\w])change\(\s*`([^`]+)`/g)].map(([, template = '']) => {
    const fixed = template.split(/\$\{[^}]*\}/).map((part) => RegExp.escape(part))
    return new RegExp(`^${fixed.join('.+')}$`)
  })

/** Every change, by the module whose text has its title or makes it. */
export async function changesByModule(): Promise<ReadonlyMap<string, readonly ReleaseChange[]>> {
  const paths = modulesWithChanges()
  for (const path of paths) await import(join(root, path))
  const changes = declaredChanges()
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const templates = templatesIn(text)
      const isHere = (title: string) =>
        text.includes(title) || templates.some((template) => template.test(title))
      return [path, changes.filter(({ title }) => isHere(title))]
    }),
  )
}

/** Every change, ordered by title. */
export async function allChanges(): Promise<readonly ReleaseChange[]> {
  await changesByModule()
  return declaredChanges().toSorted((a, b) => (a.title < b.title ? -1 : 1))
}
