// Typed lint for everything; the deciding code (core, store, commands, wire, node, sim) may in
// addition not look at a clock, roll dice or wait: whatever it decides must repeat from a seed.
import tseslint from 'typescript-eslint'

const nondeterminism = [
  'Date',
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch'
]

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '**/*.cjs', 'examples', 'api/'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js'] },
        tsconfigRootDir: import.meta.dirname
      }
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true }
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true }
      ],
      'max-lines': ['warn', { max: 450, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use string literals.' },
        { selector: 'ExportDefaultDeclaration', message: 'Use named exports.' }
      ],
      eqeqeq: 'error',
      'prefer-const': 'error'
    }
  },
  {
    files: ['src/{core,store,commands,wire,node}/**/*.ts', 'sim/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...nondeterminism.map((name) => ({
          name,
          message: 'Deciding code gets time and chance as arguments.'
        }))
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Use the seeded Random.' }
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use string literals.' },
        { selector: 'ExportDefaultDeclaration', message: 'Use named exports.' },
        { selector: 'AwaitExpression', message: 'Deciding code never waits.' },
        { selector: ':function[async=true]', message: 'Deciding code is never async.' },
        { selector: "NewExpression[callee.name='Promise']", message: 'Deciding code never waits.' }
      ]
    }
  },
  { files: ['*.config.ts', 'eslint.config.js'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['eslint.config.js', 'scripts/**', 'bin/**'],
    extends: [tseslint.configs.disableTypeChecked]
  },
  {
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off'
    }
  }
)
