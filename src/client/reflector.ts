/**
 * Watches one resource until the signal aborts. It waits for the first object where the client can,
 * lists the resource in pages, then watches from that revision. It resumes a watch that ended,
 * lists again after 410 (Gone), and retries while the server is unavailable. The reflector keeps no
 * objects; the sink decides what to keep.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError, qualified } from '#api/status-error.ts'
import { pause, waitAfter } from './backoff.ts'
import type { ApiClient, ResourceRef } from './client.ts'

export interface Sink {
  /** A list starts. Objects that are not listed before `end` no longer exist. */
  begin(): void
  listed(object: KubeObject): void
  end(): void
  /** `isNew` is true for ADDED events: the object was created, or it matches the selector now. */
  changed(object: KubeObject, isNew: boolean): void
  /** Only name, namespace and uid of the deleted object are certain. */
  deleted(object: KubeObject): void
}

export interface ReflectorOptions {
  readonly client: ApiClient
  readonly resource: ResourceRef
  readonly sink: Sink
  readonly signal: AbortSignal
  /** Receives errors that are retried. */
  readonly report: (message: string, error: unknown) => void
}

/** Objects per page, which limits the memory of a list. */
const pageSize = 500
/** The reflector resumes a watch at once. It uses this backoff if watches end repeatedly. */
const backoff = { firstMs: 50, longestMs: 30_000 }
/** A watch that lasts at least this long resets the backoff, even without events. */
const lastingMs = 1000

/** Resolves when the signal aborts. */
export async function reflect({
  client,
  resource,
  sink,
  signal,
  report,
}: ReflectorOptions): Promise<void> {
  let version: string | undefined
  let failures = 0
  while (!signal.aborted) {
    let watchedFrom = Number.POSITIVE_INFINITY
    try {
      if (version === undefined) {
        await client.untilStored?.(resource, signal, () => {
          sink.begin()
          sink.end()
        })
        if (signal.aborted) return
      }
      version ??= await list(client, resource, sink, signal)
      if (version === undefined) return
      watchedFrom = performance.now()
      for await (const { type, object } of client.watch(resource, '', version, signal)) {
        if (signal.aborted) return
        failures = 0
        version = object.metadata.resourceVersion as string
        if (type === 'DELETED') sink.deleted(object)
        else sink.changed(object, type === 'ADDED')
      }
    } catch (error) {
      if (signal.aborted) return
      const past = error instanceof ApiError && error.code === 410
      if (past) version = undefined
      else if (!isNotServed(error)) report(`following ${nameOf(resource)} failed`, error)
    }
    if (performance.now() - watchedFrom > lastingMs) failures = 0
    failures++
    await pause(waitAfter(failures, backoff), signal)
  }
}

/** The kind was removed; discovery reports that to the followers of the kind. */
const isNotServed = (error: unknown) => error instanceof ApiError && error.code === 404

export const nameOf = ({ group, plural }: ResourceRef) => qualified(plural, group)

/** The resourceVersion of the list; undefined if the signal aborted first. */
async function list(
  client: ApiClient,
  resource: ResourceRef,
  sink: Sink,
  signal: AbortSignal,
): Promise<string | undefined> {
  sink.begin()
  let continueToken = ''
  for (;;) {
    const page = await client.list(resource, '', { limit: pageSize, continueToken })
    if (signal.aborted) return undefined
    for (const object of page.items) sink.listed(object)
    continueToken = page.continueToken
    if (continueToken === '') {
      sink.end()
      return page.resourceVersion
    }
  }
}
