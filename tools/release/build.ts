/**
 * Makes dist/ from src/, for the published package: types erased by Node's own eraser (so lines and columns stay), `.ts`
 * in imports turned into `.js`, data files copied, tests left out. `npm pack` calls it. It never touches src/.
 * dist/package.json maps `#folder/*` to dist/, as the package.json of the checkout maps it to src/, and names the commit.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkedOutCommit } from '#server/build-info.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const isTest = (path: string) => /\.(test|suite|bench|child|fixture)\.ts$/.test(path)

/** Specifiers that lead to our own files end in .js once built: imports, dynamic imports, worker URLs. */
export function withBuiltSpecifiers(code: string): string {
  return code.replace(/(['"])((?:\.{1,2}\/|#)[^'"\n]+)\.ts\1/g, '$1$2.js$1')
}

export function build(to = join(root, 'dist')): void {
  rmSync(to, { recursive: true, force: true })
  const from = join(root, 'src')
  for (const name of readdirSync(from, { recursive: true })) {
    const path = String(name)
    if (isTest(path)) continue
    const target = join(to, path.replace(/\.ts$/, '.js'))
    if (path.endsWith('.ts')) {
      mkdirSync(dirname(target), { recursive: true })
      const code = stripTypeScriptTypes(readFileSync(join(from, path), 'utf8'))
      writeFileSync(target, withBuiltSpecifiers(code).replace(/[ \t]+$/gm, ''))
    } else if (path.endsWith('.json') || path.endsWith('.proto')) {
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(from, path), target)
    }
  }
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const built = Object.entries(imports as Record<string, string>)
    .filter(([, path]) => path.startsWith('./src/'))
    .map(([name, path]) => [name, path.replace('./src/', './')])
  const gitCommit = checkedOutCommit(new URL('../../', import.meta.url))
  const manifest = { type: 'module', imports: Object.fromEntries(built), gitCommit }
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) build()
