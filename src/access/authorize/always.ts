/**
 * The modes AlwaysAllow and AlwaysDeny, and the rule that precedes all modes: members of
 * system:masters may do anything.
 */
import {
  type Attributes,
  type Authorizer,
  allowed,
  type Decision,
  noOpinion,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import { isPrivileged } from '#access/user.ts'

const everything: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
  errors: [],
}
const nothing: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
const forbidden: Decision = { decision: 'none', reason: 'Everything is forbidden.' }

export const alwaysAllow: Authorizer & RuleResolver = {
  name: 'AlwaysAllow',
  authorize: () => allowed,
  rulesFor: () => everything,
}

export const alwaysDeny: Authorizer & RuleResolver = {
  name: 'AlwaysDeny',
  authorize: () => forbidden,
  rulesFor: () => nothing,
}

export const privileged: Authorizer = {
  name: 'system:masters',
  authorize: ({ user }: Attributes) => (isPrivileged(user) ? allowed : noOpinion),
}
