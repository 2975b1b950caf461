/** What the commands that count roughly are for; the form of the lines is told in command-docs.ts. */
export const HYPERLOGLOG_DOCS = `
pfadd key [element...]
  2.8.9 O(elements) Counts elements in: each different one once, roughly
pfcount key...
  2.8.9 O(keys) Estimates how many different elements were counted under these keys
pfmerge destination [source...]
  2.8.9 O(keys) Makes one count of several, in which no element is counted twice
`
