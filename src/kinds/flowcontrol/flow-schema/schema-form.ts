/** The spec of a flow schema, member by member, as kube-apiserver holds it inside. */
import { form } from '#kinds/all-kinds/internal-form.ts'

const named = form({ Name: 'text' })

export const flowSchemaSpecForm = form({
  PriorityLevelConfiguration: { inline: named },
  MatchingPrecedence: 'number',
  DistinguisherMethod: form({ Type: 'text' }),
  Rules: {
    list: form({
      Subjects: {
        list: form({
          Kind: 'text',
          User: named,
          Group: named,
          ServiceAccount: form({ Namespace: 'text', Name: 'text' }),
        }),
      },
      ResourceRules: {
        list: form({
          Verbs: 'any',
          APIGroups: 'any',
          Resources: 'any',
          ClusterScope: 'flag',
          Namespaces: 'any',
        }),
      },
      NonResourceRules: { list: form({ Verbs: 'any', NonResourceURLs: 'any' }) },
    }),
  },
})
