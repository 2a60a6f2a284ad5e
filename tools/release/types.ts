/**
 * Declarations of the entry points for TypeScript, made from src/. Only the files that an entry
 * point leads to are kept, and `#area/` becomes a relative path. The names of our folders mean
 * nothing outside the package.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const entries = ['server/embedded-server.d.ts', 'testing/start-cluster.d.ts']
/** The path in `from '…'`, `import('…')` or `import '…'`. */
const importedPath = /(\bfrom |\bimport\(|\bimport )(["'])([#.][^"']*)\.ts\2/g

/** Writes the declarations below `to`. */
export function writeTypes(to: string): void {
  const made = mkdtempSync(join(tmpdir(), 'binnacle-types-'))
  try {
    emitDeclarations(made)
    const waiting = [...entries]
    const written = new Set<string>()
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (written.has(file)) continue
      written.add(file)
      const { text, imported } = withRelativePaths(readFileSync(join(made, file), 'utf8'), file)
      waiting.push(...imported.filter((name) => existsSync(join(made, name))))
      mkdirSync(dirname(join(to, file)), { recursive: true })
      writeFileSync(join(to, file), text)
    }
  } finally {
    rmSync(made, { recursive: true })
  }
}

function emitDeclarations(to: string): void {
  const config = join(to, 'tsconfig.json')
  const files = entries.map((name) => join(root, 'src', name.replace(/d\.ts$/, 'ts')))
  const compilerOptions = {
    noEmit: false,
    // A checkout is checked by `npm run types`.
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: join(root, 'src'),
    outDir: to,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const text = JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files,
    include: [],
  })
  writeFileSync(config, text)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', config], { stdio: ['ignore', 2, 2] })
}

/** The text of a declaration file, and the files that it imports. */
function withRelativePaths(text: string, file: string) {
  const imported: string[] = []
  const changed = text.replace(importedPath, (_, before, quote, path) => {
    const target = path.startsWith('#') ? path.slice(1) : join(dirname(file), path)
    imported.push(`${target}.d.ts`)
    // With its ending: the folder `authorize/` has the same path as `authorize.ts` without it.
    const away = relative(dirname(file), `${target}.js`)
    return `${before}${quote}${away.startsWith('.') ? away : `./${away}`}${quote}`
  })
  return { text: changed, imported }
}
