/** FUNCTION: there are no functions yet, and that much can be said. */
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import { container } from './container.js'

export const FUNCTION = container('function', {
  flush: {
    arity: -2,
    execute(door, slot, args) {
      const fits = args.count === 2 || (args.count === 3 && /^a?sync$/.test(args.word(2)))
      if (fits) door.reply(slot, (reply) => reply.ok())
      else door.refuse(slot, SYNTAX_ERROR)
    }
  },
  list: { arity: -2, execute: (door, slot) => door.reply(slot, (reply) => reply.array(0)) }
})
