/** What the commands of bits are for; the form of the lines is told in command-docs.ts. */
export const BITMAP_DOCS = `
bitcount key [index=start end [unit=BYTE|BIT]]
  2.6.0 O(length) Counts the ones among the bits of a string or a part of it
bitfield key [operation=GET encoding offset|[OVERFLOW (WRAP|SAT|FAIL)] (SET encoding offset value:integer|INCRBY encoding offset increment)]...
  3.2.0 O(operations) Reads and changes whole numbers of any width inside a string
bitfield_ro key [GET encoding offset]...
  6.0.0 O(operations) Reads whole numbers of any width inside a string
bitop operation destination key...
  2.6.0 O(length) Stores the AND, OR, XOR or NOT of strings, bit by bit
bitpos key bit [index=start [end [unit=BYTE|BIT]]]
  2.8.7 O(length) Finds the first bit that is one, or zero
getbit key offset
  2.2.0 O(1) Reads one bit of a string
setbit key offset value:integer
  2.2.0 O(1) Writes one bit of a string and answers what it was
`
