import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type FieldError, invalid, messageWithJson, required } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { loadFacts } from '#kinds/facts.ts'
import type { Struct } from '#schema/type.ts'
import { errorsOccurOnce, withoutRepetitions } from './once-each.ts'
import { declaredRules } from './validate-declared.ts'

const facts = loadFacts((name) =>
  readFileSync(new URL(`../../../facts/${name}`, import.meta.url), 'utf8'),
)
const on = (gate: string) => gate === 'DeclarativeValidationBeta'

function rulesOf(group: string, version: string, kind: string, release = 37) {
  const file = facts.fileOf(group, version) as string
  const type = facts.typeOf(facts.openApiNameOf(group, version, kind) as string, release) as Struct
  return declaredRules((of) => facts.rulesOf(of, release), file, type, kind, release)
}

const linesOf = (errors: FieldError[]): string[] =>
  errors.map((error) => `${error.field}: ${messageWithJson(error)}`)

const object = (fields: Loose) => ({ metadata: { name: 'a' }, ...fields }) as KubeObject

type Case = [
  title: string,
  kind: string,
  next: Loose,
  lines: string[],
  old?: Loose,
  handwritten?: FieldError[],
]

const request = (name: string) => ({ name, exactly: { deviceClassName: 'c' } })
const claim = (requests: Loose[]) => ({ spec: { devices: { requests } } })
const device = (attributes: Loose) => ({ spec: { devices: [{ name: 'd', attributes }] } })

const cases: Case[] = [
  ['nothing is wrong', 'ResourceClaim', claim([request('a')]), []],
  [
    'an item that repeats another is shown whole',
    'ResourceClaim',
    claim([request('a'), request('a')]),
    ['spec.devices.requests[1]: Duplicate value: {"name":"a","exactly":{"deviceClassName":"c"}}'],
  ],
  [
    'a limit ends the checks of the list',
    'ResourceClaim',
    claim(Array.from({ length: 33 }, () => request('a'))),
    ['spec.devices.requests: Too many: 33: must have at most 32 items'],
  ],
  [
    'an unset member of a union',
    'ResourceSlice',
    device({ x: {} }),
    [
      'spec.devices[0].attributes[x]: Invalid value: "": must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`',
    ],
  ],
  [
    'two members of a union',
    'ResourceSlice',
    device({ x: { int: 0, string: '' } }),
    [
      'spec.devices[0].attributes[x]: Invalid value: "{int, string}": must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`',
    ],
  ],
  [
    'an immutable field that changed',
    'ResourceClaim',
    claim([request('b')]),
    ['spec: Invalid value: null: field is immutable'],
    claim([request('a')]),
  ],
  [
    'what was wrong before and has not changed is accepted',
    'ResourceSlice',
    device({ x: {} }),
    [],
    device({ x: {} }),
  ],
  [
    'a value of an enum',
    'DeviceTaintRule',
    { spec: { taint: { key: 'k', effect: 'Odd' } } },
    [
      'spec.taint.effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"',
    ],
  ],
  [
    'a field of a gate that is off',
    'ResourceSlice',
    { spec: { partitionTypeAttribute: 'example.com/x' } },
    ['spec.partitionTypeAttribute: Forbidden'],
  ],
  [
    'a beta rule replaces the hand-written error for the same fault',
    'DeviceTaintRule',
    { spec: { taint: { key: 'k' } } },
    ['spec.taint.value: Invalid value: "x": y', 'spec.taint.effect: Required value'],
    undefined,
    [required('spec.taint.effect', 'other words'), invalid('spec.taint.value', 'x', 'y')],
  ],
  [
    'the name of an object is a long name',
    'DeviceClass',
    { metadata: { name: 'A' } },
    [
      "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
]

for (const [title, kind, next, lines, old, handwritten = []] of cases) {
  test(title, () => {
    const validate = rulesOf('resource.k8s.io', 'v1', kind)
    assert.ok(validate)
    const write = { next: object(next), subresource: '', feature: on }
    const errors = validate(old ? { ...write, old: object(old) } : write, handwritten)
    assert.deepEqual(linesOf(errors), lines)
  })
}

test('a discriminator decides which members are needed', () => {
  const validate = rulesOf('flowcontrol.apiserver.k8s.io', 'v1', 'PriorityLevelConfiguration')
  const write = { next: object({ spec: { type: 'Limited', exempt: {} } }), subresource: '' }
  assert.deepEqual(linesOf(validate?.({ ...write, feature: on }, []) ?? []), [
    'spec.exempt: Forbidden',
    'spec.limited: Required value',
  ])
})

test('without the gate for beta rules, hand-written errors stay', () => {
  const validate = rulesOf('resource.k8s.io', 'v1', 'DeviceTaintRule')
  const write = { next: object({ spec: { taint: {} } }), subresource: '', feature: () => false }
  assert.deepEqual(linesOf(validate?.(write, [required('spec.taint.effect')]) ?? []), [
    'spec.taint.effect: Required value',
  ])
})

test('a subresource without rules runs none', () => {
  const validate = rulesOf('resource.k8s.io', 'v1', 'DeviceClass')
  const next = object({ metadata: { name: 'A' } })
  assert.deepEqual(validate?.({ next, subresource: 'status', feature: on }, []), [])
})

test('releases before 1.37 run no rules', () => {
  assert.equal(rulesOf('resource.k8s.io', 'v1', 'DeviceClass', 36), undefined)
})

test('an error that occurs twice is reported once from 1.37 on', () => {
  const error = required('spec.a')
  assert.equal(withoutRepetitions([error, required('spec.b'), { ...error }]).length, 2)
  assert.deepEqual(
    [36, 37].map((minor) => releaseOf(minor).has(errorsOccurOnce)),
    [false, true],
  )
})

test('the rules of every kind compile', () => {
  for (const { group, version } of facts.knownGroupVersionsOf(37)) {
    for (const kind of facts.kindsOf(group, version, 37).keys()) {
      const next = object({ spec: {}, status: {} })
      rulesOf(group, version, kind)?.({ next, subresource: '', feature: on }, [])
    }
  }
})
