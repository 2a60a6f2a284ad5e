/**
 * Conversions of ResourceClaim: v1beta1 and v1alpha3 have flat requests; v1, the hub, nests them.
 */
import type { Conversions } from '#kinds/all-kinds/conversion.ts'
import { requestConversions } from '#kinds/resource/request-conversion.ts'

export const resourceClaimConversions: Conversions = requestConversions(({ spec }) => spec?.devices)
