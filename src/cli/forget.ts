/** `opencluster forget`: strikes a node that died and will not come back, so that nobody waits for it. */
import { EXIT } from './command.js'
import { definePositionalVerb } from './positional.js'
import { nodeOption, withConnection } from './resp-connection.js'

export const forget = definePositionalVerb({
  name: 'forget',
  summary: 'strike a node that will not come back',
  description: [
    'The node is no member any more and does not count as a voter. It must be dead: a node that can be heard is not',
    'forgotten, let it leave instead. One that is forgotten by mistake says so when it is heard again.'
  ].join('\n'),
  example: 'opencluster forget web-3 --node 127.0.0.1:13600',
  words: ['NAME'],
  options: { node: nodeOption() },
  run: async ([name], { node }, output) => {
    await withConnection(node, (connection) => connection.call('OC.FORGET', name))
    output.stdout.write(`${name} is forgotten\n`)
    return EXIT.success
  }
})
