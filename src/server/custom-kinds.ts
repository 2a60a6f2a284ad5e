/**
 * Support for custom kinds. It is loaded with the first definition, so a server without definitions
 * needs no memory for it.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import type { Kind } from '#kinds/kind.ts'
import { Definitions, type DefinitionsParts } from '#verbs/custom-resources/definitions.ts'
import { localClient } from '#verbs/local-client.ts'
import type { Server } from '#verbs/server.ts'
import { afterAdmission } from '#verbs/special/admit.ts'
import type { Foundation } from './foundation.ts'
import { apiserverUser } from './certificates.ts'

const custom = loadLater<typeof import('#kinds/custom.ts')>(import.meta.url, '#kinds/custom')
const customKind = loadLater<typeof import('#kinds/custom/custom-kind.ts')>(
  import.meta.url,
  '#kinds/custom/custom-kind',
)
const webhooks = loadLater<typeof import('#admission/webhook/conversion.ts')>(
  import.meta.url,
  '#admission/webhook/conversion',
)

/**
 * The published schema of a custom kind. Undefined for built-in kinds, whose schema comes from the
 * facts.
 */
export const publishedSchemaOf = (kind: Kind) =>
  kind.origin === 'built-in' ? undefined : customKind().publishedSchema(kind)

/** Keeps the served kinds consistent with the CustomResourceDefinitions. */
export function followDefinitions(
  foundation: Foundation,
  server: Server,
  client: ApiClient,
  published: DefinitionsParts['published'],
): Definitions {
  const { facts, release, feature, reader, report, settings, loopback, random } = foundation
  let options: Parameters<ReturnType<typeof custom>['customResource']>[1] | undefined
  const resourceOf = (definition: KubeObject) => {
    options ??= {
      root: settings.etcdPrefix,
      release,
      feature,
      timed: server.timed,
      objectMeta: facts.typeOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', release),
      convertElsewhere: webhooks().conversionWebhooks(() => reader, random.uuid, loopback),
    }
    return custom().customResource(definition, options)
  }
  const remover = (kind: Kind) =>
    localClient(afterAdmission(server), apiserverUser, 'kube-apiserver', () => kind)
  return new Definitions({ server, client, remover, resourceOf, report, published })
}
