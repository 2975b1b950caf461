/**
 * SAVE and its kin. Nothing is ever saved as a whole here: a node that keeps its data on disk does so all the time, so
 * there is nothing to be asked for. How a node ends is its operator's business.
 */
import type { DoorCommand } from './door.js'

const NOTHING_TO_SAVE = 'ERR nothing is saved as a whole here; copies are kept on other nodes'

function refusing(name: string, arity: number, why: string): DoorCommand {
  return { name, arity, execute: (door, slot) => door.refuse(slot, why) }
}

export const PERSISTENCE_COMMANDS: readonly DoorCommand[] = [
  refusing('save', 1, NOTHING_TO_SAVE),
  refusing('bgsave', -1, NOTHING_TO_SAVE),
  refusing('bgrewriteaof', 1, NOTHING_TO_SAVE),
  refusing('shutdown', -1, 'ERR a node is ended by `opencluster leave` or by its signals')
]
