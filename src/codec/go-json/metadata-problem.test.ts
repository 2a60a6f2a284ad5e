/** Errors of kube-apiserver's decoder, recorded from 1.22. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { metadataProblem } from './metadata-problem.ts'

/** Metadata, and the error for it; undefined if it can be read. */
const rows: readonly (readonly [metadata: Json, stated: string | undefined])[] = [
  [null, undefined],
  [{}, undefined],
  [{ bogus: 1, labels: null, finalizers: [null], name: 'a"b' }, undefined],
  [{ creationTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: null }, undefined],
  [{ managedFields: [{ fieldsV1: 1 }], generation: -3 }, undefined],
  [{ generation: null }, undefined],
  ['x', 'readObjectStart: expect { or n, but found ", error found in #1 byte of ...|"x"|...'],
  [1, 'readObjectStart: expect { or n, but found 1, error found in #1 byte of ...|1|...'],
  [
    { name: 1 },
    'v1.ObjectMeta.Name: ReadString: expects " or n, but found 1, error found in #9 byte of ...|{"name":1}|...',
  ],
  [{ name: 12, uid: 'x' }, 'v1.ObjectMeta.Name: ReadString: expects " or n, but found 1, '],
  [{ name: 1, uid: 'x' }, 'v1.ObjectMeta.UID: Name: ReadString: expects " or n, but found 1, '],
  [{ labels: { a: 1 } }, 'v1.ObjectMeta.Labels: ReadString: expects " or n, but found 1, '],
  [{ labels: [] }, 'v1.ObjectMeta.Labels: ReadMapCB: expect { or n, but found [, '],
  [
    { deletionGracePeriodSeconds: 'x', annotations: { a: [1, 2] } },
    'v1.ObjectMeta.DeletionGracePeriodSeconds: Annotations: ReadString: expects " or n, but found [, ',
  ],
  [
    { name: 1, labels: { a: '<&>' } },
    'v1.ObjectMeta.Name: ReadString: expects " or n, but found 1, error found in #10 byte of ...|},"name":1}|..., bigger context ...|{"labels":{"a":"\\u003c\\u0026\\u003e"},"name":1}|...',
  ],
  [
    { managedFields: [{ apiVersion: 1, fieldsV1: {}, manager: 'm' }], uid: 'u' },
    'v1.ObjectMeta.ManagedFields: []v1.ManagedFieldsEntry: v1.ManagedFieldsEntry.FieldsV1: APIVersion: ReadString: ',
  ],
  [
    { finalizers: 'x' },
    'v1.ObjectMeta.Finalizers: []string: decode slice: expect [ or n, but found ", ',
  ],
  [
    { ownerReferences: [{ kind: 1 }, { name: 'x', uid: 'u' }] },
    'v1.ObjectMeta.OwnerReferences: []v1.OwnerReference: v1.OwnerReference.v1.OwnerReference.Kind: ReadString: ',
  ],
  [
    { ownerReferences: [{ controller: 1 }] },
    'v1.ObjectMeta.OwnerReferences: []v1.OwnerReference: v1.OwnerReference.Controller: ReadBool: expect t or f, but found 1, ',
  ],
  [
    { creationTimestamp: 1 },
    'v1.ObjectMeta.CreationTimestamp: unmarshalerDecoder: json: cannot unmarshal number into Go value of type string, ',
  ],
  [
    { creationTimestamp: '2020-02-30T00:00:00Z' },
    'v1.ObjectMeta.CreationTimestamp: unmarshalerDecoder: parsing time "2020-02-30T00:00:00Z": day out of range, ',
  ],
  [
    { creationTimestamp: '2020-02-20 00:00:00Z' },
    'v1.ObjectMeta.CreationTimestamp: unmarshalerDecoder: parsing time "2020-02-20 00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T", ',
  ],
  [
    { generation: 'x' },
    'v1.ObjectMeta.Generation: readUint64: unexpected character: \ufffd, error found in #10 byte of ...|eration":"x"}|...',
  ],
  [{ generation: 1.5 }, 'v1.ObjectMeta.Generation: assertInteger: can not decode float as int, '],
  [
    { managedFields: [{ fieldsV1: 1, time: 'y' }] },
    'v1.ObjectMeta.ManagedFields: []v1.ManagedFieldsEntry: v1.ManagedFieldsEntry.Time: unmarshalerDecoder: parsing time "y" as ',
  ],
]

for (const [metadata, stated] of rows) {
  test(`metadata ${JSON.stringify(metadata)}`, () => {
    const problem = metadataProblem(metadata)
    if (stated === undefined) assert.equal(problem, undefined)
    else assert.ok(problem?.startsWith(stated), problem)
  })
}
