/** Defaults of FlowSchema. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const flowSchemaSpec: Defaulter = (value) => {
  value.matchingPrecedence ||= 1000
}

export const flowSchemaDefaults: Defaulters = {
  'io.k8s.api.flowcontrol.v1alpha1.FlowSchemaSpec': flowSchemaSpec,
  'io.k8s.api.flowcontrol.v1beta1.FlowSchemaSpec': flowSchemaSpec,
}
