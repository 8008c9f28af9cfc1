import { describe, expect, it } from 'vitest'
import { readOptions } from './options.ts'

const PHASES = ['calm', 'kill', 'fuzz']
const read = (...args: readonly string[]) => readOptions(args, PHASES)

describe('options of a chaos run', () => {
  it('ask for a whole run of every phase unless told otherwise', () => {
    expect(read()).toMatchObject({ minutes: 20, only: PHASES, workers: 20, tamperings: 1_000, wrongRequests: 20_000 })
  })

  it('take a seed, so that a run can be repeated', () => {
    expect(read('--seed', '42')?.seed).toBe(42)
    expect(read()?.seed).not.toBe(read()?.seed)
  })

  it('try less in less time', () => {
    expect(read('--minutes', '2', '--only', 'kill,fuzz')).toMatchObject({
      minutes: 2,
      only: ['kill', 'fuzz'],
      tamperings: 100,
      wrongRequests: 2_000,
    })
  })

  it('say what cannot be used', () => {
    expect(() => read('--only', 'kil')).toThrow('--only knows no phase "kil"; there are calm, kill, fuzz')
    expect(() => read('--minutes', 'soon')).toThrow('--minutes must be a number above 0, got "soon"')
    expect(() => read('--plant', 'tree')).toThrow('--plant knows no fault "tree"')
    expect(() => read('--minuets', '2')).toThrow('--minuets')
  })

  it('ask for help', () => {
    expect(read('--help')).toBeUndefined()
  })
})
