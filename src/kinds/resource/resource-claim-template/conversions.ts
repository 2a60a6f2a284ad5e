/** Conversions of ResourceClaimTemplate: those of the claim in it. */
import type { Conversions } from '#kinds/all-kinds/conversion.ts'
import { requestConversions } from '#kinds/resource/request-conversion.ts'

export const resourceClaimTemplateConversions: Conversions = requestConversions(
  ({ spec }) => spec?.spec?.devices,
)
