/** Component statuses are computed on request and not stored, so they have no resourceVersion. */
import type { ListOptions } from '#api/list-options.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import { loadLater } from '#base/load-later.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Entry } from '#watchcache/entry.ts'
import { entryMaker } from '#watchcache/entry-maker.ts'
import { type Answer, answerObject } from '#verbs/answer.ts'
import { encode } from '#verbs/commit.ts'
import { select } from '#verbs/selection.ts'
import type { Server, Target } from '#verbs/server.ts'

const probes = loadLater<typeof import('#access/component-probe.ts')>(
  import.meta.url,
  '#access/component-probe',
)

async function statuses(server: Server): Promise<KubeObject[]> {
  const trouble = server.storage.trouble()
  const store = {
    name: 'etcd-0',
    healthy: trouble === undefined,
    message: trouble ?? '{"health":"true","reason":""}',
  }
  return [...(await probes().probeComponents(server.release)), store].map(
    ({ name, healthy, message }) => ({
      metadata: { name, ...unsetCreationTime(server.release) },
      conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', message }],
    }),
  )
}

export async function getComponentStatus(server: Server, { kind, name }: Target): Promise<Answer> {
  const found = (await statuses(server)).find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new ApiError(500, '', `Component not found: ${name}`)
  return answerObject(200, kind, (await encode(server, kind, found)).view)
}

export async function listComponentStatuses(
  server: Server,
  { kind, name }: Target,
  options: ListOptions,
): Promise<Answer> {
  const { matches } = select(kind, options.labelSelector, options.fieldSelector, name || undefined)
  const all = await Promise.all((await statuses(server)).map((one) => entryOf(server, kind, one)))
  const entries = matches === undefined ? all : all.filter(matches)
  return { is: 'list', kind, entries, revision: 0, continueToken: '', remaining: undefined }
}

async function entryOf(server: Server, kind: Kind, status: KubeObject): Promise<Entry> {
  const { key, bytes } = await encode(server, kind, status)
  return entryMaker(kind.resource, server.parseStored).make(key, 0, bytes)
}
