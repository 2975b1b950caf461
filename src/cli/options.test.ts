import { expect, test } from 'vitest'
import { choice, flag, integer, list, optionalInteger, parseOptions, positive } from './options.js'

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

test('what was typed is told apart from what has its default', () => {
  const { given } = parseOptions(OPTIONS, ['--size', '3', '--no-loud', '--colour', 'green'])
  expect([...given]).toEqual(['size', 'loud', 'colour'])
})

test('a list has its items between commas, and names each that is wrong', () => {
  const sizes = list({
    help: 'sizes',
    placeholder: '1,2',
    wanted: 'each must be a digit',
    lengthMax: 3,
    read: (text) => (/^\d$/.test(text) ? Number(text) : undefined)
  })
  const parse = (text: string) => parseOptions({ sizes }, ['--sizes', text])
  expect(parseOptions({ sizes }, []).values.sizes).toBeUndefined()
  expect(parse('1,2,1').values.sizes).toEqual([1, 2, 1])
  const problemOf = (text: string) => parse(text).problems.map(({ message }) => message)
  expect(problemOf('1,x,y')).toEqual(['--sizes 1,x,y: each must be a digit, not x or y'])
  expect(problemOf(',')).toEqual(['--sizes ,: each must be a digit, not nothing'])
  expect(problemOf('1,2,3,4')).toEqual(['--sizes 1,2,3,4: there can be 3 at the most'])
})

test.each(['0', '0.0', '-1', '1e1', '.5', '5.', '11', 'x', 'Infinity', 'NaN'])(
  '%j is not a positive number up to 10',
  (text) => {
    const options = { minutes: positive('minutes', 1, 10) }
    expect(parseOptions(options, ['--minutes', '0.25']).values.minutes).toBe(0.25)
    expect(parseOptions(options, [`--minutes=${text}`]).problems).toHaveLength(1)
  }
)

test('a word that will be there is not just called wrong', () => {
  const options = { shape: choice('a shape', 'round', ['round'], ['square']) }
  const problemOf = (text: string) => parseOptions(options, ['--shape', text]).problems[0].message
  expect(problemOf('square')).toBe('--shape square: not there yet; use round')
  expect(problemOf('long')).toBe('--shape long: must be round')
})
