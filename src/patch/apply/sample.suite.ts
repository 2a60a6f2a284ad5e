/**
 * A small kind for the tests of this folder, with each type that apply treats differently, and
 * random objects of it. The same seed makes the same objects.
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import { seededShares } from '#base/seeded.ts'
import type { Field, List, Scalar, ScalarName, Struct, Type } from '#schema/type.ts'
import type { FieldManagerKind } from './field-manager.ts'

export const scalar = (name: ScalarName): Scalar => ({ is: 'scalar', scalar: name })
export const text = scalar('string')
export const number = scalar('int32')
export const dict = (values: Type, atomic = false): Type => ({ is: 'map', values, atomic })
export const atomicList = (items: Type): List => ({
  is: 'list',
  items,
  listType: 'atomic',
  mapKeys: [],
})
export const setOf = (items: Type): List => ({
  is: 'list',
  items,
  listType: 'set',
  mapKeys: [],
  patchStrategy: 'merge',
})
export const listBy = (keys: string[], items: Type): List => ({
  is: 'list',
  items,
  listType: 'map',
  mapKeys: keys,
  patchStrategy: 'merge',
  patchMergeKey: keys[0] as string,
})

type Flag = 'omit' | 'pointer' | 'plain'

/** `omit`: omitted if empty. `pointer`: the same, but zero is written. `plain`: always written. */
export function field(
  name: string,
  type: Type,
  flag: Flag = 'omit',
  more: Partial<Field> = {},
): Field {
  return {
    name,
    type,
    inline: false,
    number: 0,
    omitEmpty: flag !== 'plain',
    pointer: flag === 'pointer',
    required: flag === 'plain',
    ...more,
  }
}

export function struct(name: string, fields: Field[], more: Partial<Struct> = {}): Struct {
  const byName = new Map(fields.map((one) => [one.name, one]))
  return { is: 'struct', name, fields, byName, atomic: false, open: false, ...more }
}

const port = struct('Port', [
  field('name', text),
  field('containerPort', number, 'plain'),
  field('protocol', text, 'omit', { default: 'TCP' }),
])
const container = struct('Container', [
  field('name', text, 'plain'),
  field('image', text),
  field('command', atomicList(text)),
  field(
    'env',
    listBy(['name'], struct('EnvVar', [field('name', text, 'plain'), field('value', text)])),
  ),
  field('ports', listBy(['containerPort', 'protocol'], port)),
  field('resources', struct('Resources', [field('limits', dict(scalar('quantity')))])),
])
const metadata = struct('ObjectMeta', [
  field('name', text),
  field('labels', dict(text)),
  field('annotations', dict(text)),
  field('finalizers', setOf(text)),
  field('creationTimestamp', scalar('time')),
  field('uid', text),
  field('resourceVersion', text),
  field('managedFields', atomicList(scalar('any'))),
])
const spec = struct('ThingSpec', [
  field('replicas', number, 'pointer'),
  field('paused', scalar('bool')),
  field(
    'selector',
    struct('Selector', [field('matchLabels', dict(text))], { atomic: true }),
    'pointer',
  ),
  field('containers', listBy(['name'], container), 'plain'),
  field('extras', listBy(['name'], container)),
  field('args', atomicList(text)),
  field('nodeSelector', dict(text, true)),
  field('raw', scalar('any'), 'pointer'),
  field(
    'security',
    struct('Security', [field('user', number, 'pointer'), field('level', text)]),
    'pointer',
  ),
])
const condition = struct('Condition', [
  field('type', text, 'plain'),
  field('status', text, 'plain'),
])
const status = struct('ThingStatus', [
  field('phase', text),
  field('observed', number, 'plain'),
  field('conditions', listBy(['type'], condition)),
])
export const thing = struct('Thing', [
  field('apiVersion', text),
  field('kind', text),
  field('metadata', metadata),
  field('spec', spec),
  field('status', status),
])

export const thingKind: FieldManagerKind = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  typeFor: (apiVersion) => (apiVersion === 'example.com/v1' ? thing : undefined),
  convert: () => undefined,
  resetFields: () => undefined,
}

export const thingOf = (members: Record<string, unknown>): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  ...members,
})

export interface Chance {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  pick<T>(choices: readonly T[]): T
}

export function chance(seed: number): Chance {
  const next = seededShares(seed)
  return { next, pick: (choices) => choices[Math.floor(next() * choices.length)] as never }
}

const scalarChoices: Partial<Record<ScalarName, readonly Json[]>> = {
  string: ['a', 'b', 'c'],
  bool: [true],
  int32: [1, 2, 3],
  quantity: ['1', '500m'],
  time: ['2021-01-01T00:00:00Z'],
  any: [{ a: 1 }, { b: { c: 2 } }],
}

/** A value in stored form: without empty fields that Go omits, and with unique keys in lists. */
export function randomValue(type: Type, luck: Chance): Json {
  switch (type.is) {
    case 'scalar':
      return luck.pick(scalarChoices[type.scalar] ?? ['x'])
    case 'map':
      return Object.fromEntries(
        ['k1', 'k2', 'k3']
          .filter((_, i) => i === 0 || luck.next() < 0.4)
          .map((key) => [key, randomValue(type.values, luck)]),
      )
    case 'list': {
      const items = Array.from({ length: 1 + Math.floor(luck.next() * 3) }, () =>
        randomValue(type.items, luck),
      )
      const keys = type.listType === 'set' ? undefined : type.mapKeys
      const seen = new Set<string>()
      return items.filter((item) => {
        const key = JSON.stringify(
          keys === undefined ? item : keys.map((name) => (item as Record<string, Json>)[name]),
        )
        return type.listType === 'atomic' || (!seen.has(key) && seen.add(key))
      })
    }
    case 'struct': {
      const out: Record<string, Json> = {}
      for (const [name, { type: inner, omitEmpty, default: fallback }] of type.byName) {
        const needed = !omitEmpty || fallback !== undefined
        if (needed || luck.next() < 0.5) out[name] = fallback ?? randomValue(inner, luck)
      }
      return out
    }
    case 'untyped':
      return luck.pick<Json>([1, 'a', { b: 1 }, [1, 2]])
  }
}

export function randomThing(luck: Chance): KubeObject {
  const object = thingOf({})
  if (luck.next() < 0.6)
    object.metadata.labels = randomValue(dict(text), luck) as Record<string, string>
  if (luck.next() < 0.3) object.metadata.finalizers = luck.pick([['x.y/z'], ['x.y/z', 'p.q/r']])
  object.spec = randomValue(spec, luck)
  object.status = randomValue(status, luck)
  return object
}
