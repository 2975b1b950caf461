import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSyntax, type SyntaxArgument } from './syntax.js'

function argument(
  name: string,
  type: SyntaxArgument['type'],
  more: Partial<SyntaxArgument> = {}
): SyntaxArgument {
  return { name, type, flags: [], parts: [], ...more }
}

function token(word: string, more: Partial<SyntaxArgument> = {}): SyntaxArgument {
  return argument(word.toLowerCase(), 'pure-token', { token: word, ...more })
}

const optional = ['optional'] as const

describe('the syntax of arguments', () => {
  it('knows types by names, and where they are said', () => {
    expect(parseSyntax('key value count pattern unix-time-seconds min:double')).toEqual([
      argument('key', 'key'),
      argument('value', 'string'),
      argument('count', 'integer'),
      argument('pattern', 'pattern'),
      argument('unix-time-seconds', 'unix-time'),
      argument('min', 'double')
    ])
    expect(parseSyntax('')).toEqual([])
  })

  it('has several of one, and of several', () => {
    expect(parseSyntax('key... [member...] (field value)...')).toEqual([
      argument('key', 'key', { flags: ['multiple'] }),
      argument('member', 'string', { flags: ['optional', 'multiple'] }),
      argument('field_value', 'block', {
        flags: ['multiple'],
        parts: [argument('field', 'string'), argument('value', 'string')]
      })
    ])
  })

  it('puts a token before what follows it', () => {
    expect(parseSyntax('[GET] [MATCH pattern] [LIMIT offset count] [TYPE (A|B)]')).toEqual([
      token('GET', { flags: optional }),
      argument('pattern', 'pattern', { token: 'MATCH', flags: optional }),
      argument('offset_count', 'block', {
        token: 'LIMIT',
        flags: optional,
        parts: [argument('offset', 'integer'), argument('count', 'integer')]
      }),
      argument('a_b', 'oneof', { token: 'TYPE', flags: optional, parts: [token('A'), token('B')] })
    ])
  })

  it('keeps what is optional behind a token apart from it', () => {
    expect(parseSyntax('[COUNT [count]] [COUNT count [ANY]]')).toEqual([
      argument('count', 'block', {
        token: 'COUNT',
        flags: optional,
        parts: [argument('count', 'integer', { flags: optional })]
      }),
      argument('count_any', 'block', {
        token: 'COUNT',
        flags: optional,
        parts: [argument('count', 'integer'), token('ANY', { flags: optional })]
      })
    ])
  })

  it('tells a token that is repeated from one that is there once', () => {
    const [repeated, once] = parseSyntax('[GET pattern]... [ID id...]')
    expect(repeated.flags).toEqual(['optional', 'multiple', 'multiple_token'])
    expect(once.flags).toEqual(['optional', 'multiple'])
    expect([repeated.token, once.token]).toEqual(['GET', 'ID'])
  })

  it('chooses, by a name if there is one', () => {
    expect(parseSyntax('(where=LEFT|RIGHT) [EX seconds|KEEPTTL|low high]')).toEqual([
      argument('where', 'oneof', { parts: [token('LEFT'), token('RIGHT')] }),
      argument('seconds_keepttl_low_high', 'oneof', {
        flags: optional,
        parts: [
          argument('seconds', 'integer', { token: 'EX' }),
          token('KEEPTTL'),
          argument('low_high', 'block', {
            parts: [argument('low', 'string'), argument('high', 'string')]
          })
        ]
      })
    ])
  })

  it.each(['[key', 'key]', '(a|)', '[]', '...', 'a.b', 'name= a', '[a=b=c]', '|', 'a | b'])(
    'refuses %s',
    (syntax) => {
      expect(() => parseSyntax(syntax)).toThrow()
    }
  )

  it('reads back what it read', () => {
    const atom = fc.constantFrom('key', 'value', 'count', 'NX', 'XX')
    const { item } = fc.letrec<{ item: string }>((tie) => ({
      item: fc.oneof(
        { depthSize: 'small' },
        atom,
        atom.map((word) => (/[a-z]/.test(word) ? `${word}...` : word)),
        fc.array(tie('item'), { minLength: 2, maxLength: 3 }).map((all) => `(${all.join('|')})`),
        fc.array(tie('item'), { minLength: 1, maxLength: 3 }).map((all) => `[${all.join('|')}]`)
      )
    }))
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), (items) => {
        const parsed = parseSyntax(items.join(' '))
        expect(parsed).toHaveLength(items.length)
        expect(parseSyntax(items.join('\t ').replaceAll('|', ' | '))).toEqual(parsed)
        expect(parsed).toEqual(items.flatMap((one) => parseSyntax(one)))
      })
    )
  })
})
