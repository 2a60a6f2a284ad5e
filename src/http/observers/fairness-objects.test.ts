import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { ensureFairnessObjects } from './fairness-objects.ts'

const ref = (plural: string): ResourceRef => ({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  plural,
})
const annotation = 'apf.kubernetes.io/autoupdate-spec'

/** The calls of the server, which finds two schemas: its own and one that no release has. */
async function callsOf(release: number, annotations: Record<string, string>): Promise<string[]> {
  const calls: string[] = []
  const note = (verb: string, { metadata }: KubeObject) =>
    calls.push(`${verb} ${metadata.name} ${metadata.annotations?.[annotation]}`)
  const live = ['exempt', 'former'].map((name) => ({
    metadata: { name, generation: 1, annotations },
    spec: {},
  }))
  const client = {
    list: async ({ plural }: ResourceRef) => ({ items: plural === 'flowschemas' ? live : [] }),
    create: async (_ref: ResourceRef, _namespace: string, object: KubeObject) =>
      note('create', object),
    update: async (_ref: ResourceRef, object: KubeObject) => note('update', object),
    delete: async (_ref: ResourceRef, _namespace: string, name: string) =>
      calls.push(`delete ${name}`),
  } as unknown as ApiClient
  const levels = ref('prioritylevelconfigurations')
  await ensureFairnessObjects(client, { release, levels, schemas: ref('flowschemas') })
  return calls.filter((call) => /exempt|former|catch-all/.test(call)).toSorted()
}

checkBoundaries<Record<string, string>, string[]>(callsOf, [
  [
    'the annotation of specs',
    [21, 22],
    { [annotation]: 'true' },
    ['create catch-all undefined', 'create catch-all undefined', 'create exempt undefined'],
    [
      'create catch-all true',
      'create catch-all true',
      'create exempt true',
      'delete former',
      'update exempt true',
    ],
  ],
])
