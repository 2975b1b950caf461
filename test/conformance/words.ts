/** Words of a line, quoted as in redis-cli; $1000x stands for 1000 times x. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' }

export function splitWords(line: string): string[] {
  const words: string[] = []
  const pattern = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g
  for (const [whole, ...groups] of line.matchAll(pattern)) {
    const [double, single] = groups as (string | undefined)[]
    if (double !== undefined) words.push(unescape(double))
    else words.push(single ?? repeat(whole))
  }
  return words
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|(.))/g,
    (_, hex: string | undefined, letter: string) =>
      hex === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(parseInt(hex, 16))
  )
}

function repeat(word: string): string {
  const times = /^\$(\d+)(.)$/.exec(word)
  return times === null ? word : times[2].repeat(Number(times[1]))
}
