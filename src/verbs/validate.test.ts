import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, invalid, problemsMax } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind, NamespaceRule } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { refuseInvalidNew, refuseInvalidUpdate } from './validate.ts'

test('an object may have more errors than a call has arguments', () => {
  const error = invalid('spec', 1, 'must be 2')
  const errors = Array.from({ length: 200_000 }, () => error)
  const behaviour = { validateCreate: () => errors, validateUpdate: () => errors }
  const resource = { errorGroup: '', hub: { kind: 'Thing' }, behaviour }
  const kind = { namespaced: false, resource } as unknown as Kind
  const object = { kind: 'Thing', metadata: { name: 'a', uid: 'u' } } as KubeObject
  const context = { release: 22 } as Context
  const wants = { code: 422, message: /^Thing "a" is invalid: / }
  assert.throws(() => refuseInvalidNew(kind, object, context), wants)
  assert.throws(() => refuseInvalidUpdate(kind, '', object, object, context), wants)
})

test('the number of reported errors is limited', () => {
  let made = 0
  const wrong = () => {
    made++
    return invalid('spec.items', made, 'must be 0')
  }
  const errors = () => {
    const all: FieldError[] = []
    all.push(...Array.from({ length: 200_000 }, wrong))
    return all
  }
  const behaviour = { validateCreate: errors, validateUpdate: errors }
  const resource = { errorGroup: '', hub: { kind: 'Thing' }, behaviour }
  const kind = { namespaced: false, resource } as unknown as Kind
  const object = { kind: 'Thing', metadata: { name: 'a', uid: 'u' } } as KubeObject
  const context = { release: 22 } as Context
  const wants = { code: 422, message: /^Thing "a" is invalid: \[spec\.items: Invalid value: 1: / }
  assert.throws(() => refuseInvalidNew(kind, object, context), wants)
  assert.equal(made, problemsMax)
  assert.throws(() => refuseInvalidUpdate(kind, '', object, object, context), { code: 422 })
  // Errors that are made outside a check are not counted.
  assert.equal(Array.from({ length: problemsMax + 1 }, wrong).length, problemsMax + 1)
})

test('a rule about the namespace is first, and reads it only if it applies', async () => {
  const reads: string[] = []
  const labels: Record<string, string> = {}
  const reader = {
    get(group: string, plural: string, namespace: string, name: string) {
      reads.push([group, plural, namespace, name].join('/'))
      return Promise.resolve({ metadata: { name, labels } })
    },
  } as unknown as ObjectReader
  const namespaceRule: NamespaceRule = ({ spec }) =>
    spec?.asks
      ? (found) => (found?.metadata.labels?.may ? [] : [invalid('spec.asks', 1, 'no')])
      : undefined
  const subresources = { status: { namespaceRule } }
  const validateCreate = () => [invalid('spec.other', 1, 'no')]
  const behaviour = { namespaceRule, validateCreate, subresources }
  const resource = { errorGroup: '', hub: { kind: 'Thing' }, behaviour }
  const kind = { namespaced: true, resource } as unknown as Kind
  const context = { release: 37 } as Context
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' }
  const plain = { metadata } as KubeObject
  const object = { ...plain, spec: { asks: true } }
  const message = (words: string) => ({ code: 422, message: `Thing "a" is invalid: ${words}` })
  assert.throws(
    () => refuseInvalidNew(kind, plain, context, reader),
    message('spec.other: Invalid value: 1: no'),
  )
  assert.deepEqual(reads, [])
  await assert.rejects(
    async () => refuseInvalidNew(kind, object, context, reader),
    message('[spec.asks: Invalid value: 1: no, spec.other: Invalid value: 1: no]'),
  )
  assert.deepEqual(reads, ['/namespaces//n'])
  const write = (subresource: string) => async () =>
    refuseInvalidUpdate(kind, subresource, object, object, context, [], reader)
  await assert.rejects(write('status'), /spec\.asks/)
  await assert.doesNotReject(write(''), 'only a new object is compared')
  labels.may = 'yes'
  await assert.doesNotReject(write('status'))
})
