/**
 * Bundles src/ into one file of JavaScript, with esbuild. A start then reads one file instead of
 * hundreds. Three things that a bundler cannot see are settled here: modules that are loaded later,
 * the address of a module (`import.meta.url`), and threads. Packages stay outside, or go in as well
 * for the single executable.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

const root = resolve(import.meta.dirname, '../..')
const src = join(root, 'src')

const isShipped = (path: string) =>
  path.endsWith('.ts') && !/\.(test|suite|bench|child|fixture)\.ts$/.test(path)

/** What starts by itself: the server, and the thread that writes to SQLite. */
export const bundleEntries = {
  'server.cjs': 'main.ts',
  'storage/sqlite/writer.cjs': 'storage/sqlite/writer.ts',
}

/** Node 24 runs the package. */
const target = 'node24'

export interface BundleOptions {
  /** Packages of node_modules go in. */
  readonly packages: boolean
}

/** Writes the entries below `to`. */
export async function bundle(to: string, { packages }: BundleOptions): Promise<void> {
  const later = laterModules()
  for (const [out, entry] of Object.entries(bundleEntries))
    await build({
      entryPoints: [join(src, entry)],
      outfile: join(to, out),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target,
      packages: packages ? 'bundle' : 'external',
      // Comments and spaces are a third of the file; names stay, for stack traces and profiles.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      logLevel: 'warning',
      banner: { js: bundleUrl(out) },
      plugins: [ownModules(later)],
    })
}

/** Where the bundle lies: `../../facts/` of a module leads from there to the package's facts. */
function bundleUrl(out: string): string {
  const up = '../'.repeat(out.split('/').length - 1)
  const folder = `require("node:path").join(__dirname, ${JSON.stringify(up)}, "/")`
  return `const bundleUrl = require("node:url").pathToFileURL(${folder}).href;`
}

function ownModules(later: readonly string[]): Plugin {
  return {
    name: 'own-modules',
    setup({ onLoad }) {
      onLoad({ filter: /src[\\/]base[\\/]load-later\.ts$/ }, () => ({
        contents: loadLaterOfBundle(later),
        resolveDir: join(src, 'base'),
        loader: 'js',
      }))
      onLoad({ filter: /src[\\/].*\.ts$/ }, ({ path }) => {
        const address = relative(src, path).replaceAll('\\', '/').replace(/ts$/, 'cjs')
        const contents = readFileSync(path, 'utf8').replaceAll(
          'import.meta.url',
          `(bundleUrl + ${JSON.stringify(address)})`,
        )
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** The same function as in src/base/load-later.ts, for modules that the bundle holds. */
function loadLaterOfBundle(later: readonly string[]): string {
  const rows = later.map((path) => {
    const isOurs = path.endsWith('.ts')
    const key = isOurs ? path.slice(0, -'.ts'.length) : path
    return `  ${JSON.stringify(key)}: () => require(${JSON.stringify(isOurs ? `../${path}` : path)}),`
  })
  return `const modules = {
${rows.join('\n')}
}
export function loadLater(importer, path) {
  const key = path.startsWith('#') ? path.slice(1)
    : path.startsWith('.') ? new URL(path, importer).href.slice(bundleUrl.length) : path
  const load = modules[key]
  if (load === undefined) throw new Error('the bundle lacks ' + key)
  let loaded
  return () => (loaded ??= load())
}
`
}

/**
 * Every module that loadLater can be called with, as paths below src/, and packages by their names.
 */
export function laterModules(): string[] {
  const all = readdirSync(src, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter(isShipped)
  const found = new Set<string>()
  for (const importer of all) {
    const text = readFileSync(join(src, importer), 'utf8')
    if (!text.includes('loadLater')) continue
    for (const [, path = ''] of text.matchAll(/'([.#][^'\s]*)'/g)) {
      const module = `${below(importer, path)}.ts`
      if (existsSync(join(src, module))) found.add(module)
    }
    for (const [, path = ''] of text.matchAll(/`([.#][^`\s]*\$\{[^`\s]*)`/g)) {
      const pattern = patternOf(below(importer, path))
      for (const module of all) if (pattern.test(module)) found.add(module)
    }
    for (const [, name = ''] of text.matchAll(/import\.meta\.url,\s*'([\w@][^']*)'/g))
      found.add(name)
  }
  return [...found].sort()
}

const below = (importer: string, path: string) =>
  path.startsWith('#') ? path.slice(1) : join(dirname(importer), path).replaceAll('\\', '/')

/** `kinds/${group}/table` is the table of each folder of kinds/. */
function patternOf(template: string): RegExp {
  const parts = template
    .split(/\$\{[^}]*\}/)
    .map((part) => part.replace(/[.*+?^$()[\]\\|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^`]+')}\\.ts$`)
}
