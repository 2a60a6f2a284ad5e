/**
 * A small controller: each ConfigMap with the label `app` gets a Service of its name, and the
 * annotation `example/service` names that Service. `annotatesFirst` has a bug: if it dies between
 * its two writes, the Service is never created.
 */
import type { TestClient } from 'binnacle/testing'

const namespace = 'default'
const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace } }

interface App {
  readonly metadata: {
    readonly name?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export type Reconcile = (client: TestClient, app: App) => Promise<void>

const createService = async (client: TestClient, name: string) => {
  const metadata = { name, namespace }
  const spec = { ports: [{ port: 80 }], selector: { app: name } }
  try {
    await client.create({ apiVersion: 'v1', kind: 'Service', metadata, spec })
  } catch (error) {
    if ((error as { reason?: string }).reason !== 'AlreadyExists') throw error
  }
}

const annotate = (client: TestClient, name: string) =>
  client.patch(
    { ...configMaps, metadata: { name, namespace } },
    { metadata: { annotations: { 'example/service': name } } },
  )

/** Wrong: the annotation says that the Service exists before it does. */
export const annotatesFirst: Reconcile = async (
  client,
  { metadata: { name = '', annotations } },
) => {
  if (annotations?.['example/service'] !== undefined) return
  await annotate(client, name)
  await createService(client, name)
}

/** Right: each step is repeated until the last one is done. */
export const createsFirst: Reconcile = async (client, { metadata: { name = '', annotations } }) => {
  if (annotations?.['example/service'] !== undefined) return
  await createService(client, name)
  await annotate(client, name)
}

/** Starts the controller. It handles one object at a time, and tries again what failed. */
export async function startController(client: TestClient, reconcile: Reconcile) {
  let isStopped = false
  const handle = async (app: App) => {
    if (isStopped || app.metadata.labels?.['app'] === undefined) return
    try {
      await reconcile(client, app)
    } catch {
      if (!isStopped) setTimeout(() => void handle(app), 10)
    }
  }
  let work = Promise.resolve()
  const later = (app: App) => {
    work = work.then(() => handle(app))
  }
  const informer = await client.informer(configMaps, { onAdd: later, onUpdate: later })
  return {
    async stop() {
      isStopped = true
      await informer.close()
    },
  }
}
