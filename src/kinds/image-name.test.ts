import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageTag } from './image-name.ts'

const digest = `sha256:${'a'.repeat(64)}`
const cases: [string, string][] = [
  ['nginx', 'latest'],
  ['nginx:1.2', '1.2'],
  ['nginx:latest', 'latest'],
  ['library/nginx', 'latest'],
  ['gcr.io/a/b', 'latest'],
  ['gcr.io/a/b:v1', 'v1'],
  ['localhost:5000/a', 'latest'],
  ['localhost:5000/a:x', 'x'],
  [`nginx@${digest}`, ''],
  [`nginx:1@${digest}`, '1'],
  ['Nginx', ''],
  ['UPPER_case', ''],
  ['', ''],
  ['a b', ''],
  ['a'.repeat(64), ''],
  ['a/b/c-d__e.f', 'latest'],
  ['-a', ''],
  ['a:', ''],
  [`x${'y'.repeat(250)}`, ''],
]
for (const [image, tag] of cases) {
  test(`${image.slice(0, 40)} has tag ${JSON.stringify(tag)}`, () =>
    assert.equal(imageTag(image), tag))
}
