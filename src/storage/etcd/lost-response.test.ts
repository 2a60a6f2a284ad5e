import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, Outcome } from '#storage/storage.ts'
import { type FoundOutcome, foundOutcome } from './lost-response.ts'

const own = Buffer.from('own')
const other = Buffer.from('other')
const change = (revision: number, bytes: Buffer | undefined): Change => ({
  key: 'a',
  revision,
  bytes,
})
const stored = (revision: number, bytes: Buffer) => ({ key: 'a', revision, bytes })
const lost = (current?: ReturnType<typeof stored>): Outcome => ({ ok: false, current })

test('the outcome of a write whose response was lost', () => {
  type Row = [
    what: string,
    write: { ifRevision: number; value: Buffer | undefined; isUnique?: boolean },
    history: Change[],
    current: ReturnType<typeof stored> | undefined,
    outcome: FoundOutcome,
  ]
  const create = { ifRevision: 0, value: own, isUnique: true }
  const table = { ifRevision: 0, value: own }
  const update = { ifRevision: 7, value: own }
  const deletion = { ifRevision: 7, value: undefined }
  const rows: Row[] = [
    ['create: done', create, [change(9, own)], stored(9, own), { ok: true, revision: 9 }],
    ['create: not seen, but it may be on its way', create, [], undefined, 'unknown'],
    ['create: another may have made the same', table, [change(9, own)], stored(9, own), 'unknown'],
    [
      'create: done, then deleted by another',
      create,
      [change(9, own), change(10, undefined)],
      undefined,
      { ok: true, revision: 9 },
    ],
    [
      'create: done after another made and deleted it',
      create,
      [change(8, other), change(9, undefined), change(10, own)],
      stored(10, own),
      { ok: true, revision: 10 },
    ],
    [
      'create: another was first and deleted it',
      create,
      [change(8, other), change(9, undefined)],
      undefined,
      'unknown',
    ],
    [
      'create: another was first, and may delete it before the create arrives',
      create,
      [change(8, other)],
      stored(8, other),
      'unknown',
    ],
    ['update: not done', update, [], stored(7, other), 'not done'],
    ['update: the same bytes', update, [change(9, own)], stored(9, own), 'unknown'],
    [
      'update: the same bytes, then changed',
      update,
      [change(9, own), change(10, other)],
      stored(10, other),
      'unknown',
    ],
    [
      'update: bytes that no other write has',
      { ...update, isUnique: true },
      [change(9, own), change(10, other)],
      stored(10, other),
      { ok: true, revision: 9 },
    ],
    ['update: changed before it was sent', update, [], stored(8, other), lost(stored(8, other))],
    [
      'update: another was first, and wrote the same later',
      update,
      [change(9, other), change(10, own)],
      stored(10, own),
      lost(stored(10, own)),
    ],
    ['update: deleted by another', update, [change(9, undefined)], undefined, lost()],
    ['delete: deleted, perhaps by another', deletion, [change(9, undefined)], undefined, 'unknown'],
    [
      'delete: deleted, then made anew',
      deletion,
      [change(9, undefined), change(10, other)],
      stored(10, other),
      'unknown',
    ],
    [
      'delete: changed by another',
      deletion,
      [change(9, other)],
      stored(9, other),
      lost(stored(9, other)),
    ],
  ]
  for (const [what, write, history, current, outcome] of rows)
    assert.deepEqual(foundOutcome(write, history, current), outcome, what)
})
