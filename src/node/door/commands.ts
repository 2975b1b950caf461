/** All commands that are not about one key, by their names. */
import { assert } from '../../core/assert.js'
import { CONNECTION_COMMANDS } from './connection.js'
import { BLOCKING_COMMANDS } from './blocking-command.js'
import { BUCKET_COMMANDS } from './bucket-commands.js'
import { CLIENT } from './client-command.js'
import { CLUSTER_COMMANDS } from './cluster-command.js'
import { COMMAND } from './command-command.js'
import { CONFIG, DEBUG } from './config-command.js'
import { FUNCTION } from './function-command.js'
import { INFO } from './info.js'
import { MEMORY, OBJECT } from './object-command.js'
import { LATENCY, MONITOR, SLOWLOG } from './observer-commands.js'
import { PERSISTENCE_COMMANDS } from './persistence-command.js'
import { KEYSPACE_COMMANDS } from './keyspace.js'
import { PUBSUB_COMMANDS } from './pubsub-command.js'
import { SEVERAL_KEYS_COMMANDS } from './several-keys.js'
import { SORT_COMMANDS } from './sort-command.js'
import { OC_TABLE } from './table-command.js'
import { TRANSACTION_COMMANDS } from './transaction.js'
import { OC_UNWATCH, OC_WATCH } from './watch-command.js'
import { OC_WITNESS } from './witness-command.js'
import type { DoorCommand } from './door.js'

export const DOOR_COMMANDS: readonly DoorCommand[] = [
  ...CONNECTION_COMMANDS,
  ...SEVERAL_KEYS_COMMANDS,
  ...SORT_COMMANDS,
  ...KEYSPACE_COMMANDS,
  ...PERSISTENCE_COMMANDS,
  ...BUCKET_COMMANDS,
  ...TRANSACTION_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...PUBSUB_COMMANDS,
  ...BLOCKING_COMMANDS,
  CLIENT,
  COMMAND,
  CONFIG,
  DEBUG,
  FUNCTION,
  INFO,
  LATENCY,
  MEMORY,
  MONITOR,
  OBJECT,
  SLOWLOG,
  OC_TABLE,
  OC_WATCH,
  OC_UNWATCH,
  OC_WITNESS
]

const BY_NAME = new Map<string, DoorCommand>()
for (const command of DOOR_COMMANDS) {
  assert(!BY_NAME.has(command.name), `two commands are called ${command.name}`)
  BY_NAME.set(command.name, command)
}

/** The name is in small letters. */
export function findDoorCommand(name: string): DoorCommand | undefined {
  return BY_NAME.get(name)
}
