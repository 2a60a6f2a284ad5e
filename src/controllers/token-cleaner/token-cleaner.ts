/** Bootstrap tokens that have ended are deleted, at the second they end. */
import { timestampMs } from '#api/timestamp.ts'
import type { Controller } from '#controllers/controller.ts'
import { bootstrapSecretType } from '#controllers/kept.ts'
import { queueFor, unlessOvertaken } from '#controllers/queue-for.ts'
import { secrets } from '#controllers/resources.ts'

const namespace = 'kube-system'

export const tokenCleaner: Controller = {
  name: 'tokencleaner',
  account: 'token-cleaner',
  start(parts) {
    const { client, informers, clock } = parts
    const found = informers.secrets()
    const queue = queueFor('tokencleaner', parts, async (name) => {
      const secret = found.get(namespace, name)
      if (secret === undefined || secret.expiration === '') return
      const left = timestampMs(secret.expiration) - clock.now()
      // An invalid time counts as past.
      if (left > 0) return left
      await unlessOvertaken(client.delete(secrets, namespace, name, { uid: secret.uid }))
    })
    found.listen({
      changed: (secret) => {
        if (secret.type === bootstrapSecretType && secret.namespace === namespace)
          queue.add(secret.name)
      },
    })
  },
}
