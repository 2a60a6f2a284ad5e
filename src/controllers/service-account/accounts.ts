/** Every namespace that is not going away has a service account named `default`. It is made again where it is deleted. */
import type { Controller } from '#controllers/controller.ts'
import { isConflict, isMissing, isTerminating, queueFor } from '#controllers/queue-for.ts'
import { serviceAccounts } from '#controllers/resources.ts'

const name = 'default'

export const serviceAccountController: Controller = {
  name: 'serviceaccount',
  account: 'service-account-controller',
  start(parts) {
    const { client, informers } = parts
    const accounts = informers.serviceAccounts()
    const namespaces = informers.namespaces()
    const queue = queueFor('serviceaccount', parts, async (namespace) => {
      await accounts.synced
      if (!namespaces.get('', namespace)?.active || accounts.get(namespace, name)) return
      await client
        .create(serviceAccounts, namespace, { metadata: { name, namespace } })
        .catch((error) => {
          if (!isConflict(error) && !isMissing(error) && !isTerminating(error)) throw error
        })
    })
    namespaces.listen({
      changed: (namespace) => {
        if (namespace.active) queue.add(namespace.name)
      },
    })
    accounts.listen({
      deleted: (account) => {
        if (account.name === name) queue.add(account.namespace)
      },
    })
  },
}
