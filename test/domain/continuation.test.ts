import { expect, it } from 'vitest'
import { continuationFor } from '../../src/domain/continuation.ts'

it('a continuation is the original task, and the document where there is one, byte for byte', () => {
  expect(continuationFor('Fix it', undefined)).toBe('Fix it')
  expect(continuationFor('Fix it', 'Half done')).toBe('Fix it\n\nHalf done')
  const odd = '{"a": "$&"} {checkpoint} $1 \r\n\t```'
  expect(continuationFor('$& {document}', odd)).toBe(`$& {document}\n\n${odd}`)
})
