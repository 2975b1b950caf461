/** What the commands of functions are for; the form of the lines is told in command-docs.ts. */
export const SCRIPTING_DOCS = `
function
  7.0.0 varies Asks about functions, of which there are none
function|flush [mode=ASYNC|SYNC]
  7.0.0 O(1) Removes all functions, of which there are none
function|help
  7.0.0 O(1) Names the subcommands of FUNCTION
function|list [LIBRARYNAME library-name-pattern] [WITHCODE]
  7.0.0 O(1) Lists the libraries of functions, of which there are none
`
