/** The AlwaysAdmit and AlwaysDeny plugins. */
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' }

function deny(request: AdmissionRequest): never {
  throw refusal(request, 'admission control is denying all modifications')
}

export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', mutate: deny, validate: deny }
