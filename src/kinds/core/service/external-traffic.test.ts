import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { checkExternalTraffic } from './external-traffic.ts'

const policyAlone =
  'spec.externalTrafficPolicy: Invalid value: "Local": ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service'
const portAlone =
  'spec.healthCheckNodePort: Invalid value: 5: HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local'
const rows: [type: string, spec: object, errors: string[]][] = [
  ['ClusterIP', {}, []],
  [
    'ClusterIP',
    { externalTrafficPolicy: 'Local', healthCheckNodePort: 5 },
    [policyAlone, portAlone],
  ],
  ['NodePort', { externalTrafficPolicy: 'Local', healthCheckNodePort: 5 }, [portAlone]],
  ['LoadBalancer', { externalTrafficPolicy: 'Local', healthCheckNodePort: 5 }, []],
  [
    'LoadBalancer',
    { externalTrafficPolicy: 'Local', healthCheckNodePort: -5 },
    ['spec.healthCheckNodePort: Invalid value: -5: HealthCheckNodePort must be not less than 0'],
  ],
]
for (const [type, spec, errors] of rows) {
  test(`${type} ${JSON.stringify(spec)}`, () => {
    const service = { metadata: {}, spec: { type, ...spec } } as KubeObject
    const said = checkExternalTraffic(service).map(({ field, message }) => `${field}: ${message}`)
    assert.deepEqual(said, errors)
  })
}
