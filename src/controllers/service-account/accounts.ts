/**
 * Creates the service account `default` in every active namespace, and recreates it if it is
 * deleted.
 */
import type { Controller } from '#controllers/controller.ts'
import { queueFor, ignoreIfExistsOrTerminating } from '#controllers/queue-for.ts'
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
      const account = { metadata: { name, namespace } }
      await ignoreIfExistsOrTerminating(client.create(serviceAccounts, namespace, account))
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
