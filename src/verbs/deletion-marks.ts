/**
 * Sets the marks of a deletion on an object that is not removed yet: deletion time, grace period,
 * and the finalizers of the garbage collector. It modifies its argument and stores nothing.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { defaultPropagation } from '#kinds/deletion.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import type { DeleteOptions } from './delete-options.ts'

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/**
 * 'none': no grace period. 'pending': the object is already being deleted. 'marked': the object now
 * has a deletion time.
 */
export function markGrace(
  kind: Kind,
  object: KubeObject,
  options: DeleteOptions,
  context: Context,
): 'none' | 'pending' | 'marked' {
  const { metadata } = object
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : negativeAsOne(options.gracePeriodSeconds)
  const rule = kind.resource.behaviour.gracePeriodSeconds
  if (rule === undefined) return 'none'
  if (metadata.deletionTimestamp !== undefined) {
    const left = metadata.deletionGracePeriodSeconds ?? 0
    if (left === 0) return 'none'
    if (requested === undefined || requested >= left) return 'pending'
    metadata.deletionTimestamp = plusSeconds(
      plusSeconds(metadata.deletionTimestamp, -left),
      requested,
    )
    metadata.deletionGracePeriodSeconds = requested
    return 'marked'
  }
  const seconds = rule(object, requested, context)
  if (seconds === undefined) return 'none'
  metadata.deletionTimestamp = plusSeconds(context.now, seconds)
  metadata.deletionGracePeriodSeconds = seconds
  if ((metadata.generation ?? 0) > 0) raiseGeneration(metadata)
  return 'marked'
}

const negativeAsOne = (seconds: number | bigint) => (seconds < 0 ? 1 : seconds)

/**
 * The grace period is an int64. As in kube-apiserver, its nanoseconds are an int64 too, so a long
 * grace period overflows.
 */
function plusSeconds(time: string, seconds: number | bigint): string {
  const nanoseconds = BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)
  const at = Date.parse(time) + Number(nanoseconds / 1_000_000n)
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

/**
 * Sets the finalizers with which the garbage collector orphans dependents, or deletes them first.
 * Returns whether they changed.
 */
export function setGarbageFinalizers(
  kind: Kind,
  object: KubeObject,
  options: DeleteOptions,
): boolean {
  const before = object.metadata.finalizers ?? []
  const policy = propagationOf(kind, before, options)
  const after = before.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer)
  if (policy === 'Orphan') after.push(orphanFinalizer)
  if (policy === 'Foreground') after.push(foregroundFinalizer)
  const known = new Set(before)
  const changed = before.length !== after.length || after.some((name) => !known.has(name))
  if (!changed) return false
  if (after.length === 0) delete object.metadata.finalizers
  else object.metadata.finalizers = after
  return true
}

function propagationOf(kind: Kind, finalizers: string[], options: DeleteOptions) {
  const fallback = defaultPropagation(kind)
  if (fallback === 'Unsupported') return 'Background'
  if (options.orphanDependents !== undefined)
    return options.orphanDependents ? 'Orphan' : 'Background'
  if (options.propagationPolicy !== undefined) return options.propagationPolicy
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  if (finalizers.includes(foregroundFinalizer)) return 'Foreground'
  return fallback
}

/** Some kinds leave the generation to their clients, so it may be any 64-bit number. */
function raiseGeneration(metadata: { generation?: number | bigint }): void {
  const { generation = 0 } = metadata
  metadata.generation = typeof generation === 'bigint' ? generation + 1n : generation + 1
}

export function markDeleting(object: KubeObject, now: string): void {
  const { metadata } = object
  if (metadata.deletionTimestamp === undefined && (metadata.generation ?? 0) > 0) {
    raiseGeneration(metadata)
  }
  if (metadata.deletionTimestamp === undefined || metadata.deletionTimestamp > now) {
    metadata.deletionTimestamp = now
  }
  metadata.deletionGracePeriodSeconds = 0
}
