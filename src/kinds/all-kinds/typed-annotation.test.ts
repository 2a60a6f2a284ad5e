import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAvoidedPods, readTaints, readTolerations } from './typed-annotation.ts'

const into = 'json: cannot unmarshal'

const rows: [what: string, found: unknown, expected: unknown][] = [
  ['null is an empty list', readTolerations('null'), { items: [] }],
  ['a null item is an empty object', readTolerations('[null]'), { items: [{}] }],
  [
    'members are found in any case, and null ones are not there',
    readTolerations('[{"KEY":"a","operator":"Exists","value":null,"x":1}]'),
    { items: [{ key: 'a', operator: 'Exists' }] },
  ],
  ['half a text', readTolerations('{'), { problem: 'unexpected end of JSON input' }],
  [
    'no list',
    readTolerations('5'),
    { problem: `${into} number into Go value of type []core.Toleration` },
  ],
  [
    'no toleration',
    readTolerations('[{},"a"]'),
    { problem: `${into} string into Go value of type core.Toleration` },
  ],
  [
    'a key that is not a string',
    readTolerations('[{"key":5}]'),
    { problem: `${into} number into Go struct field Toleration.Key of type string` },
  ],
  [
    'an operator that is not a string',
    readTolerations('[{"operator":5}]'),
    {
      problem: `${into} number into Go struct field Toleration.Operator of type core.TolerationOperator`,
    },
  ],
  [
    'half a second',
    readTolerations('[{"tolerationSeconds":1.5}]'),
    {
      problem: `${into} number 1.5 into Go struct field Toleration.TolerationSeconds of type int64`,
    },
  ],
  [
    'an invalid time',
    readTaints('[{"timeAdded":"x"}]'),
    { problem: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"' },
  ],
  [
    'pods that are not a list',
    readAvoidedPods('{"preferAvoidPods":{}}'),
    {
      problem: `${into} object into Go struct field AvoidPods.preferAvoidPods of type []v1.PreferAvoidPodsEntry`,
    },
  ],
  [
    'a controller that is neither true nor false',
    readAvoidedPods('{"preferAvoidPods":[{"podSignature":{"podController":{"controller":5}}}]}'),
    {
      problem: `${into} number into Go struct field OwnerReference.preferAvoidPods.podSignature.podController.controller of type bool`,
    },
  ],
]
for (const [what, found, expected] of rows) test(what, () => assert.deepEqual(found, expected))
