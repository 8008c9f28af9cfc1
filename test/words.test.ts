import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Phrases that readers had to read twice, and the words to use instead. */
const RIDDLES: readonly (readonly [RegExp, string])[] = [
  [/\bg(?:o|oes|one|oing) on with\b/i, 'resume, or continue'],
  [/\bcall(?:ed|s|ing)? (?:it |them |the run |a handoff )?off\b/i, 'cancel'],
  [/\bwas left behind\b/i, 'orphaned'],
  [/\bwhoever\b/i, 'the person, process or session that is meant'],
  [/\b(?:is|are|was|were) none of\b/i, 'does not belong to'],
  [/\bcom(?:e|es|ing) to (?:rest|(?:its|an|their) end)\b/i, 'is idle, or ends'],
  [/\bgoes on\b/i, 'continues, resumes or keeps running'],
]

/** Verbs that name no thing: a value is called by what it is, such as `payload`, `stored` or `request`. */
const NO_NAMES = 'told|said|kept|asked|known'

/** Code without its comments and texts, line by line as it was. */
const codeOf = (text: string): string =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(^|[\s;{(])\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")

const DECLARED = new RegExp(`\\b(?:const|let)\\s+(?:${NO_NAMES})\\b`)
const TAKEN = new RegExp(`[({,[]\\s*(?:\\.\\.\\.)?(?:${NO_NAMES})\\s*[,)}\\]=]`)
const PARAMETER = new RegExp(`\\((?:${NO_NAMES})\\??:|\\b(?:${NO_NAMES})\\s*=>`)

/** The lines in which a value is named by a verb that names no thing. */
const verbsAsNames = (path: string, text: string): readonly string[] =>
  codeOf(text)
    .split('\n')
    .flatMap((line, index) =>
      [DECLARED, TAKEN, PARAMETER].some((form) => form.test(line)) ? [`${path}:${index + 1} ${line.trim()}`] : [],
    )

const filesIn = (folder: string, ending: RegExp): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path))

const riddlesIn = (path: string, text: string): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      RIDDLES.filter(([phrase]) => phrase.test(line)).map(
        ([phrase, better]) => `${path}:${index + 1} ${phrase.source}: say ${better}`,
      ),
    )

const opensWithWhat = (path: string, text: string): readonly string[] =>
  text.split('\n').flatMap((line, index) => (/^\s*(?:\/\*\*|\*) What\b/.test(line) ? [`${path}:${index + 1}`] : []))

/** A name of a class in a sentence and not in code: mostly the trace of a rename that also changed words. */
const strayNames = (path: string, text: string, names: readonly string[]): readonly string[] => {
  const sentences = text.replaceAll(/```[\s\S]*?```|`[^`]*`|\]\([^)]*\)/g, ' ')
  return names.filter((name) => new RegExp(`\\b${name}\\b`).test(sentences)).map((name) => `${path}: ${name}`)
}

describe('plain words', () => {
  const sources = filesIn('src', /\.ts$/)
  const prose = [...filesIn('docs', /\.md$/), ...filesIn('features', /\.feature$/), 'README.md', 'CHANGELOG.md']
  /** Decisions and the changelog tell of their day in the words of their day. */
  const today = [...prose, ...filesIn('features', /\.ts$/)].filter(
    (path) => !path.startsWith('docs/adr/') && path !== 'CHANGELOG.md',
  )

  it('open no doc comment with "What": it names its subject', () => {
    expect(sources.length).toBeGreaterThan(400)
    expect(sources.flatMap((path) => opensWithWhat(path, readFileSync(path, 'utf8')))).toEqual([])
    expect(opensWithWhat('a.ts', '/** What it takes. */\n  * What is left.\n/** Whatever. */')).toEqual([
      'a.ts:1',
      'a.ts:2',
    ])
  })

  it('are no names of classes, unless they stand in code', () => {
    const classes = sources.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^export class ([A-Z][a-z]+[A-Z]\w*)/gm)].map(([, name = '']) => name),
    )
    expect(classes.length).toBeGreaterThan(20)
    expect(prose.flatMap((path) => strayNames(path, readFileSync(path, 'utf8'), classes))).toEqual([])
    expect(strayNames('a.md', 'TurnRecorder it ends. `TurnRecorder` ends.', ['TurnRecorder'])).toHaveLength(1)
    expect(strayNames('a.md', 'It ends with `TurnRecorder`.', ['TurnRecorder'])).toEqual([])
  })

  it('are the ones people search for', () => {
    expect([...sources, ...today].flatMap((path) => riddlesIn(path, readFileSync(path, 'utf8')))).toEqual([])
    const riddles = ['It is gone on with.', 'It was called off.', 'Whoever has it, goes on.', 'It is none of ours.']
    expect(riddlesIn('a.md', riddles.join('\n'))).toHaveLength(5)
    expect(riddlesIn('a.md', 'It comes to rest.\nAll come to their end.\nThe work continues.')).toHaveLength(2)
  })

  it('name values by what they are', () => {
    expect(sources.flatMap((path) => verbsAsNames(path, readFileSync(path, 'utf8')))).toEqual([])
    const bad = [
      'const kept = 1',
      'use(told)',
      'take({ asked })',
      'all.map((said) => 1)',
      'all.map(known => 1)',
      'f(kept: A)',
    ]
    expect(verbsAsNames('a.ts', bad.join('\n'))).toHaveLength(bad.length)
    const fine = [
      "case 'known': // kept",
      'state.known',
      '{ state: unknown }',
      '/** told\n * kept\n */',
      "pick('said')",
    ]
    expect(verbsAsNames('a.ts', fine.join('\n'))).toEqual([])
  })
})
