import { expect, test } from 'vitest'
import { choice, flag, integer, optionalInteger, parseOptions } from './options.js'

const OPTIONS = {
  size: integer('a size', 3, { min: 1, max: 9 }),
  seed: optionalInteger('a seed', { min: 0, max: 99 }),
  colour: choice('a colour', 'red', ['red', 'blue']),
  loud: flag('noise')
}

test('what is not given has its default', () => {
  const { values, problems } = parseOptions(OPTIONS, [])
  expect(values).toEqual({ size: 3, seed: undefined, colour: 'red', loud: undefined })
  expect(problems).toEqual([])
})

test('values stand behind the name or the sign, and flags can be taken back', () => {
  const { values } = parseOptions(OPTIONS, ['--size', '4', '--colour=blue', '--loud', '--no-loud'])
  expect(values).toEqual({ size: 4, seed: undefined, colour: 'blue', loud: false })
})

test('all problems are reported, in the order in which they were typed', () => {
  const argv = ['--size', '10', '--no-size', '--colour', 'green', '--loud=1', 'x', '--seed']
  const { problems } = parseOptions(OPTIONS, argv)
  expect(problems.map(({ code, message }) => [code, message])).toEqual([
    ['OC_BAD_OPTION', '--size 10: must be a whole number from 1 to 9'],
    ['OC_UNKNOWN_OPTION', '--no-size: no such option'],
    ['OC_BAD_OPTION', '--colour green: must be red or blue'],
    ['OC_BAD_OPTION', '--loud: takes no value'],
    ['OC_UNEXPECTED_ARGUMENT', 'x: unexpected'],
    ['OC_BAD_OPTION', '--seed: needs a value']
  ])
})

test.each(['', ' 4', '4.0', '0x4', '4e0', 'four', '-4'])('%j is not a size', (text) => {
  expect(parseOptions(OPTIONS, [`--size=${text}`]).problems).toHaveLength(1)
})

test('a required option that is malformed is not also called missing', () => {
  const options = { size: { ...OPTIONS.size, required: '--size 4' } }
  expect(parseOptions(options, []).problems[0].code).toBe('OC_MISSING_OPTION')
  expect(parseOptions(options, ['--size', 'x']).problems.map(({ code }) => code)).toEqual([
    'OC_BAD_OPTION'
  ])
})

test('names from the prototype are no options', () => {
  expect(parseOptions(OPTIONS, ['--toString']).problems[0].code).toBe('OC_UNKNOWN_OPTION')
})

test('help is asked for in two ways', () => {
  expect(parseOptions(OPTIONS, ['--help']).help).toBe(true)
  expect(parseOptions(OPTIONS, ['-h']).help).toBe(true)
})
