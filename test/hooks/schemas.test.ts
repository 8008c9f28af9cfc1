import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import { PAYLOAD_SCHEMAS, SCHEMA_FOLDER, schemaFile, schemaOf } from '../../scripts/hook-schemas.ts'
import { HOOK_MOMENTS } from '../../src/domain/hooks/hook-settings.ts'
import { type HookPayloads, hookContext } from '../../src/entry/hooks.ts'
import { SAMPLES } from './samples.ts'

describe('the schemas of payloads', () => {
  it.each(HOOK_MOMENTS)('stand in the documents as the code has them: %s', (moment) => {
    // Otherwise run npm run docs and npm run format.
    expect(JSON.parse(readFileSync(schemaFile(moment), 'utf8'))).toEqual(JSON.parse(JSON.stringify(schemaOf(moment))))
  })

  it('are there for every moment and nothing else', () => {
    expect(readdirSync(SCHEMA_FOLDER).toSorted()).toEqual(HOOK_MOMENTS.map((moment) => `${moment}.json`).toSorted())
  })

  it.each(HOOK_MOMENTS)('take what hooks are told, and nothing more or less: %s', (moment) => {
    const schema = PAYLOAD_SCHEMAS[moment]
    expect(schema.parse(SAMPLES[moment])).toStrictEqual(SAMPLES[moment])
    expect(schema.safeParse({ ...SAMPLES[moment], more: 1 }).success).toBe(false)
    for (const key of Object.keys(SAMPLES[moment])) {
      expect(schema.safeParse({ ...SAMPLES[moment], [key]: undefined }).success).toBe(false)
    }
  })

  it('are of the very types the library has', () => {
    type Written = { [Moment in keyof typeof PAYLOAD_SCHEMAS]: z.output<(typeof PAYLOAD_SCHEMAS)[Moment]> }
    expectTypeOf<HookPayloads>().toExtend<Written>()
    expectTypeOf<Written>().toExtend<HookPayloads>()
  })
})

describe('the window as hooks are told of it', () => {
  it.each([
    [184_000, 200_000, 0.92, 0.08],
    [0, 200_000, 0, 1],
    [250_000, 200_000, 1.25, 0],
    [1, 3, 0.3333, 0.6667],
    [200_000, 200_000, 1, 0],
  ])('%i of %i is %d used and %d remaining, as fractions', (inputTokens, contextWindow, usage, remaining) => {
    expect(hookContext({ inputTokens, contextWindow })).toStrictEqual({
      input_tokens: inputTokens,
      context_window: contextWindow,
      usage_percent: usage,
      remaining_percent: remaining,
      model_name: null,
    })
  })
})
