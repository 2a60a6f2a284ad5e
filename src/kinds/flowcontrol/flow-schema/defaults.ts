/** Defaults of FlowSchema. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const flowSchemaSpec: Defaulter = (value) => {
  value.matchingPrecedence ||= 1000
}

const versions = ['v1', 'v1beta3', 'v1beta2', 'v1beta1', 'v1alpha1']

export const flowSchemaDefaults: Defaulters = Object.fromEntries(
  versions.map((version) => [`io.k8s.api.flowcontrol.${version}.FlowSchemaSpec`, flowSchemaSpec]),
)
