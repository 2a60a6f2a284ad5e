/** Random Accept headers: media types, shapes and weights. */
import { own, type RequestMaker } from './scene.ts'
import type { Random } from './random.ts'

const medias = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'text/html',
  'text/plain',
  'application/xml',
  '*/*',
  'application/*',
  'text/*',
  'application/*+json',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;g=meta.k8s.io;v=v1beta1',
  'application/json;as=Table;g=meta.k8s.io;v=v2',
  'application/json;as=Table',
  'application/json;as=Table;g=x;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
  'application/json;as=Bogus;g=meta.k8s.io;v=v1',
  'application/json;as=',
  'application/json;pretty=1',
  'application/json;pretty=0',
  'application/json;stream=watch',
  'application/json;charset=utf-8',
  'application/json;foo=bar',
  'APPLICATION/JSON',
  'application/json;AS=Table;G=meta.k8s.io;V=v1',
  '',
  ';',
  'application',
  'application/json;q=0',
  'application/json;q=2',
  'application/json;q=x',
  'application/yaml;as=Table;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
  'application/json; q=0.5',
  '*/*;q=0.1',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/json;stream=bogus',
  '*',
  'application/json;as=Table;g=meta.k8s.io;v=v1;q=0.3',
]

export function acceptList(random: Random): string {
  const one = () => random.pick(medias)
  const weighted = () => `${one()}${random.chance(0.3) ? `;q=0.${random.below(10)}` : ''}`
  const length = random.pick([1, 1, 1, 2, 2, 3])
  return Array.from({ length }, weighted).join(random.pick([',', ', ', ' ,']))
}

export const accepts: RequestMaker = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const run = own(scene)
  const path = random.pick([
    `${scene.collection}?${run}`,
    `${scene.collection}/${name}`,
    `${scene.collection}?${run}includeObject=${random.pick(['None', 'Object', 'Metadata', 'Bogus', ''])}`,
    `${scene.collection}/${name}?includeObject=${random.pick(['None', 'Object', 'Bogus'])}`,
    `${scene.collection}?${run}limit=1`,
    `${scene.collection}?${run}watch=1&timeoutSeconds=1&resourceVersion=0`,
    `${scene.collection}/${name}?pretty=true`,
    '/api',
    '/apis',
    '/version',
    scene.at,
    '/api/v1',
    '/apis/apps',
    '/healthz',
    '/nothing',
    '/apis/nope.example/v1',
    `${scene.at}/nothing`,
  ])
  return [
    {
      method: random.pick(['GET', 'GET', 'GET', 'HEAD']),
      path,
      headers: { accept: acceptList(random) },
    },
  ]
}
