import { checkCreate, checkUpdate, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { runtimeClassBehaviour } from './behaviour.ts'

const toleration = { key: 'k', operator: 'Exists' }
checkCreate(runtimeClassBehaviour, [
  ['a handler', named({ handler: 'h', overhead: { podFixed: { cpu: '1m' } } }), []],
  [
    'costs of resources there are',
    named({ handler: 'h', overhead: { podFixed: { odd: '1' } } }),
    [
      'overhead.limits[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
      'overhead.limits[odd]: Invalid value: "odd": must be a standard resource for containers',
    ],
  ],
  [
    'no toleration twice',
    named({ handler: 'h', scheduling: { tolerations: [toleration, toleration] } }),
    [
      'scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"k", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
    ],
  ],
])
checkUpdate(runtimeClassBehaviour, [
  [
    'the handler stays',
    named({ handler: 'a' }),
    named({ handler: 'b' }),
    ['handler: Invalid value: "b": field is immutable'],
  ],
])
