/** The DefaultIngressClass plugin sets the default class of ingresses without one. */
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isMain } from './match.ts'
import { newestFirst } from './newest-first.ts'
import { refusal } from './refusal.ts'

const group = 'networking.k8s.io'
const classAnnotation = 'kubernetes.io/ingress.class'
const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class'

const newestIngressClass = change('of several default ingress classes the newest counts', {
  since: 25,
})

export const defaultIngressClass = (release: Release): AdmissionPlugin => ({
  name: 'DefaultIngressClass',
  mutate(request, reader) {
    if (request.operation !== 'CREATE' || !isMain(request, group, 'ingresses')) return
    const { spec, metadata } = request.object as KubeObject
    if (spec?.ingressClassName !== undefined) return
    if (metadata.annotations?.[classAnnotation] !== undefined) return
    return giveDefault(request, reader, release)
  },
})

async function giveDefault(
  request: AdmissionRequest,
  reader: ObjectReader,
  release: Release,
): Promise<void> {
  const classes = await reader.list(group, 'ingressclasses')
  const defaults = classes.filter(
    ({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true',
  )
  if (defaults.length === 0) return
  if (defaults.length > 1 && !release.has(newestIngressClass)) {
    throw refusal(
      request,
      `Internal error occurred: ${defaults.length} default IngressClasses were found, only 1 allowed`,
    )
  }
  const ingress = request.object as KubeObject
  ingress.spec ??= {}
  ingress.spec.ingressClassName = newestFirst(defaults)[0]?.metadata.name
}
