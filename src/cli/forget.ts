/** `opencluster forget`: strikes a node that died and will not come back, so that nobody waits for it. */
import { EXIT } from './command.js'
import { flag } from './options.js'
import { definePositionalVerb } from './positional.js'
import { nodeOption, withConnection } from './resp-connection.js'

export const forget = definePositionalVerb({
  name: 'forget',
  summary: 'strike a node that will not come back',
  description: [
    'The node is no member any more and does not count as a voter. It must be dead: a node that can be heard is not',
    'forgotten, let it leave instead. One that is forgotten by mistake says so when it is heard again.',
    '',
    'When more than half of the voters have ended at once, the others decide nothing: each of those that ended must be',
    'forgotten with --force. Do that only if their processes have ended: two sides that go on alone write apart.'
  ].join('\n'),
  example: [
    'opencluster forget web-3 --node 127.0.0.1:13600',
    'opencluster forget web-3 --force'
  ].join('\n  '),
  words: ['NAME'],
  options: {
    node: nodeOption(),
    force: flag('its process has ended for good, and too few voters are left to decide without it')
  },
  run: async ([name], { node, force }, output) => {
    const words = force ? ['OC.FORGET', name, 'FORCE'] : ['OC.FORGET', name]
    await withConnection(node, (connection) => connection.call(...words))
    output.stdout.write(`${name} is forgotten\n`)
    return EXIT.success
  }
})
