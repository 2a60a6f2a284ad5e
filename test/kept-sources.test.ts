/** Sources that were kept without their types are those of the files, whatever happened to either since. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const { KeptSources } = await import(new URL('../bin/kept-sources.js', import.meta.url).href)

const place = mkdtempSync(join(tmpdir(), 'binnacle-kept-sources-'))
after(() => rmSync(place, { recursive: true }))

/** Two files, seen by one process and kept; what it stripped is noted. */
function scene(name: string) {
  const root = join(place, name, 'src/')
  const kept = join(place, name, 'kept', 'sources')
  mkdirSync(root, { recursive: true })
  const write = (path: string, text: string) => writeFileSync(root + path, text)
  write('a.ts', 'a – ∆')
  write('b.ts', 'b')
  const stripped: string[] = []
  const process = () =>
    new KeptSources(kept, root, (text: string) => {
      stripped.push(text)
      return `${text} stripped`
    })
  const first = process()
  const texts = ['a.ts', 'b.ts'].map((path) => first.source(path))
  assert.deepEqual(texts, ['a – ∆ stripped', 'b stripped'])
  first.save()
  stripped.length = 0
  return { root, kept, write, process, stripped }
}

test('what was kept is not made again, by another process or the same', () => {
  const { process, stripped } = scene('same')
  const next = process()
  for (const from of [next, next, process()]) {
    assert.equal(from.source('a.ts'), 'a – ∆ stripped')
    assert.equal(from.source('b.ts'), 'b stripped')
  }
  assert.deepEqual(stripped, [])
})

test('a file that changed is taken as it is now, and kept so; one that is gone is forgotten', () => {
  const { root, kept, write, process, stripped } = scene('changed')
  write('a.ts', 'longer than before')
  rmSync(`${root}b.ts`)
  const next = process()
  assert.equal(next.source('a.ts'), 'longer than before stripped')
  assert.throws(() => next.source('b.ts'), { code: 'ENOENT' })
  next.save()
  assert.equal(process().source('a.ts'), 'longer than before stripped')
  assert.deepEqual(stripped, ['longer than before'])
  assert.ok(!readFileSync(kept, 'utf8').includes('b.ts'))
})

test('a file of the same size counts by its time', () => {
  const { root, write, process } = scene('time')
  write('b.ts', 'c')
  utimesSync(`${root}b.ts`, 1, 1)
  assert.equal(process().source('b.ts'), 'c stripped')
})

const damages: [name: string, damage: (whole: Buffer) => Buffer][] = [
  ['nothing', () => Buffer.alloc(0)],
  ['two bytes', (whole) => whole.subarray(0, 2)],
  ['half', (whole) => whole.subarray(0, whole.length / 2)],
  ['all but the last byte', (whole) => whole.subarray(0, -1)],
  ['something else', (whole) => Buffer.alloc(whole.length, 0xff)],
  [
    'an index of something else',
    (whole) => Buffer.concat([whole.subarray(0, 4), Buffer.from('[1]')]),
  ],
]
for (const [name, damage] of damages)
  test(`a file of which there is ${name} holds nothing, and is written anew`, () => {
    const { kept, process, stripped } = scene(name)
    writeFileSync(kept, damage(readFileSync(kept)))
    const next = process()
    assert.equal(next.source('a.ts'), 'a – ∆ stripped')
    next.save()
    assert.equal(process().source('a.ts'), 'a – ∆ stripped')
    assert.equal(stripped.length, 1)
  })

test('where nothing can be written nothing is kept, and nothing is left behind', () => {
  const { kept, process } = scene('unwritable')
  rmSync(kept)
  mkdirSync(kept)
  const next = process()
  assert.equal(next.source('a.ts'), 'a – ∆ stripped')
  next.save()
  assert.equal(next.source('a.ts'), 'a – ∆ stripped')
  assert.deepEqual(readdirSync(join(kept, '..')), ['sources'])
})

test('where there can be no such file nothing is kept', () => {
  const { root } = scene('impossible')
  const impossible = join(root, 'a.ts', 'sources')
  const next = new KeptSources(impossible, root, (text: string) => text)
  assert.equal(next.source('b.ts'), 'b')
  next.save()
  assert.equal(next.source('b.ts'), 'b')
})
