/** The rules of Service. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { serviceBehaviour } from './behaviour.ts'
import { serviceColumns } from './columns.ts'
import { serviceDefaults } from './defaults.ts'
import { olderServiceBehaviour } from './older-behaviour.ts'

/** Since then, services are checked like all other objects, after the allocation. */
const allocatesFirst = change('services get addresses and node ports before they are checked', {
  since: 23,
})

export const service: KindRules = {
  behaviour: serviceBehaviour,
  olderBehaviour: { before: allocatesFirst, behaviour: olderServiceBehaviour },
  columns: serviceColumns,
  defaults: serviceDefaults,
}
