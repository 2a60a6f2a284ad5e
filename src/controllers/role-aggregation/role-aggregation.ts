/**
 * Maintains aggregated cluster roles: their rules are those of all roles that their selectors
 * match, without duplicates.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import type { Controller } from '#controllers/controller.ts'
import type { KeptRole } from '#controllers/kept.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { clusterRoles } from '#controllers/resources.ts'

const account = 'clusterrole-aggregation-controller'
const appliesRules = change('rules of aggregated cluster roles are applied, not updated', {
  since: 21,
})

export const roleAggregation: Controller = {
  name: 'clusterrole-aggregation',
  account,
  start(parts) {
    const { client, informers } = parts
    const applies = releaseOf(parts.release).has(appliesRules) && parts.feature('ServerSideApply')
    const roles = informers.clusterRoles()
    const queue = queueFor('clusterrole-aggregation', parts, async (name) => {
      await roles.synced
      const role = roles.get('', name)
      if (role?.selectors === undefined || role.deleting) return
      const live = await unlessMissing(client.get(clusterRoles, '', name))
      const rules = await aggregated(role, roles.values(), client)
      if (live?.aggregationRule === undefined || sameRules(rules, live.rules ?? [])) return
      await (applies
        ? client.apply(clusterRoles, { metadata: { name }, rules }, account)
        : client.update(clusterRoles, { ...live, rules }))
    })
    // Any role may be picked by any other: all that aggregate are looked at again, once per burst
    // of changes.
    const aggregating = new Set<string>()
    const lookAgain = () => {
      for (const name of aggregating) queue.addAfter(name, 20)
    }
    roles.listen({
      changed({ name, selectors }) {
        if (selectors === undefined) aggregating.delete(name)
        else aggregating.add(name)
        lookAgain()
      },
      deleted({ name }) {
        aggregating.delete(name)
        lookAgain()
      },
    })
  },
}

const sameRules = (a: readonly Loose[], b: readonly Loose[]) =>
  JSON.stringify(a) === JSON.stringify(b)

/**
 * By selector, then by name, as in kube-apiserver. The rules are read from the server, because
 * copies of all roles in memory would be the largest part of an idle server's informers.
 */
async function aggregated(
  role: KeptRole,
  all: Iterable<KeptRole>,
  client: ApiClient,
): Promise<Loose[]> {
  const sorted = [...all].sort((a, b) => (a.name < b.name ? -1 : 1))
  const seen = new Set<string>()
  const rules: Loose[] = []
  for (const written of role.selectors ?? []) {
    const selector = selectorOf(written)
    for (const other of sorted) {
      if (other.name === role.name || !matchesLabels(selector, other.labels)) continue
      const live = await unlessMissing(client.get(clusterRoles, '', other.name))
      for (const rule of live?.rules ?? []) {
        const text = JSON.stringify(rule)
        if (seen.has(text)) continue
        seen.add(text)
        rules.push(rule)
      }
    }
  }
  return rules
}
