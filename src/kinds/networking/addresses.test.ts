import { checkCreate, checkUpdate, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { ipAddressBehaviour } from './ip-address/behaviour.ts'
import { serviceCidrBehaviour } from './service-cidr/behaviour.ts'

const address = (parentRef: object) => named({ spec: { parentRef } }, { name: '10.0.0.1' })
checkCreate(ipAddressBehaviour, [
  ['an address of a service', address({ resource: 'services', name: 'a', namespace: 'n' }), []],
  ['an address without a parent', named({ spec: {} }), ['spec.parentRef: Required value']],
  [
    'parts of a reference',
    address({ group: 'A', name: 'a/b', namespace: '..' }),
    [
      "spec.parentRef.group: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      'spec.parentRef.resource: Required value',
      'spec.parentRef.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.parentRef.namespace: Invalid value: "..": may not be \'..\'',
    ],
  ],
])

const cidrs = (...list: string[]) => named({ spec: { cidrs: list } })
checkCreate(serviceCidrBehaviour, [
  ['a block of each family', cidrs('10.0.0.0/24', 'fd00::/64'), []],
  ['no block', cidrs(), ['spec.cidrs: Required value: at least one CIDR required']],
  [
    'forms that are not canonical',
    cidrs('010.0.0.0/24', 'FD00::/64'),
    [
      'spec.cidrs[0]: Invalid value: "010.0.0.0/24": must not have leading 0s in IP or prefix length',
      'spec.cidrs[1]: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")',
    ],
  ],
  [
    'bits beyond the prefix, and a mapped address',
    cidrs('10.0.0.1/24', '::ffff:10.0.0.0/120'),
    [
      'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      'spec.cidrs[1]: Invalid value: "::ffff:10.0.0.0/120": must not have an IPv4-mapped IPv6 address',
    ],
  ],
])
checkUpdate(serviceCidrBehaviour, [
  ['a second block is added', cidrs('10.0.0.0/24'), cidrs('10.0.0.0/24', 'fd00::/64'), []],
  [
    'a block changes',
    cidrs('10.0.0.0/24'),
    cidrs('10.0.1.0/24'),
    ['spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable'],
  ],
])
