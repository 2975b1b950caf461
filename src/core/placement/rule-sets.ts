/** The rule sets by name: the one in force, and the documents' two to compare it with. */
import { CurrentRules } from './current.js'
import type { RuleSet } from './rule.js'
import { Rules2012 } from './rules-2012.js'
import { Rules2014 } from './rules-2014.js'

export const RULE_SETS = ['current', '2014', '2012'] as const satisfies readonly RuleSet['name'][]

/** A fresh one each time: the documents' sets remember whom a node has asked and what it sent last. */
export function createRuleSet(name: RuleSet['name']): RuleSet {
  switch (name) {
    case 'current':
      return new CurrentRules()
    case '2014':
      return new Rules2014()
    case '2012':
      return new Rules2012()
  }
}
