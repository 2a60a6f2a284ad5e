/**
 * The published package: what `npm pack` would put into it, and that it runs below node_modules, where Node strips no
 * types. Dependencies are those of the checkout, linked; nothing is downloaded.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { build, withBuiltSpecifiers } from '../tools/release/build.ts'

const root = resolve(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'binnacle-package-'))
after(() => rmSync(place, { recursive: true }))
const modules = join(place, 'node_modules')
const installed = join(modules, 'binnacle')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

before(() => {
  mkdirSync(installed, { recursive: true })
  build(join(installed, 'dist'))
  for (const name of ['package.json', ...manifest.files.filter((name: string) => name !== 'dist')])
    if (existsSync(join(root, name)))
      cpSync(join(root, name), join(installed, name), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name))
})

const specifiers: [source: string, built: string][] = [
  ["import { a } from './a.ts'", "import { a } from './a.js'"],
  ["export { a } from '#base/a.ts'", "export { a } from '#base/a.js'"],
  ["await import('./x/b.ts')", "await import('./x/b.js')"],
  [
    "new Worker(new URL('./w.ts', import.meta.url))",
    "new Worker(new URL('./w.js', import.meta.url))",
  ],
  ["const name = 'a.ts'", "const name = 'a.ts'"],
]
for (const [source, built] of specifiers)
  test(`built: ${source}`, () => assert.equal(withBuiltSpecifiers(source), built))

test('the package has what it needs and no tests', () => {
  const files = readdirSync(join(installed, 'dist'), { recursive: true }).map(String)
  assert.ok(files.includes('cli/flags.js'))
  assert.deepEqual(
    files.filter((name) => /\.(test|suite|bench|child|fixture)\.|\.ts$/.test(name)),
    [],
  )
  for (const name of ['bin', 'dist', 'facts', 'LICENSE'])
    assert.ok(manifest.files.includes(name), name)
})

test('a built file is imported by its # name', () => {
  const one = `import('#cli/flags.js').then((m) => console.log(m.parseFlags([]).settings.securePort))`
  const run = execFileSync(process.execPath, ['--input-type=module', '-e', one], {
    cwd: join(installed, 'dist'),
  })
  assert.equal(run.toString().trim(), '6443')
})

test('the command of the package answers', { skip: !existsSync(join(root, 'src/main.ts')) }, () => {
  const run = (arg: string) =>
    execFileSync(process.execPath, [join(installed, 'bin/binnacle.js'), arg], {
      cwd: place,
    }).toString()
  assert.match(run('--version'), new RegExp(manifest.version.replaceAll('.', '\\.')))
  assert.match(run('--help'), /--secure-port=6443/)
})
