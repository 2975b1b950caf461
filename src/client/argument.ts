/** What a command is made of. Texts go as UTF-8, numbers as their digits, bytes as they are. */
export type Argument = string | number | bigint | Uint8Array
